// NativeAddress: a SocketAddress as the system calls take it. (Linux form only.)
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <cstring>

#include "platform/network.hpp"

namespace hummer {

struct NativeAddress {
  sockaddr_storage storage{};
  socklen_t length = sizeof(sockaddr_storage);

  NativeAddress() = default;
  explicit NativeAddress(const SocketAddress& address) {
    if (address.is_ipv6) {
      sockaddr_in6 native{};
      native.sin6_family = AF_INET6;
      native.sin6_port = htons(address.port);
      std::memcpy(&native.sin6_addr, address.bytes.data(), 16);
      std::memcpy(&storage, &native, sizeof(native));
      length = sizeof(native);
    } else {
      sockaddr_in native{};
      native.sin_family = AF_INET;
      native.sin_port = htons(address.port);
      std::memcpy(&native.sin_addr, address.bytes.data(), 4);
      std::memcpy(&storage, &native, sizeof(native));
      length = sizeof(native);
    }
  }

  SocketAddress address() const {
    SocketAddress result;
    if (storage.ss_family == AF_INET6) {
      sockaddr_in6 native{};
      std::memcpy(&native, &storage, sizeof(native));
      result.is_ipv6 = true;
      result.port = ntohs(native.sin6_port);
      std::memcpy(result.bytes.data(), &native.sin6_addr, 16);
    } else if (storage.ss_family == AF_INET) {
      sockaddr_in native{};
      std::memcpy(&native, &storage, sizeof(native));
      result.port = ntohs(native.sin_port);
      std::memcpy(result.bytes.data(), &native.sin_addr, 4);
    }
    return result;
  }

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

}  // namespace hummer
