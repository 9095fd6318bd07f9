// From a job to the metadata of its checkpoints, and from a checkpoint on disk to a job's state.
//
// Thread: any; load_state blocks for as long as the disk takes. Errors name operator or path.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "control/task_manager/deployment.hpp"
#include "graph/job_graph.hpp"
#include "platform/files.hpp"
#include "state/checkpoint_store.hpp"

namespace hummer {

// What the metadata of a job's checkpoints say, but for number, files and time. `parallelism`: of
// each vertex. Their `job` is the graph's fingerprint, which all who write files know.
CheckpointMetadata describe_job(const JobGraph& job, const std::vector<int>& parallelism);

// How many tasks save state: one per subtask of every vertex.
std::size_t chain_count(const std::vector<int>& parallelism);

// Whether this job can take over the state: operators that have any are still there (unless
// `allow_dropped`), with as many key groups.
Status check_restorable(const CheckpointMetadata& metadata, const JobGraph& job,
                        bool allow_dropped);

// Reads all state files of the checkpoint in the directory `path`, and checks them.
Result<std::shared_ptr<const RestoredState>> load_state(Files& files, const std::string& path,
                                                        const CheckpointMetadata& metadata);

// The first byte of a piece in a state file: whether it was written behind the end of the stream.
inline constexpr char piece_goes_on = 0;
inline constexpr char piece_ended = 1;

}  // namespace hummer
