// `submit [LIBRARY] [--name VALUE]...`: a job for a cluster.
#pragma once

#include "cli/command.hpp"

namespace hummer {

int run_submit(const Invocation& invocation);

}  // namespace hummer
