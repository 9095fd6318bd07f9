#include "platform/memory_limit.hpp"

#include <fmt/format.h>
#include <hummer/detail/memory_account.hpp>

namespace hummer {

MemoryLimit effective_memory_limit(const Platform& platform, std::size_t option_bytes) {
  if (option_bytes != memory_limit_from_environment) return {option_bytes, {}};
  const MemoryGiven given = platform.memory_given();
  if (given.bytes == 0) return {};
  return {given.bytes / 2, fmt::format("half of {} MiB, {}", given.bytes >> 20, given.source)};
}

}  // namespace hummer
