// How many schedules a test draws, and from which seed on: SOUND_SCHEDULES and SOUND_FIRST_SEED,
// for those that have more time than a test run (bench/acceptance/sound). Only tests include this.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace hummer {

inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// `schedule(seed)` for each.
template <typename Schedule>
void for_each_seed(std::uint64_t usual_count, Schedule&& schedule) {
  const std::uint64_t first = number_from_environment("SOUND_FIRST_SEED", 1);
  const std::uint64_t count = number_from_environment("SOUND_SCHEDULES", usual_count);
  for (std::uint64_t seed = first; seed < first + count; ++seed) schedule(seed);
}

}  // namespace hummer
