// What a StreamExecutionEnvironment holds: the graph as written, and the command
// line. Read by control/client when the job is executed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <hummer/environment.hpp>

#include "graph/stream_graph.hpp"

namespace hummer {

// Where the workers of a cluster find the function that builds the job.
struct JobOrigin {
  std::uint64_t library_hash = 0;  // of the executable when there is no library
  std::string library;             // the bytes; empty: the executable, which the workers run too
  std::string library_name;        // for people
};

struct StreamExecutionEnvironment::Impl {
  StreamGraph graph;
  // By edge: routing was left to the engine.
  std::vector<bool> automatic_routing;

  bool from_command_line = false;
  bool help = false;
  std::string program;
  std::map<std::string, std::string> arguments;  // --name value, of the job
  std::map<std::string, std::string> asked;      // name → description
  Status usage;                                  // the first mistake
  bool executed = false;
  // Of programs made by HUMMER_JOB and of libraries; without one a job runs embedded only.
  std::optional<JobOrigin> origin;

  // The graph with every automatic edge decided: forward where both ends have the same declared
  // parallelism, else rebalance.
  StreamGraph finished_graph(const std::string& job_name) const;
};

// Reads the engine's options; what is left goes to impl.arguments.
void parse_command_line(int argc, const char* const* argv, EnvironmentOptions& options,
                        StreamExecutionEnvironment::Impl& impl);
// What --help prints.
std::string help_text(const StreamExecutionEnvironment::Impl& impl);
// The first argument that nobody asked for, as a usage error with a suggestion.
Status check_arguments(const StreamExecutionEnvironment::Impl& impl);

}  // namespace hummer
