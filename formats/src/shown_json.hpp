// Values as JSON as `hummer tail` shows them: on one line, for people and for jq.
//
//   append_shown_text("a\"b", to)                    // "a\"b"
//   append_shown_moment(us, 6, true, to)             // "2026-11-26T11:20:05.000123Z"
//
// What is no UTF-8 in a text is U+FFFD there. Reals are as short as they may be; those that JSON
// has no number for are "NaN", "Infinity" and "-Infinity", as Protobuf has it.
//
// Thread: functions without state.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "value_text.hpp"

namespace hummer::formats {

// A record that would be longer is bad: a few bytes may say that there is a great deal of nothing.
inline constexpr std::size_t largest_shown_record = 64 << 20;
inline constexpr int deepest_shown_value = 256;

void append_shown_text(std::string_view text, std::string& to);
// Each byte as the character of its number: U+0000 to U+00FF.
void append_shown_bytes(std::string_view bytes, std::string& to);

// What is no date, or no time of a day, is the number.
void append_shown_date(std::int64_t days, std::string& to);
void append_shown_time(std::int64_t of_day, std::size_t digits, std::string& to);

// A time since 1970 in units of which 10 to the `digits` make a second, as RFC 3339 has it, with
// the Z of UTC or without; of years that are not 0 to 9999: the number.
void append_shown_moment(std::int64_t moment, std::size_t digits, bool utc, std::string& to);

template <typename Real>
void append_shown_real(Real real, std::string& to) {
  if (std::isfinite(real)) return append_number(real, to);
  to += std::isnan(real) ? "\"NaN\"" : real > 0 ? "\"Infinity\"" : "\"-Infinity\"";
}

}  // namespace hummer::formats
