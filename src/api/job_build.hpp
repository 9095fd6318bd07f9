// build_job: runs a job function for its graph only, as `submit` and every TaskManager do.
//
// The function sees an environment whose execute() keeps the finished graph and answers success;
// nothing is opened and no thread started by the engine. What the function itself does (read a
// file, sleep) it does here too: call it where that may take time.
//
// Arguments are those of the job's command line, engine options among them. HUMMER_* variables
// count only when asked for: a worker's own must not change a job.
//
// Errors: wrong arguments (the usage error, also when the function then threw), the function threw
// (user_function_failed), it executed no job or two (invalid_graph), an operator whose captured
// values can't be compared (invalid_graph, naming it; hummer/rebuildable.hpp).
#pragma once

#include <string>
#include <vector>

#include <hummer/job.hpp>

#include "graph/stream_graph.hpp"

namespace hummer {

struct BuiltJob {
  // Not empty: --help was asked for. Print it; there is no graph.
  std::string help;
  StreamGraph graph;
  std::string job_name;
  // As the arguments and the function left them. options.explain not empty: show the graphs and
  // run nothing.
  EnvironmentOptions options;
};

struct BuildSettings {
  bool environment_variables = false;  // HUMMER_*, below the arguments
  std::string program = "job";         // what --help calls it
  // Refuse operators whose captured values can't be compared.
  bool for_cluster = true;
};

Result<BuiltJob> build_job(JobFunction function, const std::vector<std::string>& arguments,
                           const EnvironmentOptions& defaults, const BuildSettings& settings = {});

}  // namespace hummer
