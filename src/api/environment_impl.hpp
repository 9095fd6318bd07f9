// What a StreamExecutionEnvironment holds: the graph as written, and the command
// line. Read by control/client when the job is executed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <hummer/environment.hpp>

#include "graph/stream_graph.hpp"

namespace hummer {

// Where the workers of a cluster find the function that builds the job.
struct JobOrigin {
  std::uint64_t library_hash = 0;  // of the executable when there is no library
  std::string library;             // the bytes; empty: the executable, which the workers run too
  std::string library_name;        // for people
  std::string program;             // that `cancel` and the like are commands of: "hummer"
};

// What execute() left behind in an environment that only builds; see api/job_build.hpp.
struct KeptJob {
  StreamGraph graph;
  EnvironmentOptions options;
  Status status;
};

struct StreamExecutionEnvironment::Impl {
  StreamGraph graph;
  // Nodes that make strings of views for the function behind them (owned_text.hpp), as long as
  // nobody has said how parallel they are.
  std::set<int> conversions;
  bool from_command_line = false;
  bool help = false;
  std::string program;
  std::map<std::string, std::string> arguments;  // --name value, of the job
  std::map<std::string, std::string> asked;      // name → description
  Status usage;                                  // the first mistake
  std::string missing;                           // the first of `asked` that is not given
  bool executed = false;
  // Of programs made by HUMMER_JOB and of libraries; without one a job runs embedded only.
  std::optional<JobOrigin> origin;
  int execute_calls = 0;
  // What last_result() answers; a running job writes it when it ends.
  std::shared_ptr<JobResult> last_result = no_result();
  // Set on a worker and by `submit`: execute() keeps the graph here and runs nothing.
  KeptJob* kept = nullptr;

  // The graph in the form that the options ask for; see graph/planner.hpp. Sources are asked
  // whether they can be replayed.
  StreamGraph finished_graph(const std::string& job_name, const EnvironmentOptions& options) const;
  // What execute() does when the job is only built: the job, or why it can't be one, goes to
  // `kept`. REQUIRES: kept.
  JobResult keep(const std::string& job_name, const EnvironmentOptions& options);

  static std::shared_ptr<JobResult> no_result();
};

// Reads the engine's options; what is left goes to impl.arguments. HUMMER_* variables come first,
// so that options on the command line overrule them.
void parse_command_line(int argc, const char* const* argv, EnvironmentOptions& options,
                        StreamExecutionEnvironment::Impl& impl, bool environment_variables = true);
// What --help prints.
std::string help_text(const StreamExecutionEnvironment::Impl& impl);
// Once the job has asked for all its arguments: the usage error, else the first argument that
// nobody asked for, with a suggestion, else the first that is missing.
Status check_arguments(const StreamExecutionEnvironment::Impl& impl);
// The same of a job that did not get as far, and may not have asked for all.
Status check_arguments_so_far(const StreamExecutionEnvironment::Impl& impl);

}  // namespace hummer
