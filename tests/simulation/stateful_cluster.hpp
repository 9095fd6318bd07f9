// StatefulCluster: a StatefulJob on a simulated cluster (a JobManager with a journal, three
// TaskManagers, a client that speaks REST, one disk that all of them see) whose processes die, are
// cut off, both ways or one, and go on running, stand still for longer than anybody waits, have
// their clocks set, and lose, repeat and delay messages; whose links turn bits, and whose disk
// fails. The seed draws whether checkpoints are unaligned, how many are kept, and whether state has
// room in memory.
//
// Meanwhile the person takes savepoints, and ends the job, with a savepoint or without, to begin it
// again there at another parallelism.
//
//   SeedReport report = simulate_stateful_cluster({.seed = 42});
//
// The job must finish in spite of all that, with the output of a run without faults, and leave no
// attempt behind; no JobManager may forget what an earlier one has taken; and checkpoints must come
// between the faults: a run with fewer than five, or without a restore, has failed.
//
// Thread: one, whichever it is.
#pragma once

#include "simulation/seed_report.hpp"

namespace hummer::cluster_simulation {

SeedReport simulate_stateful_cluster(RunOptions options);

}  // namespace hummer::cluster_simulation
