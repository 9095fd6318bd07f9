// StatefulCluster: a StatefulJob on a simulated cluster (a JobManager, three TaskManagers, a
// client, one disk that all of them see) whose TaskManagers and client die, are cut off and go on
// running, stand still, and lose, repeat and delay messages, and whose disk fails.
//
//   SeedReport report = simulate_stateful_cluster({.seed = 42});
//
// The job must finish in spite of all that, with the output of a run without faults, and leave no
// attempt behind.
//
// Thread: one, whichever it is.
#pragma once

#include "simulation/seed_report.hpp"

namespace hummer::cluster_simulation {

SeedReport simulate_stateful_cluster(RunOptions options);

}  // namespace hummer::cluster_simulation
