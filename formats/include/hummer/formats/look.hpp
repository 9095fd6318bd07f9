// Lines as rows, for people who look at a text: behind `hummer tail --format`.
//
//   Result<CsvLook> look = CsvLook::at(first_bytes);      // the dialect, as infer_csv finds it
//   look->columns()                                       // "symbol", "price", …
//   look->cells("a,1.5")                                  // of one line
//   why_no_json_object(line)                              // empty: it is one
//
// A row with line ends in quotes is none of one line, and an error. why_no_json_object needs
// simdjson, as json() does.
//
// Thread: any. Errors: invalid_argument, for a text without a row and for a line that is no row of
// it. Cost: some allocations per line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hummer/formats/infer.hpp>

namespace hummer::formats {

class CsvLook {
 public:
  static Result<CsvLook> at(std::string_view first_bytes);

  const std::vector<std::string>& columns() const { return columns_; }
  bool has_header() const { return has_header_; }
  Result<std::vector<std::string>> cells(std::string_view line) const;

 private:
  char separator_ = ',';
  bool has_header_ = true;
  std::vector<std::string> columns_;
};

// Empty where the line is one; else why not.
std::string why_no_json_object(std::string_view line);

}  // namespace hummer::formats
