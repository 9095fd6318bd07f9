// Numbers out of text whose length is known, 8 or 16 digits at a time.
//
//   std::int64_t size = 0;
//   parse_integer("-12", 3, readable, size)
//
// A field of a file has its border found already, so its last 8 or 16 bytes are one load, and what
// stands ahead of the field is shifted out: no loop over digits, whose length a processor would
// have to guess. `readable`: bytes that may be read ahead of the text. Where there are too few, and
// for all that is not plain digits (exponents, "inf", 17 digits and more), std::from_chars decides;
// so numbers are exactly what it makes of them.
//
// Thread: functions without state.
#pragma once

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <system_error>
#include <type_traits>

namespace hummer::formats {

static_assert(std::endian::native == std::endian::little, "digits are read as little-endian words");

// The number of eight digits, the first of which is in the lowest byte; false: not all are digits.
[[gnu::always_inline]] inline bool eight_digits(std::uint64_t text, std::uint64_t& number) {
  const std::uint64_t digits = text ^ 0x3030303030303030ULL;
  const std::uint64_t beyond = (digits + 0x7676767676767676ULL) | digits;
  if ((beyond & 0x8080808080808080ULL) != 0) return false;
  std::uint64_t pairs = digits * 10 + (digits >> 8);
  pairs = (((pairs & 0x000000FF000000FFULL) * (100 + (1000000ULL << 32))) +
           (((pairs >> 16) & 0x000000FF000000FFULL) * (1 + (10000ULL << 32)))) >>
          32;
  number = pairs & 0xFFFFFFFFULL;
  return true;
}

// The `size` bytes before `end` as the last of eight, behind zeros as text. REQUIRES: 1 <= size <=
// 8, and 8 bytes that may be read before `end`.
[[gnu::always_inline]] inline std::uint64_t padded_word(const char* end, std::size_t size) {
  std::uint64_t word = 0;
  std::memcpy(&word, end - 8, 8);
  const unsigned shift = static_cast<unsigned>(8 - size) * 8;
  const std::uint64_t zeros = 0x3030303030303030ULL;
  // What is ahead of the field lies in the lower bytes.
  const std::uint64_t kept = ~std::uint64_t{0} << shift;
  return (word & kept) | (zeros & ~kept);
}

// Plain digits: 1 to 16 of them.
[[gnu::always_inline]] inline bool parse_digits(const char* end, std::size_t size,
                                                std::uint64_t& number) {
  if (size <= 8) return eight_digits(padded_word(end, size), number);
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  std::uint64_t word = 0;
  std::memcpy(&word, end - 8, 8);
  if (!eight_digits(word, low) || !eight_digits(padded_word(end - 8, size - 8), high)) return false;
  number = high * 100000000 + low;
  return true;
}

template <typename Number>
bool parse_by_library(const char* text, std::size_t size, Number& number) {
  const std::from_chars_result result = std::from_chars(text, text + size, number);
  return result.ec == std::errc() && result.ptr == text + size;
}

template <typename Integer>
[[gnu::always_inline]] inline bool parse_integer(const char* text, std::size_t size,
                                                 std::size_t readable, Integer& number) {
  const bool negative = std::is_signed_v<Integer> && size > 1 && *text == '-';
  const std::size_t digits = size - (negative ? 1 : 0);
  if (digits - 1 < 16 && readable >= 16) [[likely]] {
    std::uint64_t magnitude = 0;
    if (!parse_digits(text + size, digits, magnitude)) return false;
    if constexpr (sizeof(Integer) < 8) {
      const std::uint64_t most =
          static_cast<std::uint64_t>(std::numeric_limits<Integer>::max()) + (negative ? 1 : 0);
      if (magnitude > most) return false;
    }
    const auto value = static_cast<std::int64_t>(magnitude);
    number = static_cast<Integer>(negative ? -value : value);
    return true;
  }
  return size != 0 && parse_by_library(text, size, number);
}

inline constexpr double exact_powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

// Digits with one '.' among them, whole and power both exact as doubles, so that their quotient is
// the nearest one (Clinger's way).
[[gnu::always_inline]] inline bool parse_plain_real(const char* end, std::size_t size,
                                                    double& number) {
  const auto dot_in = [](std::uint64_t word) {
    const std::uint64_t other = word ^ 0x2E2E2E2E2E2E2E2EULL;
    return (other - 0x0101010101010101ULL) & ~other & 0x8080808080808080ULL;
  };
  if (size <= 8) {
    const std::uint64_t word = padded_word(end, size);
    const std::uint64_t dot = dot_in(word);
    std::uint64_t whole = 0;
    if (dot == 0) {
      if (!eight_digits(word, whole)) return false;
      number = static_cast<double>(whole);
      return true;
    }
    if (size == 1) return false;
    // The digits ahead of the dot move by one place, over it.
    const auto at = static_cast<unsigned>(std::countr_zero(dot)) / 8;
    const std::uint64_t ahead = (std::uint64_t{1} << (at * 8)) - 1;
    const std::uint64_t behind = at == 7 ? 0 : ~std::uint64_t{0} << ((at + 1) * 8);
    if (!eight_digits((word & behind) | ((word & ahead) << 8) | 0x30, whole)) return false;
    number = static_cast<double>(whole) / exact_powers[7 - at];
    return true;
  }
  __extension__ using Wide = unsigned __int128;
  std::uint64_t low = 0;
  std::memcpy(&low, end - 8, 8);
  const std::uint64_t high = padded_word(end - 8, size - 8);  // of the text's begin
  const std::uint64_t dot_low = dot_in(low);
  const std::uint64_t dot_high = dot_in(high);
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  if ((dot_low | dot_high) == 0) {
    if (!eight_digits(high, first) || !eight_digits(low, second)) return false;
    const std::uint64_t whole = first * 100000000 + second;
    number = static_cast<double>(whole);
    return whole < (std::uint64_t{1} << 53);
  }
  const unsigned at = dot_high != 0 ? static_cast<unsigned>(std::countr_zero(dot_high)) / 8
                                    : 8 + static_cast<unsigned>(std::countr_zero(dot_low)) / 8;
  const Wide text = (Wide{low} << 64) | high;
  const Wide ahead = (Wide{1} << (at * 8)) - 1;
  const Wide behind = at == 15 ? Wide{0} : ~Wide{0} << ((at + 1) * 8);
  const Wide digits = (text & behind) | ((text & ahead) << 8) | 0x30;
  if (!eight_digits(static_cast<std::uint64_t>(digits), first) ||
      !eight_digits(static_cast<std::uint64_t>(digits >> 64), second)) {
    return false;
  }
  number = static_cast<double>(first * 100000000 + second) / exact_powers[15 - at];
  return true;
}

[[gnu::always_inline]] inline bool parse_real(const char* text, std::size_t size,
                                              std::size_t readable, double& number) {
  const bool negative = size > 1 && *text == '-';
  const std::size_t digits = size - (negative ? 1 : 0);
  if (digits - 1 < 16 && readable >= 16) [[likely]] {
    double magnitude = 0;
    if (parse_plain_real(text + size, digits, magnitude)) [[likely]] {
      number = negative ? -magnitude : magnitude;
      return true;
    }
  }
  return size != 0 && parse_by_library(text, size, number);
}

}  // namespace hummer::formats
