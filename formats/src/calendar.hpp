// Days and dates of the Gregorian calendar, before 1582 too, and numbers with zeros ahead.
//
// Thread: functions without state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hummer::formats {

// Days since 1970 in the Gregorian calendar, counted in eras of 400 years that begin in March.
inline std::int64_t days_from_date(std::int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
         719'468;
}

struct Date {
  std::int64_t year = 0;
  int month = 0;
  int day = 0;
};

inline Date date_from_days(std::int64_t days) {
  days += 719'468;
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const std::int64_t day_of_era = days - era * 146'097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted = (5 * day_of_year + 2) / 153;
  const int month = static_cast<int>(shifted < 10 ? shifted + 3 : shifted - 9);
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month,
          static_cast<int>(day_of_year - (153 * shifted + 2) / 5 + 1)};
}

inline void append_padded(std::int64_t number, std::size_t width, std::string& text,
                          char pad = '0') {
  const std::string digits = std::to_string(number);
  if (digits.size() < width) text.append(width - digits.size(), pad);
  text += digits;
}

}  // namespace hummer::formats
