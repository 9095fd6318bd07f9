// How many subtasks each vertex gets.
//
// A declared parallelism stands. A vertex without one gets the job's default
// when there is one (embedded mode), else an even share of the free slots; both
// within its minimum and maximum. Vertices joined by forward edges always get
// the same number: a declared one holds for all of them.
//
// Pure. Errors: `not_enough_slots` says how many are needed and how many there
// are; `invalid_graph` when forward edges join vertices that cannot agree.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/job_graph.hpp"

namespace hummer {

enum class SlotSharing {
  // A slot hosts up to one subtask of every vertex of a resource group: a group
  // needs as many slots as its widest vertex. One slot holds a whole pipeline.
  shared,
  // Every subtask has a slot of its own.
  exclusive,
};

constexpr std::string_view to_string(SlotSharing sharing) {
  return sharing == SlotSharing::shared ? "shared" : "exclusive";
}

struct ParallelismOptions {
  SlotSharing sharing = SlotSharing::shared;
  int free_slots = 1;
  std::optional<int> default_parallelism = std::nullopt;  // of vertices that declare none
  std::optional<int> total_slots = std::nullopt;          // the most that the job takes
  // Accept more subtasks than slots (shared only); see graph/execution_graph.hpp.
  bool allow_oversubscription = false;
};

// The parallelism of each vertex, by vertex id.
Result<std::vector<int>> resolve_parallelism(const JobGraph& graph,
                                             const ParallelismOptions& options);

// A vertex of a region that is about to read what blocking edges have left.
struct NarrowedVertex {
  int parallelism = 0;      // fewer subtasks than planned; 0: as many
  std::uint64_t bytes = 0;  // that it reads, with those that forward edges join to it
};
// By vertex: fewer subtasks of `region` where each would get less than `bytes_per_subtask`. The
// number divides that in `planned`, which is the number of partitions too: so each subtask reads as
// many neighbouring ones, and these hold the keys that it owns. Not below a minimum parallelism.
// `bytes`: by edge.
std::vector<NarrowedVertex> narrowed(const JobGraph& graph,
                                     const std::vector<int>& region_of_vertex, int region,
                                     const std::vector<int>& planned,
                                     const std::vector<std::uint64_t>& bytes,
                                     std::uint64_t bytes_per_subtask);
// By vertex: whether it ever is. One that declares its parallelism isn't, nor what forward edges
// join to it; nor who also reads from a source, from a running region, by a partition_custom, or
// through a forward edge that is blocking.
std::vector<bool> may_be_narrowed(const JobGraph& graph, const std::vector<int>& region_of_vertex);

// The slots that these subtasks take. REQUIRES: one number per vertex.
int slots_needed(const JobGraph& graph, const std::vector<int>& parallelism, SlotSharing sharing);

}  // namespace hummer
