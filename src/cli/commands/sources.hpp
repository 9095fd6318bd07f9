// `hummer sources`: what can be read, with an example of each, and what is not in this build.
#pragma once

#include <span>

#include "cli/command.hpp"

namespace hummer {

// A kind of source or format, for the list.
struct SourceKind {
  std::string_view kind;     // "source" or "format"
  std::string_view name;     // "file"
  std::string_view example;  // an address, or a call
  std::string_view note;
  bool here = true;
  std::string_view install = {};  // where it is not here
};

// `formats`: those that the program is built with, and those that it lacks.
int run_sources(const Invocation& invocation, std::span<const SourceKind> formats);

}  // namespace hummer
