// ClusterSimulation: a whole cluster in one thread: the real JobManager, three real TaskManagers
// with real jobs, a client and an observer, under virtual time and a schedule of faults.
//
//   Report report = simulate_cluster({.seed = 42});
//   if (!report.violations.empty()) ...
//
// The seed draws what the person at the client submits and when (submission_plan.hpp), which
// faults strike (fault_schedule.hpp), and every step's order. Faults end at 40 s; then every node
// runs and all connections work, and the cluster has to run_until_stable: history.hpp says what
// that means, and what must hold at any time. A run lasts at least 60 virtual seconds.
//
// A killed process: its node is frozen at once; its objects are destroyed at once or only when it
// is started again (drawn), which must do nothing that SIGKILL would not have let happen.
//
// Thread: one, whichever it is.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "simulation/fault_schedule.hpp"
#include "simulation/history.hpp"
#include "simulation/seed_report.hpp"

namespace hummer::cluster_simulation {

struct Report {
  std::uint64_t seed = 0;
  std::vector<std::string> violations;
  FaultTotals faults;
  int faults_happened = 0;  // entries of the schedule that had an effect
  Nanoseconds virtual_ns = 0;
  std::uint64_t steps = 0;
  std::uint64_t trace_hash = 0;
  std::map<wire::JobState, std::uint64_t> jobs;  // by the state in which they ended
};

Report simulate_cluster(RunOptions options);

}  // namespace hummer::cluster_simulation
