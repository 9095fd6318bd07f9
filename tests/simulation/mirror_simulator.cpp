// mirror_simulator: runs a channel over one-sided writes (mirror_simulation.hpp) for many seeds.
// See seed_runner.hpp. A seed's order of writes is seed % 3: none, in order, byte by byte.
#include "simulation/mirror_simulation.hpp"
#include "simulation/seed_runner.hpp"

int main(int argc, char** argv) {
  using namespace hummer::cluster_simulation;
  return run_simulator(argc, argv, {"mirror_simulator", &simulate_mirror});
}
