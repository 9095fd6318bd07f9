// CommittedOutput: what the two-phase file sinks of a StatefulJob have made visible, watched while
// the job runs and compared with what it must be in the end.
//
//   no loss, no duplicate   each record, timer, window and line of an input file is there once
//   order                   of a key: its records by their number, its windows and sessions by
//                           their ends, its lines of a split by their number; of a file, which one
//                           subtask has written, and of a key: the timers by their time
//   state                   sums, counts, windows, sessions, groups and pairs are those of plain
//                           loops over the input
//   it only grows           a file that was visible stays, with the same bytes
//
// A power cut between the rename that makes a file visible and the sync of its name takes it back:
// one file at most, which comes again with the same bytes.
//
// Files are read in order of their epochs. Thread: that of the simulation.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "platform/simulation.hpp"
#include "simulation/stateful_job.hpp"

namespace hummer::cluster_simulation {

class CommittedOutput {
 public:
  enum class Look { sizes, bytes };
  // Empty, or how the visible files of `directory` are not those seen earlier and more. Look::sizes
  // costs less.
  std::string look(const SimulatedPlatform& node, const std::string& directory, Look how);
  // Right after a power cut, and a look at what was visible before it.
  std::string look_after_power_cut(const SimulatedPlatform& node, const std::string& directory);
  // How they differ from what they must be when the job has ended. The first few ways.
  std::vector<std::string> check_end(const SimulatedPlatform& node, const std::string& directory,
                                     const Workload& workload);
  // Input records that were found again by check_end.
  std::uint64_t records_checked() const { return records_checked_; }
  std::size_t files_seen() const { return seen_.size(); }

 private:
  struct Seen {
    std::size_t size_bytes = 0;
    std::uint64_t hash = 0;
    bool taken_back = false;
  };
  std::map<std::string, Seen> seen_;  // by path below the directory
  std::uint64_t records_checked_ = 0;
};

}  // namespace hummer::cluster_simulation
