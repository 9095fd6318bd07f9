#include "platform/linux_datagram.hpp"

#include <sys/socket.h>
#include <cerrno>
#include <utility>

#include "platform/socket_address.hpp"
#include "platform/system_error.hpp"

namespace hummer {
namespace {

bool means_would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

Result<std::unique_ptr<DatagramSocket>> LinuxDatagramSocket::open(const SocketAddress& local,
                                                                  const SocketAddress* peer) {
  Descriptor socket(::socket(local.is_ipv6 ? AF_INET6 : AF_INET,
                             SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP));
  if (!socket.valid()) return socket_failure(errno, "cannot make a UDP socket");
  NativeAddress own(local);
  if (::bind(socket.number(), own.get(), own.length) != 0) {
    return socket_failure(errno, "cannot receive datagrams at " + local.to_string());
  }
  if (peer != nullptr) {
    NativeAddress other(*peer);
    if (::connect(socket.number(), other.get(), other.length) != 0) {
      return socket_failure(errno, "cannot send datagrams to " + peer->to_string());
    }
  }
  return std::unique_ptr<DatagramSocket>(std::make_unique<LinuxDatagramSocket>(std::move(socket)));
}

LinuxDatagramSocket::LinuxDatagramSocket(Descriptor socket)
    : socket_(std::move(socket)), local_(local_address_of(socket_.number())) {}

LinuxDatagramSocket::~LinuxDatagramSocket() { do_close(); }

Result<DatagramSocket::Received> LinuxDatagramSocket::try_receive(std::span<char> into) {
  if (!socket_.valid()) return Status(ErrorCode::cancelled, "the socket was closed");
  while (true) {
    NativeAddress from;
    const ssize_t got =
        ::recvfrom(socket_.number(), into.data(), into.size(), 0, from.get(), &from.length);
    if (got >= 0) return Received{static_cast<std::size_t>(got), from.address()};
    if (means_would_block(errno)) return Received{would_block, {}};
    if (errno != EINTR) return socket_failure(errno, "no datagram for " + local_.to_string());
  }
}

Status LinuxDatagramSocket::send(std::span<const char> bytes, const SocketAddress& to) {
  if (!socket_.valid()) return {ErrorCode::cancelled, "the socket was closed"};
  NativeAddress native(to);
  while (true) {
    const ssize_t put = ::sendto(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL,
                                 native.get(), native.length);
    // A full queue loses it, as the way may.
    if (put >= 0 || means_would_block(errno)) return {};
    if (errno != EINTR) return socket_failure(errno, "cannot send to " + to.to_string());
  }
}

void LinuxDatagramSocket::do_attach(Executor& executor) {
  executor_ = &static_cast<LinuxExecutor&>(executor);
  reactor_of(executor).add(socket_.number(), *this);
}

void LinuxDatagramSocket::do_close() {
  if (executor_ != nullptr && socket_.valid()) {
    executor_->reactor().remove(socket_.number(), *this);
  }
  socket_.reset();
}

void LinuxDatagramSocket::on_ready(bool, bool) {
  // Also when it can only be written: so is a socket with an error to be fetched.
  receivable();
}

}  // namespace hummer
