// `hummer run LIBRARY [--name VALUE]...`: a job library, embedded in this process.
#pragma once

#include "cli/command.hpp"

namespace hummer {

int run_run(const Invocation& invocation);

}  // namespace hummer
