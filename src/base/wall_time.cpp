#include "base/wall_time.hpp"

#include <fmt/format.h>

namespace hummer {

std::string format_wall_time(std::int64_t milliseconds) {
  if (milliseconds <= 0) return "-";
  const std::int64_t seconds = milliseconds / 1000;
  // Days since 0000-03-01, so that leap days end a year (H. Hinnant, "chrono-Compatible Low-Level
  // Date Algorithms").
  const std::int64_t days = seconds / 86400 + 719468;
  const std::int64_t era = days / 146097;
  const std::int64_t day_of_era = days % 146097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const std::int64_t day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
  const std::int64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  const std::int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  const std::int64_t of_day = seconds % 86400;
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", year, month, day, of_day / 3600,
                     of_day / 60 % 60, of_day % 60);
}

}  // namespace hummer
