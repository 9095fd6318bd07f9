// Numbers in as few bytes as they need, for what is on disk by the million and mostly small: seven
// bits per byte, the lowest first, the top bit says that more follow (LEB128).
#pragma once

#include <cstddef>
#include <cstdint>

#include <hummer/bytes.hpp>

namespace hummer {

inline constexpr std::size_t most_packed_bytes = 10;

// REQUIRES: room for most_packed_bytes. Answers where it ends.
inline char* pack_number(char* at, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) *at++ = static_cast<char>(number | 0x80);
  *at++ = static_cast<char>(number);
  return at;
}

inline void put_packed(std::uint64_t number, ByteWriter& out) {
  char space[most_packed_bytes];
  out.put(space, static_cast<std::size_t>(pack_number(space, number) - space));
}
// False: there are too few bytes.
[[nodiscard]] inline bool get_packed(ByteReader& in, std::uint64_t& number) {
  number = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    std::uint8_t byte = 0;
    if (!in.get_value(byte)) return false;
    number |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) break;
  }
  return true;
}

// Where the bytes are known to be whole. REQUIRES: pack_number() wrote it. Answers where it ends.
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
