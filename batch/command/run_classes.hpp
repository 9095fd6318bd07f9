// `hummer batch run`: a job of classes by their names, or of programs.
#pragma once

#include "cli/command.hpp"

namespace hummer {

int run_classes(const Invocation& invocation);

}  // namespace hummer
