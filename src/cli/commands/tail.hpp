// `hummer tail SOURCE`: the last lines or records of a source, and those that come.
#pragma once

#include <span>

#include "cli/command.hpp"
#include "cli/record_reader.hpp"
#include "cli/row_reader.hpp"

namespace hummer {

// What --format may name, beside `lines`.
struct TailFormats {
  std::span<const RowFormat> rows = {};
  std::span<const RecordFormat> records = {};
};

int run_tail(const Invocation& invocation, const TailFormats& formats);

}  // namespace hummer
