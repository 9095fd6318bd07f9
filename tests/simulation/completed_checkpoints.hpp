// CompletedCheckpoints: the checkpoints that were seen complete on a simulated disk, and how many
// of them are of which sort, so that a run can tell what it has tried.
//
// It reads the disk from outside (docs/checkpoint_format.md): no time passes, nothing can fail.
//
// Thread: that of the simulation.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "platform/simulation.hpp"

namespace hummer::cluster_simulation {

class CompletedCheckpoints {
 public:
  // The paths, below `directory`, of those that have been completed since the last look.
  std::vector<std::string> look(const SimulatedPlatform& node, const std::string& directory);

  std::uint64_t count() const { return seen_.size(); }
  // Some of whose pieces are deltas.
  std::uint64_t with_deltas() const { return with_deltas_; }
  std::uint64_t with_records_in_flight() const { return with_records_in_flight_; }

 private:
  std::set<std::string> seen_;
  std::uint64_t with_deltas_ = 0;
  std::uint64_t with_records_in_flight_ = 0;
};

}  // namespace hummer::cluster_simulation
