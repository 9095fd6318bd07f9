// EmbeddedSimulation: a StatefulJob in one process that dies, loses power, meets bad disks and
// stands still, and each time is started again with `restore = latest`, at another parallelism.
//
//   SeedReport report = simulate_embedded({.seed = 42});
//
// Virtual time; a run is a function of its seed. Whoever starts the process again also does so
// when the job itself gave up, which only a disk that fails allows it to. (exactly_once_simulator
// runs clusters only; this form is for tests of every build.)
//
// Thread: one, whichever it is.
#pragma once

#include "simulation/seed_report.hpp"

namespace hummer::cluster_simulation {

SeedReport simulate_embedded(RunOptions options);

}  // namespace hummer::cluster_simulation
