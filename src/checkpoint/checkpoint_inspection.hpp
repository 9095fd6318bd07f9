// inspect_checkpoint: what a checkpoint or savepoint on disk holds, without the job that made it.
//
// All that can be read is told, and for each file what is wrong with it, by name and byte. With
// `read_files` every byte of the state is read and checked; without, what its metadata say and that
// all files which they name are there.
//
// A directory without metadata is no checkpoint: a crash has left it, it is under way, or it holds
// files of a removed one that later ones build on.
//
// Errors are part of the result: `status` is the first thing that is wrong. not_found: it has no
// metadata. Thread: any. Cost: the state is read once, a piece at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hummer/evolving.hpp>
#include <hummer/status.hpp>

#include "platform/files.hpp"
#include "state/checkpoint_store.hpp"

namespace hummer {

struct InspectedOperator {
  CheckpointOperator from_metadata;
  std::vector<StateDescription> states;
  std::uint64_t pieces = 0;
  std::uint64_t state_bytes = 0;
};

struct InspectedFile {
  CheckpointFile from_metadata;
  Status status;
};

struct CheckpointInspection {
  std::string path;
  Status status;
  std::optional<CheckpointMetadata> metadata;
  std::vector<InspectedOperator> operators;
  std::vector<InspectedFile> files;
};

CheckpointInspection inspect_checkpoint(Files& files, const std::string& path, bool read_files);

struct CheckpointInspections {
  std::vector<CheckpointInspection> checkpoints;  // whole or damaged, but with metadata
  std::vector<std::string> bases;       // paths of directories with files that those build on
  std::vector<std::string> incomplete;  // paths of other directories without metadata
};

// Those of one directory, in the order of their numbers, those of the jobs' directories in it
// (checkpoint_order.hpp), and savepoints in it; or the one that `path` itself is.
Result<CheckpointInspections> inspect_checkpoints(Files& files, const std::string& path,
                                                  bool read_files);

}  // namespace hummer
