#include "platform/loopback.hpp"

namespace hummer {

bool is_loopback(const SocketAddress& address) {
  if (!address.is_ipv6) return address.bytes[0] == 127;
  std::array<std::uint8_t, 16> one{};
  one[15] = 1;
  return address.bytes == one;
}

}  // namespace hummer
