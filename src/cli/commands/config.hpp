// `config show [PROGRAM] [--json] [options]`: what the options are, and where each value comes
// from.
#pragma once

#include "cli/command.hpp"

namespace hummer {

int run_config(const Invocation& invocation);

}  // namespace hummer
