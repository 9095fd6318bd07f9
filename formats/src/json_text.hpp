// What both ways through JSON lines share (json_decoder.hpp): keys, texts without escapes and plain
// numbers, by their bytes, 16 at a time.
//
// Each says false, or null, where the bytes are anything but the plain case; then nothing is known
// of them, and simdjson decides.
//
// Thread: functions without state.
#pragma once

#include <bit>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <smmintrin.h>

#include <hummer/formats/record_shape.hpp>

#include "number_text.hpp"

namespace hummer::formats {

// REQUIRES: 16 bytes that may be read at `key`, such as what is behind a line.
[[gnu::always_inline]] inline bool is_key(const char* key, const FieldShape& field) {
  if (field.quoted_mask[0] == 0) return false;
  const auto load = [](const void* at) { return _mm_loadu_si128(static_cast<const __m128i*>(at)); };
  const __m128i other = _mm_xor_si128(load(key), load(field.quoted.data()));
  return _mm_testz_si128(other, load(field.quoted_mask.data())) != 0;
}

// The text up to its quote; null where an escape comes first. REQUIRES: there is a quote behind it,
// and 16 bytes that may be read behind that.
[[gnu::always_inline]] inline const char* find_close(const char* text) {
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i escape = _mm_set1_epi8('\\');
  for (;; text += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
    const auto quotes = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, quote)));
    const auto escapes = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, escape)));
    if ((quotes | escapes) == 0) continue;
    const int first = std::countr_zero(quotes | escapes);
    return (quotes >> first & 1) != 0 ? text + first : nullptr;
  }
}

// A real number of any length by JSON's grammar, rounded to the nearest; false also where it is too
// large or too small for a double.
inline bool parse_json_real(const char* begin, const char* end, double& number) {
  const char* at = begin;
  const auto digits = [&] {
    const char* const first = at;
    while (at != end && static_cast<unsigned char>(*at - '0') <= 9) ++at;
    return at != first;
  };
  if (at != end && *at == '-') ++at;
  const char* const whole = at;
  if (!digits() || (*whole == '0' && at != whole + 1)) return false;
  if (at != end && *at == '.' && (++at, !digits())) return false;
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at != end && (*at == '+' || *at == '-')) ++at;
    if (!digits()) return false;
  }
  if (at != end) return false;
  return parse_by_library(begin, static_cast<std::size_t>(end - begin), number);
}

// What is from a token to the next one, as a number. `readable_from`: from here on bytes may be
// read.
template <typename Number>
[[gnu::always_inline]] inline bool parse_token(const char* begin, const char* end,
                                               const char* readable_from, Number& number) {
  while (end > begin && static_cast<unsigned char>(end[-1]) <= ' ') --end;
  const char* const first = begin + (*begin == '-' ? 1 : 0);
  const auto is_digit = [](char c) { return static_cast<unsigned char>(c - '0') <= 9; };
  // Numbers of JSON begin with one zero or with none, and end with a digit.
  if (first >= end || !is_digit(*first) || !is_digit(end[-1])) return false;
  if (*first == '0' && first + 1 != end && first[1] != '.') return false;
  const auto readable = static_cast<std::size_t>(end - readable_from);
  if constexpr (std::is_floating_point_v<Number>) {
    const auto digits = static_cast<std::size_t>(end - first);
    double magnitude = 0;
    if (digits <= number_bytes && readable >= number_bytes &&
        parse_plain_real(end, digits, magnitude)) [[likely]] {
      number = first == begin ? magnitude : -magnitude;
      return true;
    }
    return parse_json_real(begin, end, number);
  } else {
    return parse_integer(begin, static_cast<std::size_t>(end - begin), readable, number);
  }
}

}  // namespace hummer::formats
