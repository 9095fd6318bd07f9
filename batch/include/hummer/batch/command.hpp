// run_batch: the command `hummer batch`, for the program's table of commands. Authors of jobs do
// not need it.
#pragma once

namespace hummer {

struct Invocation;  // cli/command.hpp

int run_batch(const Invocation& invocation);

}  // namespace hummer
