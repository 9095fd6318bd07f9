// CSV: records as lines of fields, by RFC 4180 and its dialects.
//
//   struct Trade { std::string_view symbol; double price; std::int64_t size; };
//   auto trades = hummer::formats::from_csv<Trade>(env, "trades.csv");
//   hummer::formats::write_csv(trades, "copy.csv");
//
// With a header (the default) columns are found by name, in any order; those that no field has are
// passed over. A column that is missing fails the job, unless the field is a std::optional.
// Without a header columns are the fields in their order, or those that `columns` names.
//
// Fields: numbers as std::from_chars reads them; bool as true, false, 1, 0; text as it is, or in
// quotes, doubled inside of them. Nothing is trimmed. A std::optional is empty where the field is
// (and not in quotes), or is `null_text`. Lines end with "\n" or "\r\n"; empty ones are passed
// over.
//
// Bad records: another number of fields than the header has, a field that is not of its kind, a
// quote in a field that does not begin with one, or text behind a closing quote.
//
// Line ends in quotes. A file is cut into splits at line ends, and a split can't tell whether it
// begins inside of quotes. So CsvOptions::line_breaks says what files have:
//
//   refused   none is expected, and the first one that is met fails the job, whatever its failure
//             policy: records behind it might be parts of a text
//   quoted    some: each file is one split, cut at line ends outside of quotes
//   never     there are none, the author knows: a quote that is open at a line's end is a bad
//             record
//
// Cost: bench/formats/run measures it; nothing is allocated per record but by long std::strings.
// Separators, quotes and line ends are found 64 bytes at a time (formats/src/csv_index.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <hummer/connectors.hpp>
#include <hummer/environment.hpp>
#include <hummer/formats/format.hpp>
#include <hummer/formats/streams.hpp>
#include <hummer/formats/times.hpp>

namespace hummer::formats {

struct CsvOptions {
  enum class LineBreaks : std::uint8_t { refused, quoted, never };

  bool header = true;
  char separator = ',';
  char quote = '"';  // 0: none, a quote is text
  LineBreaks line_breaks = LineBreaks::refused;
  std::vector<std::string> columns = {};  // without a header: what each is called
  std::string null_text = {};             // of an empty std::optional; in quotes it is text
  bool refuse_unknown_columns = false;    // of a header
  TimeFields times = {};                  // how they are written (hummer/formats/times.hpp)
};

std::shared_ptr<const Format> csv(CsvOptions options = {});

// How a file of this dialect is read: from_file(path, csv_file(options)) with decode.
FileSourceOptions csv_file(const CsvOptions& options, FileSourceOptions file = {});

template <typename T>
DataStream<T> from_csv(StreamExecutionEnvironment& env, const std::string& path,
                       const CsvOptions& options = {}, const FileSourceOptions& file = {}) {
  return decode<T>(env.from_file(path, csv_file(options, file)), csv(options));
}

template <typename T>
DataStream<FormattedText> write_csv(const DataStream<T>& records, const std::string& path,
                                    const CsvOptions& options = {}) {
  return write(records, path, csv(options));
}

}  // namespace hummer::formats
