// `local`: a JobManager and its TaskManagers in one process, for development.
#pragma once

#include "cli/command.hpp"

namespace hummer {

int run_local(const Invocation& invocation);

}  // namespace hummer
