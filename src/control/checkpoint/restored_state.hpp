// From a job to the metadata of its checkpoints, and from a checkpoint on disk to a job's state.
//
// Thread: any; find_state blocks for as long as the disk takes. Errors name operator or path.
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

// Whether operators with keyed state have as many key groups as when it was written: all that the
// metadata can tell, before a file is read.
Status check_key_groups(const CheckpointMetadata& metadata, const JobGraph& job);

// Reads all state files of the checkpoint in the directory `path`, checks them, and says where each
// piece lies: so nothing of a damaged one comes to an operator. The state stays on disk, which may
// be all that has room for it; tasks read what they need when they are made. State that no
// operator of the job has the uid for is refused (invalid_graph), or left out if `allow_dropped`.
// Only what would be lost counts (states_held, runtime/snapshot_piece.hpp), whatever its value: an
// upgrade that is refused is refused at any moment, not just while a transaction is open.
Result<std::shared_ptr<const RestoredState>> find_state(Files& files, const std::string& path,
                                                        const CheckpointMetadata& metadata,
                                                        const JobGraph& job, bool allow_dropped);

}  // namespace hummer
