// SeedReport: what one simulated run tells, in words that a runner of many can add up.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "platform/time.hpp"

namespace hummer::cluster_simulation {

struct RunOptions {
  std::uint64_t seed = 1;
  bool verbose = false;  // what happens, to standard error
};

struct SeedReport {
  std::uint64_t seed = 0;
  std::vector<std::string> violations;
  Nanoseconds virtual_ns = 0;
  std::uint64_t steps = 0;
  std::uint64_t trace_hash = 0;
  std::map<std::string, std::uint64_t> totals;  // added up over all seeds, by name
  std::map<std::string, std::uint64_t> least;   // the least of all seeds is told
};

}  // namespace hummer::cluster_simulation
