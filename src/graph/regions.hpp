// Regions: the parts of a job that can begin again each by itself.
//
// A region is a set of vertices that no edge connects with the others, so none of its tasks ever
// hears of the tasks of another one: when one fails, the others need not. The subtasks of a vertex
// stay together also where only forward edges lead through them: when state is restored, it is
// dealt out among all subtasks of an operator. (Flink's pipelined regions are sets of subtasks.)
//
// Every process that builds the job computes the same. Thread: a pure function.
#pragma once

#include <vector>

#include "graph/job_graph.hpp"

namespace hummer {

// More independent parts than this are put together, since each region takes threads of its own.
inline constexpr int max_regions = 16;

struct RegionOptions {
  // Tasks of one slot must be in one region: its thread has a core for itself.
  bool thread_per_slot = false;
};

// The region of each vertex: from 0, numbered by their first vertices.
std::vector<int> regions_of(const JobGraph& graph, const RegionOptions& options = {});

int region_count(const std::vector<int>& region_of_vertex);

}  // namespace hummer
