// Handshake: the first words on a data connection, on both sides.
//
// Exact reads and writes with a deadline, for streams of strangers: a peer that
// sends nothing, or a byte now and then, costs one coroutine until the deadline.
// All waits are on `event`, which is notified too when `given_up` becomes true.
//
// Thread: the executor of the coroutine that awaits them. Errors: timed_out,
// cancelled (given up), peer_gone (closed in the middle), those of the stream.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>

#include "net/connecting_transport.hpp"
#include "net/frame.hpp"
#include "net/ring_offer.hpp"
#include "platform/network.hpp"
#include "platform/platform.hpp"
#include "platform/task.hpp"
#include "platform/tls.hpp"

namespace hummer {

struct HandshakeWaits {
  WakeEvent* event;
  const std::atomic<bool>* given_up;
  Nanoseconds deadline;
};

// REQUIRES: set_wake_events(executor, waits.event, waits.event) was called.
Task<Status> read_exactly(ByteStream& stream, std::span<char> into, HandshakeWaits waits);
Task<Status> write_exactly(ByteStream& stream, std::string bytes, HandshakeWaits waits);

// A frame that is no data. protocol_error for anything else.
Task<Result<Frame>> read_handshake_frame(ByteStream& stream, HandshakeWaits waits);

struct HandshakeTarget {
  std::string address;
  ConnectOptions options;
  Hello hello;
  RingsWanted rings;                     // a receiver that offers none may not do
  RemoteMemoryDevice* remote = nullptr;  // null: no one-sided writes
  Nanoseconds timeout_ns;
  std::shared_ptr<TlsContext> tls;  // null: plain
};
// Connects and is accepted. Tries again while the other side is not listening yet.
std::unique_ptr<Connector> make_handshake_connector(Platform& platform, HandshakeTarget target);

// Why a channel that asks for the shm or the rdma transport can't have it.
Status no_ring(Transport transport, std::string_view why);

// Of remote memory, before the connection is taken instead. A device that loses a packet of its own
// handshake sends it again after four seconds or so.
inline constexpr Nanoseconds longest_memory_connect_ns = seconds(15);

// Connects an end of remote memory. timed_out: the other one did not answer in time.
Task<Status> connect_memory(RemoteMemory& memory, HandshakeWaits waits);

// Interface or source address, whichever `interface_or_address` is.
ConnectOptions connect_options(const std::string& interface_or_address);

}  // namespace hummer
