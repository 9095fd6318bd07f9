// `taskmanagers [--json]`: the workers of a cluster.
#pragma once

#include "cli/command.hpp"

namespace hummer {

int run_task_managers(const Invocation& invocation);

}  // namespace hummer
