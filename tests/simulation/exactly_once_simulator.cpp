// exactly_once_simulator: runs a stateful job with checkpoints on a cluster under faults
// (stateful_cluster.hpp) for many seeds. See seed_runner.hpp.
#include "simulation/seed_runner.hpp"
#include "simulation/stateful_cluster.hpp"

int main(int argc, char** argv) {
  using namespace hummer::cluster_simulation;
  return run_simulator(argc, argv, {"exactly_once_simulator", &simulate_stateful_cluster});
}
