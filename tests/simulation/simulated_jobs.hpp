// The jobs of the simulated cluster: small ones through the public API, whose result can be told
// without running them.
//
// Each takes `--tag TEXT` (unique per submission), `--records N`, `--rate R` (records per second;
// 0: as fast as it goes). Its sinks write what they got into files of the TaskManager's node,
// /results/TAG/SINK-SUBTASK-N, one per time that the sink was opened:
//
//   open TIME      virtual nanoseconds
//   KEY VALUE      per record
//   end            when all records had come
//
// Thread: that of the simulation.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "job_library/job_libraries.hpp"
#include "platform/simulation.hpp"

namespace hummer::cluster_simulation {

enum class JobKind : std::uint8_t { count, branches, endless, mistake };
inline constexpr std::size_t job_kinds = 4;

std::uint64_t library_hash(JobKind kind);
JobFunction job_function(JobKind kind);
void add_all_jobs(BuiltInJobLibraries& libraries);
std::string job_name(JobKind kind, std::string_view tag);
// What a user function of JobKind::mistake throws.
inline constexpr std::string_view mistake_text = "a mistake in the simulated job";

// One time that a sink's subtask was opened.
struct SinkOutput {
  std::string node;
  int subtask = 0;
  Nanoseconds opened = 0;
  bool ended = false;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> rows;
};
// By sink, in order of opening.
using JobOutput = std::map<std::string, std::vector<SinkOutput>>;

// What the sinks of job `tag` left on these nodes. A file that no sink can have written is a
// failure.
Result<JobOutput> read_output(const std::vector<SimulatedPlatform*>& nodes, const std::string& tag);

// Empty, or how the output differs from that of a job that ran to its end (`stopped`: that was
// asked to end before). `source_subtasks`: parallelism of its (first) source.
std::string check_output(JobKind kind, std::uint64_t records, bool stopped, int source_subtasks,
                         const JobOutput& output);

}  // namespace hummer::cluster_simulation
