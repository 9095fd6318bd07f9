// Numbers as Java's DataOutput writes them: big-endian, at any address.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace hummer::batch {

static_assert(std::endian::native == std::endian::little);

inline void put_big_endian(char* to, std::uint32_t value) {
  value = __builtin_bswap32(value);
  std::memcpy(to, &value, sizeof value);
}

inline void put_big_endian(char* to, std::uint64_t value) {
  value = __builtin_bswap64(value);
  std::memcpy(to, &value, sizeof value);
}

inline std::uint32_t big_endian_32(const char* from) {
  std::uint32_t value = 0;
  std::memcpy(&value, from, sizeof value);
  return __builtin_bswap32(value);
}

inline std::uint64_t big_endian_64(const char* from) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, sizeof value);
  return __builtin_bswap64(value);
}

}  // namespace hummer::batch
