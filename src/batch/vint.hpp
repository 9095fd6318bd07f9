// Vints: whole numbers in one to nine bytes, as Hadoop's WritableUtils.writeVLong has them.
//
//   -112 … 127       the byte itself
//   larger           -112 − n, then n bytes
//   smaller          -120 − n, then n bytes of the complement (−1 − number)
//
// with 1 ≤ n ≤ 8 as small as it can be, and the bytes big-endian.
//
//   char place[max_vint_bytes];
//   const char* end = write_vint(place, 300);                // 3 bytes: 8e 01 2c
//   std::int64_t number = 0;
//   const char* next = read_vint(place, end, number);        // null: it does not end before `end`
//
// Reading takes every number of bytes that the first one may announce, also where fewer would do,
// as Hadoop does. Cost: a few instructions; no loop where there are nine bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <hummer/batch/key_order.hpp>

#include "batch/big_endian.hpp"

namespace hummer::batch {

inline constexpr std::size_t max_vint_bytes = 9;
// Of a length, which is no larger than 2^31 − 1.
inline constexpr std::size_t max_length_bytes = 5;

// Where it ends. REQUIRES: max_vint_bytes of room, of which what is behind the end may change.
inline char* write_vint(char* to, std::int64_t number) {
  if (number >= -112 && number <= 127) {
    *to = static_cast<char>(number);
    return to + 1;
  }
  const auto magnitude = static_cast<std::uint64_t>(number < 0 ? ~number : number);
  // Of a complement of 0 … 111 there is none here, so it is never 0.
  const int bytes = (std::bit_width(magnitude) + 7) / 8;
  *to = static_cast<char>((number < 0 ? -120 : -112) - bytes);
  put_big_endian(to + 1, magnitude << (64 - 8 * bytes));
  return to + 1 + bytes;
}

// Where the next thing begins; null where the number does not end in [from, end).
inline const char* read_vint(const char* from, const char* end, std::int64_t& number) {
  if (from == end) return nullptr;
  const auto first = static_cast<signed char>(*from++);
  if (first >= -112) {
    number = first;
    return from;
  }
  const std::size_t bytes = key_form::bytes_of_vint(static_cast<char>(first)) - 1;
  const auto left = static_cast<std::size_t>(end - from);
  if (left < bytes) return nullptr;
  std::uint64_t magnitude = 0;
  if (left >= sizeof magnitude) {
    magnitude = big_endian_64(from) >> (64 - 8 * bytes);
  } else {
    for (std::size_t i = 0; i < bytes; ++i) {
      magnitude = magnitude << 8 | static_cast<unsigned char>(from[i]);
    }
  }
  number = static_cast<std::int64_t>(first < -120 ? ~magnitude : magnitude);
  return from + bytes;
}

}  // namespace hummer::batch
