#include "platform/linux_network.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "platform/linux_datagram.hpp"
#include "platform/linux_stream.hpp"
#include "platform/socket_address.hpp"
#include "platform/system_error.hpp"

namespace hummer {
namespace {

constexpr int accept_backlog = 4096;  // the system takes less when it allows less

// "10.0.1.2" or "10.0.1.2:0"
Result<SocketAddress> parse_bind_address(const std::string& text) {
  const bool has_port =
      text.find(':') != std::string::npos && (text.front() != '[' || text.back() != ']');
  return parse_socket_address(has_port ? text : text + ":0");
}

void bind_to_interface(int socket, const std::string& name) {
  const std::size_t length = std::min<std::size_t>(name.size(), IFNAMSIZ - 1);
  ::setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, name.data(), static_cast<socklen_t>(length));
}

// In progress as long as the socket has neither an error nor a peer.
bool still_connecting(int socket, int& error) {
  socklen_t length = sizeof(error);
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  if (error != 0) return false;
  NativeAddress peer;
  return ::getpeername(socket, peer.get(), &peer.length) != 0 && errno == ENOTCONN;
}

}  // namespace

Result<SocketAddress> LinuxNetwork::interface_address(std::string_view name) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return socket_failure(errno, "cannot list the network interfaces");
  std::optional<SocketAddress> found;
  std::string others;
  for (const ifaddrs* entry = all; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    const int family = entry->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    if (entry->ifa_name != name) {
      const std::string other = entry->ifa_name;
      if (others.find(other) == std::string::npos) others += (others.empty() ? "" : ", ") + other;
      continue;
    }
    SocketAddress address;
    address.is_ipv6 = family == AF_INET6;
    if (found && address.is_ipv6) continue;
    if (address.is_ipv6) {
      sockaddr_in6 native{};
      std::memcpy(&native, entry->ifa_addr, sizeof(native));
      if (native.sin6_scope_id != 0) continue;  // link-local: means nothing to others
      std::memcpy(address.bytes.data(), &native.sin6_addr, 16);
    } else {
      sockaddr_in native{};
      std::memcpy(&native, entry->ifa_addr, sizeof(native));
      std::memcpy(address.bytes.data(), &native.sin_addr, 4);
    }
    if (!found || found->is_ipv6) found = address;
  }
  ::freeifaddrs(all);
  if (found) return *found;
  return Status(ErrorCode::not_found, "no network interface '" + std::string(name) +
                                          "' with an address; there are: " + others);
}

Task<Result<std::unique_ptr<ByteStream>>> LinuxNetwork::connect(SocketAddress address,
                                                                ConnectOptions options) {
  Executor& executor = co_await current_executor();
  const std::string doing = "cannot connect to " + address.to_string();
  Result<Descriptor> socket = make_tcp_socket(address.is_ipv6);
  if (!socket.ok()) co_return socket.status().with_context(doing);
  const int number = socket->number();
  if (!options.interface.empty()) bind_to_interface(number, options.interface);
  if (!options.bind_address.empty()) {
    const Result<SocketAddress> from = parse_bind_address(options.bind_address);
    if (!from.ok()) co_return from.status();
    NativeAddress native(*from);
    if (::bind(number, native.get(), native.length) != 0) {
      co_return socket_failure(errno, doing + " from " + from->to_string());
    }
  }
  auto stream = std::make_unique<LinuxByteStream>(std::move(*socket), address);
  NativeAddress native(address);
  int error = ::connect(number, native.get(), native.length) == 0 ? 0 : errno;
  if (error == EINPROGRESS || error == EINTR) {
    const Nanoseconds deadline =
        options.timeout_ns >= never - executor.now() ? never : executor.now() + options.timeout_ns;
    WakeEvent progress;
    stream->set_wake_events(executor, nullptr, &progress);
    while (still_connecting(number, error)) {
      progress.prepare_wait();
      const bool notified = co_await progress.wait_until(deadline);
      if (notified) continue;
      co_return Status(
          ErrorCode::timed_out,
          doing + ": no answer within " + std::to_string(options.timeout_ns / 1'000'000) + " ms");
    }
    stream->detach();
  }
  if (error != 0) co_return socket_failure(error, doing);
  leave_unpaced_on_one_machine(number, address);
  co_return std::unique_ptr<ByteStream>(std::move(stream));
}

Result<std::unique_ptr<DatagramSocket>> LinuxNetwork::open_datagrams(const SocketAddress& local,
                                                                     const SocketAddress* peer) {
  return LinuxDatagramSocket::open(local, peer);
}

Result<std::unique_ptr<Listener>> LinuxNetwork::listen(SocketAddress address,
                                                       ListenOptions options) {
  const std::string doing = "cannot listen on " + address.to_string();
  Result<Descriptor> socket = make_tcp_socket(address.is_ipv6);
  if (!socket.ok()) return socket.status().with_context(doing);
  request_socket_option(socket->number(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (options.small_messages) leave_unpaced(socket->number());
  NativeAddress native(address);
  if (::bind(socket->number(), native.get(), native.length) != 0 ||
      ::listen(socket->number(), accept_backlog) != 0) {
    return socket_failure(errno, doing);
  }
  return std::unique_ptr<Listener>(std::make_unique<LinuxListener>(std::move(*socket)));
}

}  // namespace hummer
