// `list [--json]`: the jobs that a JobManager knows, newest first.
#pragma once

#include "cli/command.hpp"

namespace hummer {

int run_list(const Invocation& invocation);

}  // namespace hummer
