// `taskmanager`: a process that runs parts of jobs in its slots.
#pragma once

#include "cli/command.hpp"

namespace hummer {

int run_task_manager(const Invocation& invocation);

}  // namespace hummer
