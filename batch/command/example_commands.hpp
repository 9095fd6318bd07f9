// `hummer batch wordcount`, `grep` and `join`.
#pragma once

#include "cli/command.hpp"

namespace hummer {

int run_word_count(const Invocation& invocation);
int run_grep(const Invocation& invocation);
int run_join(const Invocation& invocation);

}  // namespace hummer
