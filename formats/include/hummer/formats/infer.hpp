// infer_csv: the record type that fits a CSV file, from its first rows; behind `hummer infer`.
//
//   const Result<InferredCsv> found = infer_csv(text, true);
//   to_cpp(*found, "Trade", "trades.csv");         // the struct, and the call that reads the file
//
// The separator is the one of , ; TAB | by which most rows have as many fields as the first one
// has, and more than one. The first row is a header when its fields are all there, differ, and are
// no numbers. A column is of the narrowest of bool, std::int64_t, std::uint64_t, double and text
// that all its fields are; one with empty fields is a std::optional.
//
// What is not looked at may not fit: the numbers of rows looked at, and of those that have another
// number of fields, are in the answer.
//
// Thread: any. Errors: invalid_argument for a text without a row. Cost: linear in the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/formats/csv.hpp>
#include <hummer/status.hpp>

namespace hummer::formats {

struct InferredColumn {
  std::string column;  // in the file; empty where it has no header
  std::string field;   // in C++
  ValueKind kind = ValueKind::string;
  bool optional = false;
};

struct InferredCsv {
  CsvOptions options;
  std::vector<InferredColumn> columns;
  std::size_t rows = 0;
  std::size_t odd_rows = 0;  // of another number of fields
};

// `whole`: else the last row may be cut, and is left out.
Result<InferredCsv> infer_csv(std::string_view text, bool whole);

std::string to_cpp(const InferredCsv& found, std::string_view record, std::string_view path);

}  // namespace hummer::formats
