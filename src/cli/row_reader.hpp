// RowReader: what `hummer tail --format NAME` makes of lines; the program hands in those of the
// formats that it is built with (hummer_main.cpp).
//
// A text is begun with its first bytes, which say what its columns are; then each of its lines is
// cut into cells, or, where there are no columns, only checked.
//
// Thread: one. Errors: invalid_argument, with what is wrong with the text or the line.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/status.hpp>

namespace hummer {

class RowReader {
 public:
  virtual ~RowReader() = default;
  virtual Status begin(std::string_view first_bytes) = 0;
  virtual const std::vector<std::string>& columns() const = 0;
  // Whether the first line of a text is its header, and no row.
  virtual bool has_header() const = 0;
  virtual Result<std::vector<std::string>> cells(std::string_view line) const = 0;
};

struct RowFormat {
  std::string_view name;
  std::unique_ptr<RowReader> (*make)();
};

}  // namespace hummer
