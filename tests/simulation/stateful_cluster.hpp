// StatefulCluster: a StatefulJob on a simulated cluster (a JobManager with a journal, three
// TaskManagers, a client, one disk that all of them see) whose processes die, are cut off and go on
// running, stand still, and lose, repeat and delay messages, and whose disk fails. The seed draws
// whether checkpoints are unaligned, and how many are kept.
//
//   SeedReport report = simulate_stateful_cluster({.seed = 42});
//
// The job must finish in spite of all that, with the output of a run without faults, and leave no
// attempt behind; and no JobManager may forget what an earlier one has taken.
//
// Thread: one, whichever it is.
#pragma once

#include "simulation/seed_report.hpp"

namespace hummer::cluster_simulation {

SeedReport simulate_stateful_cluster(RunOptions options);

}  // namespace hummer::cluster_simulation
