// What the exit codes of all commands and job programs mean: the one table, shown by `hummer
// --help` and written to docs/exit_codes.md.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hummer {

struct ExitCode {
  int code;
  std::string_view short_form;
  std::string_view meaning;
};

std::span<const ExitCode> exit_codes();

// "Exit code: 0 success, 1 failure, ..."
std::string exit_codes_line();
// The reference page.
std::string exit_codes_page();

}  // namespace hummer
