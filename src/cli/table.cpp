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

std::string format_duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(seconds);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

}  // namespace hummer
