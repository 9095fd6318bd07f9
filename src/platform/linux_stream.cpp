#include "platform/linux_stream.hpp"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "platform/socket_address.hpp"
#include "platform/system_error.hpp"

namespace hummer {
namespace {

void make_non_blocking(int socket) {
  ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
}

bool means_would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

Reactor& reactor_of(Executor& executor) {
  auto* native = dynamic_cast<LinuxExecutor*>(&executor);
  HUMMER_ASSERT(native != nullptr);
  return native->reactor();
}

Result<Descriptor> make_tcp_socket(bool is_ipv6) {
  Descriptor socket(::socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM, IPPROTO_TCP));
  if (!socket.valid()) return socket_failure(errno, "cannot make a TCP socket");
  make_non_blocking(socket.number());
  return socket;
}

SocketAddress local_address_of(int socket) {
  NativeAddress native;
  if (::getsockname(socket, native.get(), &native.length) != 0) return {};
  return native.address();
}

void request_socket_option(int socket, int level, int name, int value) {
  ::setsockopt(socket, level, name, &value, sizeof(value));
}

void leave_unpaced(int socket) {
  constexpr std::string_view reno = "reno";  // every Linux has it, and allows it to everybody
  ::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, reno.data(), reno.size());
}

void leave_unpaced_on_one_machine(int socket, const SocketAddress& peer) {
  const SocketAddress local = local_address_of(socket);
  if (local.is_ipv6 == peer.is_ipv6 && local.bytes == peer.bytes) leave_unpaced(socket);
}

LinuxByteStream::LinuxByteStream(Descriptor socket, SocketAddress peer)
    : socket_(std::move(socket)), peer_(peer) {
  // Batches are handed on when there is nothing more at hand: waiting to fill a packet
  // would only add latency.
  request_socket_option(socket_.number(), IPPROTO_TCP, TCP_NODELAY, 1);
}

LinuxByteStream::~LinuxByteStream() {
  if (!closed() && executor() != nullptr) do_detach();
}

Status LinuxByteStream::lost(int error) const {
  const std::string what = "connection to " + peer_.to_string() + " lost";
  return {ErrorCode::connection_lost, socket_failure(error, what).message()};
}

Result<std::size_t> LinuxByteStream::try_read(std::span<char> into) {
  if (closed()) return closed_failure();
  while (true) {
    const ssize_t got = ::recv(socket_.number(), into.data(), into.size(), 0);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (means_would_block(errno)) return would_block;
    if (errno != EINTR) return lost(errno);
  }
}

Result<std::size_t> LinuxByteStream::try_write_more(std::span<const char> bytes) {
  return send(bytes, MSG_MORE);
}

Result<std::size_t> LinuxByteStream::send(std::span<const char> bytes, int flags) {
  if (closed()) return closed_failure();
  while (true) {
    const ssize_t put = ::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL | flags);
    if (put >= 0) return static_cast<std::size_t>(put);
    if (means_would_block(errno)) return would_block;
    if (errno != EINTR) return lost(errno);
  }
}

Result<std::size_t> LinuxByteStream::try_write_pieces(std::span<const std::string_view> pieces) {
  if (closed()) return closed_failure();
  HUMMER_ASSERT(pieces.size() <= max_write_pieces);
  std::array<iovec, max_write_pieces> places;
  // sendmsg only reads what its type says it may write.
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    places[i] = {const_cast<char*>(pieces[i].data()), pieces[i].size()};
  }
  msghdr message{};
  message.msg_iov = places.data();
  message.msg_iovlen = pieces.size();
  while (true) {
    const ssize_t put = ::sendmsg(socket_.number(), &message, MSG_NOSIGNAL);
    if (put >= 0) return static_cast<std::size_t>(put);
    if (means_would_block(errno)) return would_block;
    if (errno != EINTR) return lost(errno);
  }
}

Status LinuxByteStream::shutdown_write() {
  if (closed()) return closed_failure();
  if (::shutdown(socket_.number(), SHUT_WR) == 0) return {};
  return lost(errno);
}

SocketAddress LinuxByteStream::local_address() const { return local_address_of(socket_.number()); }

void LinuxByteStream::do_attach(Executor& executor) {
  reactor_of(executor).add(socket_.number(), *this);
}

void LinuxByteStream::do_detach() { reactor_of(*executor()).remove(socket_.number(), *this); }

void LinuxByteStream::on_ready(bool can_read, bool can_write) {
  if (can_read) readable();
  if (can_write) writable();
}

LinuxListener::LinuxListener(Descriptor socket)
    : socket_(std::move(socket)), local_(local_address_of(socket_.number())) {}

LinuxListener::~LinuxListener() { do_close(); }

Result<std::unique_ptr<ByteStream>> LinuxListener::try_accept() {
  if (!socket_.valid()) return Status(ErrorCode::cancelled, "the listener was closed");
  while (true) {
    NativeAddress peer;
    Descriptor socket(::accept(socket_.number(), peer.get(), &peer.length));
    if (socket.valid()) {
      make_non_blocking(socket.number());
      leave_unpaced_on_one_machine(socket.number(), peer.address());
      return std::unique_ptr<ByteStream>(
          std::make_unique<LinuxByteStream>(std::move(socket), peer.address()));
    }
    if (means_would_block(errno)) return std::unique_ptr<ByteStream>();
    const bool one_connection_only = errno == EINTR || errno == ECONNABORTED || errno == EPROTO ||
                                     errno == EPERM || errno == ENETDOWN || errno == EHOSTUNREACH ||
                                     errno == ENETUNREACH;
    if (one_connection_only) continue;
    return socket_failure(errno, "cannot accept on " + local_.to_string());
  }
}

void LinuxListener::do_attach(Executor& executor) {
  executor_ = &static_cast<LinuxExecutor&>(executor);
  reactor_of(executor).add(socket_.number(), *this);
}

void LinuxListener::do_close() {
  if (executor_ != nullptr && socket_.valid()) {
    executor_->reactor().remove(socket_.number(), *this);
  }
  socket_.reset();
}

void LinuxListener::on_ready(bool can_read, bool) {
  if (can_read) acceptable();
}

}  // namespace hummer
