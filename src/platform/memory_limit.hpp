// MemoryLimit: what jobs of this process may hold in memory, and where that comes from.
//
// Given as an option, or half of what the process's surroundings leave it (Platform::memory_given):
// the limit of its cgroup, else the machine's memory. The other half is for what is not counted:
// code, stacks, the user's own objects, what is on its way to disk, and other processes.
// docs/memory.md is its manual.
//
// A value. Thread: any.
#pragma once

#include <cstddef>
#include <string>

#include "platform/platform.hpp"

namespace hummer {

struct MemoryLimit {
  std::size_t bytes = 0;  // 0: none
  std::string from;       // "half of 8 GiB, /sys/fs/cgroup/memory.max"; empty: the option

  bool somebody_chose() const { return bytes > 0 && from.empty(); }
};

// `option_bytes`: what the option says; memory_limit_from_environment where nobody gave it.
MemoryLimit effective_memory_limit(const Platform& platform, std::size_t option_bytes);

}  // namespace hummer
