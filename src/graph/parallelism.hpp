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

// The slots that these subtasks take. REQUIRES: one number per vertex.
int slots_needed(const JobGraph& graph, const std::vector<int>& parallelism, SlotSharing sharing);

}  // namespace hummer
