// ProcessFaults: what strikes a single process and its disk while it runs a job with checkpoints,
// drawn from the seed.
//
// A fault counts when it had an effect: a write really failed, a node really stood still while it
// had something to do.
//
// Thread: that of the simulation.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "platform/random.hpp"
#include "platform/time.hpp"

namespace hummer::cluster_simulation {

enum class ProcessFaultKind : std::uint8_t {
  death,              // between two awaits
  death_at_the_disk,  // between two operations of the disk
  power_cut,          // and the disk keeps what was synced, the rest torn
  power_cut_at_the_disk,
  failing_disk,
  full_disk,
  slow_disk,
  clock_pause,
};
inline constexpr std::size_t process_fault_kinds = 8;
std::string_view to_string(ProcessFaultKind kind);
bool is_death(ProcessFaultKind kind);

struct ProcessFault {
  ProcessFaultKind kind = ProcessFaultKind::death;
  Nanoseconds begin = 0;
  Nanoseconds duration = 0;       // of a death: until it is started again
  std::uint64_t steps_later = 0;  // of a death, or operations of the disk
};

// In order of `begin`, not overlapping; the first is a death. All within [begin, end).
std::vector<ProcessFault> draw_process_faults(Random& random, Nanoseconds begin, Nanoseconds end);

}  // namespace hummer::cluster_simulation
