// Numbers in as few bytes as they need, for what is on disk by the million and mostly small: seven
// bits per byte, the lowest first, the top bit says that more follow (LEB128).
#pragma once

#include <cstddef>
#include <cstdint>

namespace hummer {

inline constexpr std::size_t most_packed_bytes = 10;

// REQUIRES: room for most_packed_bytes. Answers where it ends.
inline char* pack_number(char* at, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) *at++ = static_cast<char>(number | 0x80);
  *at++ = static_cast<char>(number);
  return at;
}

// REQUIRES: pack_number() wrote it. Answers where it ends.
inline const char* unpack_number(const char* at, std::uint64_t& number) {
  auto byte = static_cast<std::uint8_t>(*at++);
  number = byte & 0x7F;
  for (unsigned shift = 7; byte >= 0x80; shift += 7) {
    byte = static_cast<std::uint8_t>(*at++);
    number |= std::uint64_t{byte & 0x7Fu} << shift;
  }
  return at;
}

}  // namespace hummer
