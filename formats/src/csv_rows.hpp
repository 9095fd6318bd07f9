// rows_of: a text of CSV as fields, for looking at it; records go through CsvDecoder.
//
// Thread: a function without state. Cost: some allocations per row.
#pragma once

#include <string_view>
#include <vector>

namespace hummer::formats {

struct CsvField {
  std::string_view text;  // without its quotes; those in it are still doubled
  bool quoted = false;
};
using CsvRow = std::vector<CsvField>;

// Without empty lines. `whole`: else the last row may be cut, and is left out.
std::vector<CsvRow> rows_of(std::string_view text, bool whole, char separator);

}  // namespace hummer::formats
