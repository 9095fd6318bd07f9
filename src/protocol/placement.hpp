// Placement on a cluster: what JobManager and TaskManagers compute alike.
//
// The JobManager chooses the free slots that a job gets and writes them down as PlacedWorkers: the
// TaskManagers that take part, in order, with every slot that is *not* the job's as occupied. From
// that list, the job graph and the options, place_on_cluster() makes the same ExecutionGraph
// everywhere; execution_hash() (graph/fingerprint.hpp) is compared to be sure.
//
// Pure. Errors: those of place(); limit_exceeded for more channels than a process should hold;
// protocol_error for a list that makes no sense (it may come from a wire).
#pragma once

#include <google/protobuf/repeated_ptr_field.h>

#include "graph/execution_graph.hpp"
#include "graph/regions.hpp"
#include "protocol/control.pb.h"

namespace hummer {

inline constexpr int max_slots_per_task_manager = 1 << 12;
// Pairs of connected subtasks of one job; each may need three channels and two tasks.
inline constexpr std::int64_t max_connected_pairs = 1'000'000;

using PlacedWorkers = google::protobuf::RepeatedPtrField<wire::PlacedWorker>;

PlacementOptions placement_options(const wire::JobOptions& options);
RegionOptions region_options(const wire::JobOptions& options);

// limit_exceeded when the job is too wide to be placed at all. REQUIRES: one number per vertex.
Status check_connected_pairs(const JobGraph& graph, const std::vector<int>& parallelism);

// `narrowed`: see PlacementOptions.
Result<ExecutionGraph> place_on_cluster(const JobGraph& graph, const PlacedWorkers& workers,
                                        const wire::JobOptions& options,
                                        std::vector<int> narrowed = {});
// Of a deployment.
std::vector<int> narrowed_from(const wire::Deployment& deployment);

}  // namespace hummer
