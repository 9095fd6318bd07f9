// Numbers out of text whose length is known, 16 characters at a time.
//
//   std::int64_t size = 0;
//   parse_integer("-12", 3, readable, size)
//
// A field of a file has its border found already, so its last 16 bytes are one load, and what
// stands ahead of the field is masked out: no loop over digits, and no branch on how many there
// are, which a processor could not guess. `readable`: bytes that may be read before the text's end.
// Where there are fewer than 16, and for all that is not plain digits (exponents, "inf", 17 digits
// and more), std::from_chars decides; so numbers are exactly what it makes of them.
//
// Thread: functions without state.
#pragma once

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <system_error>
#include <type_traits>

#include <smmintrin.h>

namespace hummer::formats {

// Characters of which the last ones are the text; the others are made zeros.
inline constexpr std::size_t number_bytes = 16;

struct NumberTables {
  // From `size` on: a mask of the last `size` of 16 bytes.
  alignas(16) std::uint8_t masks[32]{};
  // What to shuffle so that the byte at d is gone, and those ahead of it move by one; 16: none.
  alignas(16) std::uint8_t without[17][16]{};
  // 10 to the number of digits behind a dot at d; all of them exact.
  double powers[17]{};

  constexpr NumberTables() {
    for (std::size_t i = 16; i < 32; ++i) masks[i] = 0xFF;
    double power = 1;
    powers[16] = power;
    for (std::size_t d = 16; d-- > 0; power *= 10) powers[d] = power;
    for (std::size_t d = 0; d <= 16; ++d) {
      for (std::size_t i = 0; i < 16; ++i) {
        const std::size_t from = d == 16 || i > d ? i : i - 1;
        without[d][i] = static_cast<std::uint8_t>(d != 16 && i == 0 ? 0x80 : from);
      }
    }
  }
};
inline constexpr NumberTables number_tables;

// The text as digits of 0 to 9, behind zeros; other characters are above 9.
[[gnu::always_inline]] inline __m128i load_digits(const char* end, std::size_t size) {
  const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(end - number_bytes));
  const __m128i mask =
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(number_tables.masks + size));
  return _mm_and_si128(_mm_sub_epi8(text, _mm_set1_epi8('0')), mask);
}

// A bit for each that is none.
[[gnu::always_inline]] inline unsigned other_than_digits(__m128i digits) {
  const __m128i nine = _mm_set1_epi8(9);
  const __m128i good = _mm_cmpeq_epi8(_mm_max_epu8(digits, nine), nine);
  return static_cast<unsigned>(_mm_movemask_epi8(good)) ^ 0xFFFFU;
}

// Of 16 digits: pairs, fours, and eights are put together.
[[gnu::always_inline]] inline std::uint64_t number_of_digits(__m128i digits) {
  const __m128i pairs = _mm_maddubs_epi16(
      digits, _mm_set_epi8(1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10));
  const __m128i fours = _mm_madd_epi16(pairs, _mm_set_epi16(1, 100, 1, 100, 1, 100, 1, 100));
  const __m128i packed = _mm_packus_epi32(fours, fours);
  const __m128i eights =
      _mm_madd_epi16(packed, _mm_set_epi16(1, 10000, 1, 10000, 1, 10000, 1, 10000));
  const auto both = static_cast<std::uint64_t>(_mm_cvtsi128_si64(eights));
  return (both & 0xFFFFFFFFU) * 100'000'000 + (both >> 32);
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
  if (digits - 1 < number_bytes && readable >= number_bytes) [[likely]] {
    const __m128i loaded = load_digits(text + size, digits);
    if (other_than_digits(loaded) != 0) [[unlikely]]
      return false;
    const std::uint64_t magnitude = number_of_digits(loaded);
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

// Digits with one dot among them or none, whole and power both exact as doubles, so that their
// quotient is the nearest one (Clinger's way).
[[gnu::always_inline]] inline bool parse_plain_real(const char* end, std::size_t size,
                                                    double& number) {
  const __m128i loaded = load_digits(end, size);
  const __m128i dots = _mm_cmpeq_epi8(loaded, _mm_set1_epi8('.' - '0'));
  const auto dot = static_cast<unsigned>(_mm_movemask_epi8(dots));
  // One dot and a digit, and nothing else.
  if (other_than_digits(loaded) != dot || (dot & (dot - 1)) != 0 || (dot != 0 && size == 1)) {
    return false;
  }
  const auto at = static_cast<std::size_t>(std::countr_zero(dot | 0x10000U));
  const __m128i shuffle =
      _mm_load_si128(reinterpret_cast<const __m128i*>(number_tables.without[at]));
  const std::uint64_t whole = number_of_digits(_mm_shuffle_epi8(loaded, shuffle));
  number = static_cast<double>(whole) / number_tables.powers[at];
  return whole < (std::uint64_t{1} << 53);
}

[[gnu::always_inline]] inline bool parse_real(const char* text, std::size_t size,
                                              std::size_t readable, double& number) {
  const bool negative = size > 1 && *text == '-';
  const std::size_t digits = size - (negative ? 1 : 0);
  if (digits - 1 < number_bytes && readable >= number_bytes) [[likely]] {
    double magnitude = 0;
    if (parse_plain_real(text + size, digits, magnitude)) [[likely]] {
      number = negative ? -magnitude : magnitude;
      return true;
    }
  }
  return size != 0 && parse_by_library(text, size, number);
}

}  // namespace hummer::formats
