// Numbers in as many bytes as they need, seven bits in each, the lowest first: what Avro and
// Protobuf say numbers and lengths with. Signed ones are often folded (zigzag): 0, -1, 1, -2, … are
// 0, 1, 2, 3.
//
// Reading answers where the number ends, or null: it has more than ten bytes, or the text ends
// first. No byte at `end` or behind it is read.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace hummer::formats {

inline constexpr std::size_t longest_varint_bytes = 10;

// One byte after the other; what the tenth has above 64 bits makes it no number.
[[gnu::noinline]] inline const char* read_varint_slowly(const char* at, const char* end,
                                                        std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; at != end && shift < 70; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at++);
    if (shift == 63 && byte > 1) return nullptr;
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return at;
  }
  return nullptr;
}

[[gnu::always_inline]] inline const char* read_varint(const char* at, const char* end,
                                                      std::uint64_t& value) {
  if (end - at < 8) [[unlikely]]
    return read_varint_slowly(at, end, value);
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  if ((word & 0x80) == 0) {
    value = word & 0x7F;
    return at + 1;
  }
  // The bytes up to the first without the high bit, their seven bits moved together at once:
  // lengths of numbers are hard to foretell.
  const std::uint64_t stop = ~word & 0x8080808080808080;
  if (stop == 0) [[unlikely]]
    return read_varint_slowly(at, end, value);
  word &= (stop ^ (stop - 1)) & 0x7F7F7F7F7F7F7F7F;
  word = (word & 0x007F007F007F007F) | (word & 0x7F007F007F007F00) >> 1;
  word = (word & 0x00003FFF00003FFF) | (word & 0x3FFF00003FFF0000) >> 2;
  value = (word & 0x000000000FFFFFFF) | (word & 0x0FFFFFFF00000000) >> 4;
  return at + (std::countr_zero(stop) + 1) / 8;
}

inline std::int64_t unfolded(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}
inline std::uint64_t folded(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}

inline void append_varint(std::uint64_t value, std::string& text) {
  char bytes[longest_varint_bytes];
  std::size_t size = 0;
  while (value >= 0x80) {
    bytes[size++] = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  bytes[size++] = static_cast<char>(value);
  text.append(bytes, size);
}

// The bytes of a number as they lie in memory: of fixed size, the lowest first.
template <typename Number>
void append_bytes(Number number, std::string& text) {
  static_assert(std::endian::native == std::endian::little);
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  text.append(bytes, sizeof number);
}

}  // namespace hummer::formats
