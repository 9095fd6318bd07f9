// simulate_mirror: one channel over one-sided writes (net/ring_mirror.hpp) between two simulated
// nodes, by a seed. Its order of writes, credits, sizes, times and what the receiver holds are
// drawn; writes come in pieces, late and out of order as far as the order of writes lets them
// (platform/simulated_remote_memory.hpp); of some seeds a process dies in the middle, or the
// network between the two is cut for a while.
//
// Shown of each seed: what arrives is what was published, in its order and byte by byte, while it
// is held; all of it where nobody dies, and both ends come to an end; else a prefix, and both ends
// learn of it.
#pragma once

#include "simulation/seed_report.hpp"

namespace hummer::cluster_simulation {

SeedReport simulate_mirror(RunOptions options);

}  // namespace hummer::cluster_simulation
