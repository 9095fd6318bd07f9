// From a job to the metadata of its checkpoints, and from a checkpoint on disk to a job's state.
//
// Thread: any; find_state blocks for as long as the disk takes. Errors name operator or path.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/job_graph.hpp"
#include "platform/files.hpp"
#include "runtime/source_listing.hpp"
#include "state/checkpoint_store.hpp"
#include "state/piece_reader.hpp"

namespace hummer {

// Where a piece of an earlier run's state lies (state/piece_reader.hpp).
struct RestoredPiece {
  PiecePlace place;
  bool ended = false;  // see SnapshotPiece
  bool delta = false;
};

// The state of an earlier run: pieces by operator uid, in the order of the subtasks that wrote
// them. They stay on disk until the tasks read them.
struct RestoredState {
  std::uint64_t checkpoint = 0;
  std::map<std::string, std::vector<RestoredPiece>> pieces;
  std::map<std::string, std::vector<RestoredPiece>> in_flight;  // runtime/in_flight.hpp
  SourceListings listings;
  std::uint64_t state_bytes = 0;  // of all files
  std::uint64_t bytes_read = 0;   // of them, to find the pieces
  std::string dropped;            // for people: state of operators that the job no longer has
};

// What the metadata of a job's checkpoints say, but for number, files and time. `parallelism`: of
// each vertex. Their `job` is the graph's fingerprint, which all who write files know.
CheckpointMetadata describe_job(const JobGraph& job, const std::vector<int>& parallelism);

// How many tasks save state: one per subtask of every vertex.
std::size_t chain_count(const std::vector<int>& parallelism);

// Whether operators with keyed state have as many key groups as when it was written: all that the
// metadata can tell, before a file is read.
Status check_key_groups(const CheckpointMetadata& metadata, const JobGraph& job);

// Says where each piece of the checkpoint in the directory `path` lies, by the indexes of its
// files, which are checked; files without one are read and checked as a whole. The state stays on
// disk, which may be all that has room for it; tasks read what they need when they are made, and
// check that then. State that no operator of the job has the uid for is refused (invalid_graph), or
// left out if `allow_dropped`. Only what would be lost counts (states_held,
// runtime/snapshot_piece.hpp), whatever its value: an upgrade that is refused is refused at any
// moment, not just while a transaction is open.
Result<std::shared_ptr<const RestoredState>> find_state(Files& files, const std::string& path,
                                                        const CheckpointMetadata& metadata,
                                                        const JobGraph& job, bool allow_dropped);

}  // namespace hummer
