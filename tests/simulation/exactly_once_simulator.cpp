// exactly_once_simulator: runs a stateful job with checkpoints under faults
// (embedded_simulation.hpp) for many seeds; see seed_runner.hpp.
#include "simulation/embedded_simulation.hpp"
#include "simulation/seed_runner.hpp"

int main(int argc, char** argv) {
  return hummer::cluster_simulation::run_simulator(
      argc, argv, {"exactly_once_simulator", &hummer::cluster_simulation::simulate_embedded});
}
