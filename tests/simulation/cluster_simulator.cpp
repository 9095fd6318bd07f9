// cluster_simulator: runs the simulated cluster (cluster_simulation.hpp) for many seeds; see
// seed_runner.hpp.
#include <fmt/format.h>

#include "simulation/cluster_simulation.hpp"
#include "simulation/seed_runner.hpp"

namespace hummer::cluster_simulation {
namespace {

SeedReport simulate(RunOptions options) {
  const Report report = simulate_cluster(options);
  SeedReport told;
  told.seed = report.seed;
  told.violations = report.violations;
  told.virtual_ns = report.virtual_ns;
  told.steps = report.steps;
  told.trace_hash = report.trace_hash;
  for (std::size_t i = 0; i < fault_kinds; ++i) {
    told.totals[fmt::format("fault {}", to_string(static_cast<FaultKind>(i)))] =
        report.faults.happened[i];
  }
  for (const auto& [state, count] : report.jobs) {
    told.totals[fmt::format("jobs {}", job_state_name(state))] = count;
  }
  told.least["fewest faults per seed"] = static_cast<std::uint64_t>(report.faults_happened);
  return told;
}

}  // namespace
}  // namespace hummer::cluster_simulation

int main(int argc, char** argv) {
  return hummer::cluster_simulation::run_simulator(
      argc, argv, {"cluster_simulator", &hummer::cluster_simulation::simulate});
}
