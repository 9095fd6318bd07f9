// LinuxByteStream and LinuxListener: sockets behind the contracts of network.hpp.
// (Linux form only.)
#pragma once

#include <memory>
#include <span>

#include "platform/descriptor.hpp"
#include "platform/linux_executor.hpp"
#include "platform/network.hpp"

namespace hummer {

class LinuxByteStream final : public ByteStream, private ReadinessWatcher {
 public:
  // `peer` is for messages too, so it is kept also after the peer is gone.
  LinuxByteStream(Descriptor socket, SocketAddress peer);
  ~LinuxByteStream() override;

  Result<std::size_t> try_read(std::span<char> into) override;
  Result<std::size_t> try_write(std::span<const char> bytes) override { return send(bytes, 0); }
  Result<std::size_t> try_write_more(std::span<const char> bytes) override;
  bool writes_pieces() const override { return true; }
  Result<std::size_t> try_write_pieces(std::span<const std::string_view> pieces) override;
  Status shutdown_write() override;
  SocketAddress local_address() const override;
  SocketAddress peer_address() const override { return peer_; }

  int descriptor() const { return socket_.number(); }

 private:
  void do_attach(Executor& executor) override;
  void do_detach() override;
  void do_close() override { socket_.reset(); }
  void on_ready(bool can_read, bool can_write) override;
  Result<std::size_t> send(std::span<const char> bytes, int flags);
  Status lost(int error) const;

  Descriptor socket_;
  SocketAddress peer_;
};

class LinuxListener final : public Listener, private ReadinessWatcher {
 public:
  explicit LinuxListener(Descriptor socket);
  ~LinuxListener() override;

  Result<std::unique_ptr<ByteStream>> try_accept() override;
  SocketAddress local_address() const override { return local_; }

 private:
  void do_attach(Executor& executor) override;
  void do_close() override;
  void on_ready(bool can_read, bool can_write) override;

  Descriptor socket_;
  SocketAddress local_;
  LinuxExecutor* executor_ = nullptr;
};

// A LinuxExecutor's reactor. REQUIRES: `executor` was made by the same platform form.
Reactor& reactor_of(Executor& executor);

// A TCP socket, non-blocking.
Result<Descriptor> make_tcp_socket(bool is_ipv6);

SocketAddress local_address_of(int socket);
void request_socket_option(int socket, int level, int name, int value);

// Where BBR is the system's congestion control it sets a timer for each packet. Takes another one,
// which what a listener accepts inherits.
void leave_unpaced(int socket);
// The same between processes of one machine, where there is no path to be gentle to (beside other
// work 100-byte records went at 17 M/s with BBR, at 22 without). REQUIRES: connected.
void leave_unpaced_on_one_machine(int socket, const SocketAddress& peer);

}  // namespace hummer
