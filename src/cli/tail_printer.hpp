// TailPrinter: lines and records of sources as `hummer tail` says them: as they are, as rows of a
// table, or as an object each.
//
//   TailPrinter printer(platform, json, reader.get());
//   printer.begin("a.csv", first_bytes);  printer.line("1,2");  …
//   printer.flush();
//
//   printer.begin("b.avro", "", false);  printer.record("{\"x\":1}");  …
//
// A line that is no row is said on standard error, and counted, and so is a bad record. When nobody
// reads standard output any more, closed() says so.
//
// Thread: the main thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/row_reader.hpp"
#include "cli/table.hpp"
#include "platform/platform.hpp"

namespace hummer {

class TailPrinter {
 public:
  // `reader` may be null: lines are said as they are.
  TailPrinter(Platform& platform, bool json, RowReader* reader)
      : platform_(platform), json_(json), reader_(reader) {}

  // `named`: of several sources, so that each is said to be one.
  Status begin(const std::string& source, std::string_view first_bytes, bool named);
  void line(std::string_view text, bool is_first = false);
  // Of a source that is no lines: as JSON on one line.
  void record(std::string_view json);
  void bad(std::string_view why);
  void flush();

  std::size_t bad_lines() const { return bad_lines_; }  // and records
  bool closed() const { return closed_; }

 private:
  void say(std::string_view text);
  void say_object(std::string_view text, const std::vector<std::string>* cells);

  Platform& platform_;
  const bool json_;
  RowReader* const reader_;
  std::string source_;
  std::string record_head_;  // of an object, up to its row
  std::optional<Table> table_;
  std::string records_;  // those that are to be said together
  std::size_t bad_lines_ = 0;
  bool closed_ = false;
};

}  // namespace hummer
