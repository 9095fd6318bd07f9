// DataPlane: where the data connections of a process arrive, and where they are
// made. One per TaskManager.
//
//   DataPlane plane(platform, executor, options);
//   plane.start()                                       // listens
//   receiver = plane.open_receiver(key, type, settings, "map[0]");   // either order,
//   sender   = plane.open_sender(address, key, type, settings, "count[1]");  // any process
//
// Both calls return at once with an end that is not connected yet: it behaves like
// one without credit or without bytes, and fails if no connection comes about.
//
// Handshake: the sender connects (bound to settings.interface_or_address), says
// hello, and waits. The data plane checks version, token, type and buffer size,
// looks for the receiver of the key and, when there is none yet, waits for it; then
// it accepts, takes the connection off its own executor and hands it over to the
// receiver's. From then on it has no part in it.
//
// Rings: where both ends let the transport be automatic, or ask for shm, the hello names a bit of
// memory of the sender's process. If this process can open it, the receiver's accept names a ring's
// (ring_transport.hpp), and the sender answers whether it sees that. Where memory is not shared and
// both processes have been given the same device for one-sided writes, or the edge asks for rdma,
// the accept names an end of such memory, to which the sender connects before it answers. Else all
// goes over the connection, or, where shm or rdma was asked for, both ends fail and say why.
// One-sided writes are not encrypted: with `tls` they are taken only where they are asked for.
//
// Fetching: a connection that begins with a request for a shuffle file, with the right token, is
// handed to `on_fetch` at once.
//
// Strangers: garbage, half-open connections, slow or unknown senders are dropped
// after a time or at once, and counted; at most `max_handshakes` are in progress, and
// `max_pending_handshakes` of them have not said hello: a new one takes the place of the oldest.
// With `tls` every connection is a TLS one, within the same times.
//
// Lifecycle: stop() (or the destructor) ends listening and handshakes; ends that are
// handed out live on. Thread: any; its coroutines run on the executor given, which
// must outlive it or have stopped. Errors: start() address_in_use and the like.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <hummer/detail/type_descriptor.hpp>
#include <hummer/network_settings.hpp>

#include "net/data_address.hpp"
#include "net/frame.hpp"
#include "net/transport.hpp"
#include "net/transport_options.hpp"
#include "platform/log.hpp"
#include "platform/platform.hpp"
#include "platform/remote_memory.hpp"
#include "platform/tls.hpp"

namespace hummer {

struct DataPlaneOptions {
  // A listener for each; port 0: any free one.
  std::vector<DataAddress> listen_addresses = {{"", "*:0"}};
  std::string name = "taskmanager";             // for messages at the other end
  std::string token;                            // must be equal on both sides
  std::shared_ptr<TlsContext> tls;              // of both directions; null: plain
  RemoteMemoryDevice* remote_memory = nullptr;  // for one-sided writes; must outlive the ends
  std::size_t max_handshakes = 1024;
  std::size_t max_pending_handshakes = 1000;
  Nanoseconds handshake_timeout_ns = seconds(5);
  // How long a greeted connection waits for its receiver, and a receiver for its connection.
  Nanoseconds unknown_channel_timeout_ns = seconds(10);
  Nanoseconds receiver_timeout_ns = seconds(60);
  // How long a sender tries to connect and waits to be accepted.
  Nanoseconds connect_timeout_ns = seconds(20);
  // Takes a connection off this executor, and what was asked on it first. Empty: such requests are
  // refused.
  std::function<void(std::unique_ptr<ByteStream>, FetchRequest)> on_fetch;
  Logger log;  // of connections that were not let in, with the reason; a few a minute
};

struct DataPlaneCounts {
  std::uint64_t accepted = 0;  // connections that arrived
  std::uint64_t handed_over = 0;
  std::uint64_t rings = 0;         // of these, with a ring in shared memory
  std::uint64_t remote_rings = 0;  // of these, with a ring of one-sided writes
  std::uint64_t fetches = 0;       // connections that ask for shuffle files
  std::uint64_t garbage = 0;       // no valid hello
  std::uint64_t timed_out = 0;     // hello not there in time
  std::uint64_t refused = 0;       // token, version, type or size differ; key unknown
  std::uint64_t turned_away = 0;   // for newer ones, being too many
  std::uint64_t in_progress = 0;
  std::uint64_t buffer_bytes = 0;       // of all receivers, also those that wait to be used again
  std::uint64_t buffer_bytes_used = 0;  // with data that somebody still needs
};

class DataPlane {
 public:
  DataPlane(Platform& platform, Executor& executor, DataPlaneOptions options);
  ~DataPlane();
  DataPlane(const DataPlane&) = delete;
  DataPlane& operator=(const DataPlane&) = delete;

  Status start();
  // With the real port. REQUIRES: started. Of the first.
  SocketAddress address() const;
  // As listened on, with the real ports.
  std::vector<DataAddress> addresses() const;
  void stop();
  DataPlaneCounts counts() const;
  // How others of the cluster are met: whoever makes connections of its own needs token and TLS.
  const DataPlaneOptions& options() const;

  // `peer` names the other end in messages. A second receiver for a key replaces the first.
  std::unique_ptr<TransportReceiver> open_receiver(const ChannelKey& key,
                                                   const TypeDescriptor& type,
                                                   const NetworkSettings& settings,
                                                   std::string peer);
  // `address` as Network::resolve takes it.
  std::unique_ptr<TransportSender> open_sender(std::string address, const ChannelKey& key,
                                               const TypeDescriptor& type,
                                               const NetworkSettings& settings, std::string peer);
  // Along a route that was chosen among the peer's addresses, instead of the settings' interface.
  std::unique_ptr<TransportSender> open_sender(DataRoute route, const ChannelKey& key,
                                               const TypeDescriptor& type,
                                               const NetworkSettings& settings, std::string peer);

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace hummer
