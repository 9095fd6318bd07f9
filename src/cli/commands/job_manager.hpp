// `jobmanager`: the process that knows a cluster and its jobs.
#pragma once

#include "cli/command.hpp"

namespace hummer {

int run_job_manager(const Invocation& invocation);

}  // namespace hummer
