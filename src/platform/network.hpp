// Network: byte streams and datagrams between processes, and the addresses of names.
//
// A ByteStream is ordered and reliable until it dies, and death is a value:
// connection_lost (reset, timed out), or a read of 0 bytes (the peer closed its
// half in good order). The Linux form is TCP on the executor's epoll reactor,
// the simulated form is in-memory pipes with seeded latency, partial transfers
// and death.
//
// Thread: a Network from any thread. A stream or listener belongs to the
// executor on which it is first awaited (or that was given to set_wake_events);
// from then on use it there only. try_read and try_write do not attach it, so a
// stream accepted on one executor may be moved to another by detach().
// At most one reader and one writer at a time.
//
// Cancellation: close() from the own executor ends waiting reads, writes and
// accepts with ErrorCode::cancelled. Destroy the object only after they ended.
//
// Socket options are requests: none that fails is an error, except an address to
// bind to.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

#include "platform/task.hpp"
#include "platform/time.hpp"
#include "platform/wake_event.hpp"

namespace hummer {

struct SocketAddress {
  bool is_ipv6 = false;
  // Network order; IPv4 uses the first four.
  std::array<std::uint8_t, 16> bytes{};
  std::uint16_t port = 0;

  // "127.0.0.1:80", "[::1]:80"
  std::string to_string() const;
  auto operator<=>(const SocketAddress&) const = default;
};

// "127.0.0.1:80", "[::1]:80", "localhost:80" (IPv4), "*:80" and ":80" (any IPv4 address).
// Other names are name_not_resolved: ask Network::resolve. invalid_argument when malformed.
Result<SocketAddress> parse_socket_address(std::string_view text);

// What try_read and try_write answer when nothing can be moved now.
inline constexpr std::size_t would_block = static_cast<std::size_t>(-1);
inline constexpr std::size_t max_write_pieces = 32;

class ByteStream {
 public:
  virtual ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // Awaits at least one byte; 0 when the peer closed (or `into` is empty).
  Task<Result<std::size_t>> read_some(std::span<char> into);
  // All bytes or a failure. `bytes` must live until the task is done.
  Task<Status> write_all(std::span<const char> bytes);

  // At once: the number of bytes moved, would_block, or a failure. try_read: 0 when the peer
  // closed.
  virtual Result<std::size_t> try_read(std::span<char> into) = 0;
  virtual Result<std::size_t> try_write(std::span<const char> bytes) = 0;
  // The same, and more is written next: what fills no packet may wait for that.
  virtual Result<std::size_t> try_write_more(std::span<const char> bytes) {
    return try_write(bytes);
  }
  // try_write of `pieces` one behind the other, at most max_write_pieces. REQUIRES:
  // writes_pieces(), which a stream that makes something of its own of the bytes does not.
  virtual bool writes_pieces() const { return false; }
  virtual Result<std::size_t> try_write_pieces(std::span<const std::string_view> pieces);

  // For a task that waits for this stream and other things on one WakeEvent: from now on
  // `readable` is notified each time bytes (or the end) arrive after a try_read that answered
  // would_block, `writable` likewise after try_write. Null: nobody. They replace the events
  // behind read_some and write_all, which must not be used on that side meanwhile. A first
  // notification may be spurious. REQUIRES: on `executor`.
  void set_wake_events(Executor& executor, WakeEvent* readable, WakeEvent* writable);

  // Leaves its executor, so that it can be used on another one. REQUIRES: no waiter.
  void detach();

  // No more bytes to the peer, which reads 0 at their end; reading goes on.
  virtual Status shutdown_write() = 0;
  // Idempotent. Ends waiters with `cancelled`, and so every later call.
  void close();
  bool closed() const { return closed_; }

  virtual SocketAddress local_address() const = 0;
  virtual SocketAddress peer_address() const = 0;

 protected:
  ByteStream() = default;
  // Starts and stops the calls of readable() and writable() on the own thread of `executor`.
  virtual void do_attach(Executor& executor) = 0;
  virtual void do_detach() = 0;
  virtual void do_close() = 0;

  void readable() {
    if (above_ != nullptr) return above_->below_is_ready(true, false);
    if (readable_ != nullptr) readable_->notify();
  }
  void writable() {
    if (above_ != nullptr) return above_->below_is_ready(false, true);
    if (writable_ != nullptr) writable_->notify();
  }

  // For a stream that runs over another one (tls_stream.hpp): `above` is told what the events of
  // `below` would be, on the executor's thread; null: as before. Only `above` uses `below` then.
  static void put_over(ByteStream& below, ByteStream* above) { below.above_ = above; }
  virtual void below_is_ready(bool /*can_read*/, bool /*can_write*/) {}

  Status closed_failure() const;
  Executor* executor() const { return executor_; }

 private:
  void attach(Executor& executor);

  WakeEvent read_event_;
  WakeEvent write_event_;
  WakeEvent* readable_ = &read_event_;
  WakeEvent* writable_ = &write_event_;
  ByteStream* above_ = nullptr;
  Executor* executor_ = nullptr;
  bool closed_ = false;
};

class Listener {
 public:
  virtual ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // A failure that concerns one connection only is not reported; out of descriptors is
  // limit_exceeded (and the next accept may succeed).
  Task<Result<std::unique_ptr<ByteStream>>> accept();
  // Null when there is none now.
  virtual Result<std::unique_ptr<ByteStream>> try_accept() = 0;

  // With the real port when 0 was asked for.
  virtual SocketAddress local_address() const = 0;
  // Idempotent. Ends a waiting accept with `cancelled`.
  void close();

 protected:
  Listener() = default;
  virtual void do_attach(Executor& executor) = 0;
  virtual void do_close() = 0;
  void acceptable() { accept_event_.notify(); }

 private:
  WakeEvent accept_event_;
  Executor* executor_ = nullptr;
  bool closed_ = false;
};

// Messages that arrive whole or not at all (UDP). They may be lost or change places: who asks by
// them asks again. Thread and cancellation: as of streams; at most one receiver at a time.
class DatagramSocket {
 public:
  struct Received {
    std::size_t bytes = 0;  // what does not fit is cut off
    SocketAddress from;
  };

  virtual ~DatagramSocket();
  DatagramSocket(const DatagramSocket&) = delete;
  DatagramSocket& operator=(const DatagramSocket&) = delete;

  // timed_out at `deadline`. connection_refused where a peer was given and is known not to listen.
  Task<Result<Received>> receive(std::span<char> into, Nanoseconds deadline);
  // At once; `bytes` is would_block when there is none.
  virtual Result<Received> try_receive(std::span<char> into) = 0;
  // On its way, or lost: nobody tells.
  virtual Status send(std::span<const char> bytes, const SocketAddress& to) = 0;

  virtual SocketAddress local_address() const = 0;
  // Idempotent. Ends a waiting receive with `cancelled`.
  void close();

 protected:
  DatagramSocket() = default;
  virtual void do_attach(Executor& executor) = 0;
  virtual void do_close() = 0;
  void receivable() { event_.notify(); }

 private:
  WakeEvent event_;
  Executor* executor_ = nullptr;
  bool closed_ = false;
};

struct ConnectOptions {
  // Where the connection comes from: "10.0.1.2" or "10.0.1.2:0". Empty: the system chooses.
  std::string bind_address;
  // Network interface to send through, such as "eth1". A request. Empty: the system chooses.
  std::string interface;
  Nanoseconds timeout_ns = seconds(10);
};

struct ListenOptions {
  // Connections carry small messages now and then, so nothing needs to be paced: where BBR is the
  // system's congestion control it sets a timer for each. A request.
  bool small_messages = false;
};

class Network {
 public:
  virtual ~Network() = default;

  // Name or number with port, of what is known here: numbers, localhost, /etc/hosts; simulated:
  // node names. name_not_resolved: a name server may know it, look_up asks.
  virtual Result<SocketAddress> resolve(std::string_view text) = 0;
  // The same, and then by name servers (name_client.hpp).
  virtual Task<Result<SocketAddress>> look_up(std::string text) = 0;

  // An address of this machine's network interface ("eth1"), IPv4 first, with port 0. not_found
  // names the interfaces that have one. Simulated: any name is the node's address.
  virtual Result<SocketAddress> interface_address(std::string_view name) = 0;

  // connection_refused, timed_out, address_in_use (bind address), connection_lost (unreachable).
  // The stream is attached to no executor yet. Pass options by name: GCC 12 miscompiles an
  // aggregate written in braces inside a co_await expression (its strings are freed wrongly).
  virtual Task<Result<std::unique_ptr<ByteStream>>> connect(SocketAddress address,
                                                            ConnectOptions options) = 0;
  // Receives at `local` (port 0: the system draws one); with `peer`, from it only.
  virtual Result<std::unique_ptr<DatagramSocket>> open_datagrams(const SocketAddress& local,
                                                                 const SocketAddress* peer) = 0;
  // Port 0: the system chooses one. address_in_use names the address.
  virtual Result<std::unique_ptr<Listener>> listen(SocketAddress address,
                                                   ListenOptions options) = 0;
  Result<std::unique_ptr<Listener>> listen(SocketAddress address) {
    return listen(std::move(address), {});
  }
};

}  // namespace hummer
