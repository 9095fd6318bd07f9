// The part of `hummer tail` that is of files: the last lines or records of each, and those that
// come.
//
//   Tail tail{.platform = platform, .source = "logs/", .printer = printer};
//   return tail_files(tail);                               // the exit code
//
// Thread: the main thread.
#pragma once

#include <cstdint>
#include <string>

#include "cli/command.hpp"
#include "cli/record_reader.hpp"
#include "cli/tail_printer.hpp"

namespace hummer {

struct Tail {
  Platform& platform;
  std::string source;
  std::uint64_t lines = 10;
  bool follow = false;
  TailPrinter& printer;
  RecordChoice records = {};  // which files are no lines
};

int tail_files(Tail& tail);

// The exit code of what was printed.
int finish_tail(Tail& tail);
// Says a failure of one source.
int report_source(Tail& tail, const std::string& source, const Status& status);

}  // namespace hummer
