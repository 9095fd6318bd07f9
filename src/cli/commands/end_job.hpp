// `cancel JOB` and `stop JOB`.
#pragma once

#include "cli/command.hpp"

namespace hummer {

// As soon as every task has noticed.
int run_cancel(const Invocation& invocation);
// Sources end, what is under way is finished.
int run_stop(const Invocation& invocation);

}  // namespace hummer
