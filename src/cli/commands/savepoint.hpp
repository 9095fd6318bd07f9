// savepoint: saves a running job's state where nothing but its owner removes it.
#pragma once

#include "cli/command.hpp"

namespace hummer {

int run_savepoint(const Invocation& invocation);

}  // namespace hummer
