// `hummer batch teragen`, `terasort` and `teravalidate`.
#pragma once

#include "cli/command.hpp"

namespace hummer {

int run_tera_generate(const Invocation& invocation);
int run_tera_sort(const Invocation& invocation);
int run_tera_validate(const Invocation& invocation);

}  // namespace hummer
