// `logs JOB [--follow]`: what a job has said.
#pragma once

#include "cli/command.hpp"

namespace hummer {

int run_logs(const Invocation& invocation);

}  // namespace hummer
