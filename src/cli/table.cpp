#include "cli/table.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstdint>

namespace hummer {
namespace {

// What the terminal shows of it: UTF-8 continuation bytes take no column.
std::size_t width_of(const std::string& cell) {
  return static_cast<std::size_t>(
      std::count_if(cell.begin(), cell.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string on_one_line(std::string cell) {
  for (char& c : cell) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return cell;
}

}  // namespace

std::string Table::text(bool aligned) const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += on_one_line(row[i]);
      if (i + 1 == row.size()) break;
      text += aligned ? std::string(widths[i] - width_of(row[i]) + 2, ' ') : "\t";
    }
    text += "\n";
  }
  return text;
}

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

std::string format_duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(seconds);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

}  // namespace hummer
