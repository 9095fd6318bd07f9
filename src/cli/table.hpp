// Table: rows of text for people or for programs.
//
// On a terminal: columns in line, under their names. Elsewhere, or when asked for: tab-separated
// with a line of names, in which tabs and line ends inside a cell are blanks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/wall_time.hpp"

namespace hummer {

class Table {
 public:
  explicit Table(std::vector<std::string> columns) : rows_{std::move(columns)} {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string text(bool aligned) const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the first: the columns' names
};

// "12.3 s", "4 min 5 s", "2 h 3 min"
std::string format_duration(double seconds);

}  // namespace hummer
