// `new NAME [--directory D]`: a project for a job, with tests.
#pragma once

#include "cli/command.hpp"

namespace hummer {

int run_new(const Invocation& invocation);

}  // namespace hummer
