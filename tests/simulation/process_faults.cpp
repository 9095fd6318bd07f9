#include "simulation/process_faults.hpp"

#include <algorithm>

namespace hummer::cluster_simulation {
namespace {

constexpr std::uint64_t faults_most = 6;

ProcessFaultKind draw_death_kind(Random& random) {
  return static_cast<ProcessFaultKind>(random.below(4));
}

}  // namespace

std::string_view to_string(ProcessFaultKind kind) {
  switch (kind) {
    case ProcessFaultKind::death: return "death";
    case ProcessFaultKind::death_at_the_disk: return "death at the disk";
    case ProcessFaultKind::power_cut: return "power cut";
    case ProcessFaultKind::power_cut_at_the_disk: return "power cut at the disk";
    case ProcessFaultKind::failing_disk: return "failing disk";
    case ProcessFaultKind::full_disk: return "full disk";
    case ProcessFaultKind::slow_disk: return "slow disk";
    case ProcessFaultKind::clock_pause: return "clock pause";
  }
  return "?";
}

bool is_death(ProcessFaultKind kind) { return kind <= ProcessFaultKind::power_cut_at_the_disk; }

std::vector<ProcessFault> draw_process_faults(Random& random, Nanoseconds begin, Nanoseconds end) {
  std::vector<ProcessFault> faults(2 + random.below(faults_most - 1));
  const Nanoseconds stretch = (end - begin) / static_cast<Nanoseconds>(faults.size());
  for (std::size_t i = 0; i < faults.size(); ++i) {
    ProcessFault& fault = faults[i];
    fault.kind = random.chance(0.5)
                     ? draw_death_kind(random)
                     : static_cast<ProcessFaultKind>(random.below(process_fault_kinds));
    fault.begin = begin + static_cast<Nanoseconds>(i) * stretch + random.between(0, stretch / 2);
    fault.duration = random.between(milliseconds(50), stretch / 2);
    // Short and long distances alike: the logarithm is uniform.
    fault.steps_later = random.below(std::uint64_t{1} << random.below(12));
  }
  if (!is_death(faults.front().kind)) faults.front().kind = draw_death_kind(random);
  return faults;
}

}  // namespace hummer::cluster_simulation
