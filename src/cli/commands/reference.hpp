// `reference PAGE`: the reference pages that are written from the code's own tables.
#pragma once

#include "cli/command.hpp"

namespace hummer {

int run_reference(const Invocation& invocation);

}  // namespace hummer
