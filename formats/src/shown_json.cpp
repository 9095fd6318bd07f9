#include "shown_json.hpp"

#include <algorithm>

#include "calendar.hpp"
#include "schema_text.hpp"
#include "utf8.hpp"

namespace hummer::formats {
namespace {

constexpr std::int64_t seconds_of_day = 86'400;

std::int64_t units_of_second(std::size_t digits) {
  std::int64_t units = 1;
  for (; digits > 0; --digits) units *= 10;
  return units;
}

void append_plain_date(const Date& date, std::string& to) {
  append_padded(date.year, 4, to);
  to += '-';
  append_padded(date.month, 2, to);
  to += '-';
  append_padded(date.day, 2, to);
}

// REQUIRES: 0 <= of_day
void append_plain_time(std::int64_t of_day, std::size_t digits, std::string& to) {
  const std::int64_t units = units_of_second(digits);
  const std::int64_t seconds = of_day / units;
  append_padded(seconds / 3600, 2, to);
  to += ':';
  append_padded(seconds / 60 % 60, 2, to);
  to += ':';
  append_padded(seconds % 60, 2, to);
  if (digits == 0) return;
  to += '.';
  append_padded(of_day % units, digits, to);
}

bool has_year_of_four_digits(const Date& date) { return date.year >= 0 && date.year <= 9999; }

}  // namespace

void append_shown_text(std::string_view text, std::string& to) {
  if (is_utf8(text)) return append_quoted(text, to);
  std::string whole;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    whole += length == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  append_quoted(whole, to);
}

void append_shown_bytes(std::string_view bytes, std::string& to) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) text += static_cast<char>(0xC0 | byte >> 6);
    text += static_cast<char>(byte < 0x80 ? byte : 0x80 | (byte & 0x3F));
  }
  append_quoted(text, to);
}

void append_shown_date(std::int64_t days, std::string& to) {
  const Date date = date_from_days(days);
  if (!has_year_of_four_digits(date)) return append_number(days, to);
  to += '"';
  append_plain_date(date, to);
  to += '"';
}

void append_shown_time(std::int64_t of_day, std::size_t digits, std::string& to) {
  if (of_day < 0 || of_day / units_of_second(digits) >= seconds_of_day) {
    return append_number(of_day, to);
  }
  to += '"';
  append_plain_time(of_day, digits, to);
  to += '"';
}

void append_shown_moment(std::int64_t moment, std::size_t digits, bool utc, std::string& to) {
  const std::int64_t day = seconds_of_day * units_of_second(digits);
  const std::int64_t days = moment / day - (moment % day < 0 ? 1 : 0);
  const Date date = date_from_days(days);
  if (!has_year_of_four_digits(date)) return append_number(moment, to);
  to += '"';
  append_plain_date(date, to);
  to += 'T';
  append_plain_time(moment - days * day, digits, to);
  to += utc ? "Z\"" : "\"";
}

}  // namespace hummer::formats
