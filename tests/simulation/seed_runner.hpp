// run_simulator: the command line of a program that runs a simulation for many seeds.
//
//   PROGRAM --seeds FIRST..LAST [--jobs N] [--until-failure]
//   PROGRAM --verbose SEED
//   PROGRAM --trace-hash FIRST..LAST
//
// The first prints what the reports add up to, and each seed that failed with why; a seed that
// crashes or hangs counts as failed, so every job is a child process. Exit code 1 if any failed.
#pragma once

#include <string>

#include "simulation/seed_report.hpp"

namespace hummer::cluster_simulation {

using Simulate = SeedReport (*)(RunOptions);

struct Simulator {
  std::string name;  // of the program
  Simulate simulate;
};

int run_simulator(int argc, char** argv, const Simulator& simulator);

}  // namespace hummer::cluster_simulation
