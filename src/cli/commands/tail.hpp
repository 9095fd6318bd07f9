// `hummer tail SOURCE`: the last lines of a source, and those that come.
#pragma once

#include <span>

#include "cli/command.hpp"
#include "cli/row_reader.hpp"

namespace hummer {

// `formats`: what --format may name, beside `lines`.
int run_tail(const Invocation& invocation, std::span<const RowFormat> formats);

}  // namespace hummer
