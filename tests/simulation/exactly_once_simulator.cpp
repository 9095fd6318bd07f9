// exactly_once_simulator: runs a stateful job with checkpoints under faults for many seeds: even
// ones on a cluster (stateful_cluster.hpp), odd ones in one process (embedded_simulation.hpp). See
// seed_runner.hpp.
#include "simulation/embedded_simulation.hpp"
#include "simulation/seed_runner.hpp"
#include "simulation/stateful_cluster.hpp"

namespace hummer::cluster_simulation {
namespace {

SeedReport simulate(RunOptions options) {
  return options.seed % 2 == 0 ? simulate_stateful_cluster(options) : simulate_embedded(options);
}

}  // namespace
}  // namespace hummer::cluster_simulation

int main(int argc, char** argv) {
  return hummer::cluster_simulation::run_simulator(
      argc, argv, {"exactly_once_simulator", &hummer::cluster_simulation::simulate});
}
