// `status JOB [--json] [--watch] [--explain]`: one job.
#pragma once

#include "cli/command.hpp"

namespace hummer {

int run_status(const Invocation& invocation);

}  // namespace hummer
