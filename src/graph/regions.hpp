// Regions: the parts of a job that can begin again each by itself.
//
// A region is a set of vertices that no pipelined edge connects with the others, so none of its
// tasks ever hears of the tasks of another one: when one fails, the others need not. Blocking edges
// lead from region to region: the one behind begins when all of the one ahead have finished, and
// reads what they have left in files; when it fails it begins again with these.
//
// The subtasks of a vertex
// stay together also where only forward edges lead through them: when state is restored, it is
// dealt out among all subtasks of an operator. (Flink's pipelined regions are sets of subtasks.)
//
// Every process that builds the job computes the same. Thread: a pure function.
#pragma once

#include <vector>

#include "graph/job_graph.hpp"

namespace hummer {

// More independent parts than this are put together, since each region takes threads of its own.
// Not those of a job with blocking edges, of which most wait or are over.
inline constexpr int max_regions = 16;

struct RegionOptions {
  // Tasks of one slot must be in one region: its thread has a core for itself. Blocking edges keep
  // regions apart all the same.
  bool thread_per_slot = false;
};

// The region of each vertex: from 0, numbered by their first vertices.
std::vector<int> regions_of(const JobGraph& graph, const RegionOptions& options = {});

int region_count(const std::vector<int>& region_of_vertex);

bool has_blocking_edges(const JobGraph& graph);

// invalid_graph, naming the edge: a blocking edge with an unbounded source ahead of it, or between
// vertices of which neither could run without the other.
Status check_blocking_edges(const JobGraph& graph);

// How regions hang together.
struct RegionLinks {
  std::vector<int> reads;  // the regions whose files it reads, ascending
  bool is_read = false;
  // Nothing but forward edges is in it, so what one subtask leaves is its own, and it can begin
  // again alone.
  bool subtasks_apart = true;
};
std::vector<RegionLinks> region_links(const JobGraph& graph,
                                      const std::vector<int>& region_of_vertex);

}  // namespace hummer
