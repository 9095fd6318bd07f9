// What the system leaves a process of memory: the limits of its cgroups and of those around them,
// else the machine's memory. (Linux form only.)
#pragma once

#include <string>

#include "platform/platform.hpp"

namespace hummer {

// `root`: below which /proc and /sys are looked for; tests have their own.
MemoryGiven linux_memory_given(const std::string& root = "");

}  // namespace hummer
