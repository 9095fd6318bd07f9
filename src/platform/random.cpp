#include "platform/random.hpp"

#include <algorithm>
#include <cstring>

namespace hummer {

void Random::fill(std::span<char> bytes) {
  while (!bytes.empty()) {
    const std::uint64_t value = next();
    const std::size_t count = std::min(bytes.size(), sizeof(value));
    std::memcpy(bytes.data(), &value, count);
    bytes = bytes.subspan(count);
  }
}

}  // namespace hummer
