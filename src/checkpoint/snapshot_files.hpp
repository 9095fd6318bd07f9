// SnapshotFiles: turns what tasks report, part by part, into the snapshot files of a checkpoint.
//
// One per attempt and process. It remembers for each task with which checkpoint the last whole
// piece of each of its operators came, and so says what a file builds on.
//
// The first byte of a piece in a file: 1: written behind the end of the stream; 2: a delta; 4: no
// state, but records in flight (runtime/in_flight.hpp).
//
// Thread: one. Errors: those of the disk; then the task's file of this checkpoint is over, and
// later parts of it are passed over.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "platform/files.hpp"
#include "runtime/chain_driver.hpp"
#include "state/checkpoint_store.hpp"

namespace hummer {

inline constexpr std::uint8_t piece_ended = 1;
inline constexpr std::uint8_t piece_is_delta = 2;
inline constexpr std::uint8_t piece_in_flight = 4;

class SnapshotFiles {
 public:
  struct Writer {
    std::uint32_t vertex = 0;
    std::uint32_t subtask = 0;
    std::uint32_t parallelism = 1;
  };

  SnapshotFiles(Files& files, std::uint64_t job) : files_(files), job_(job) {}

  // What the task has reported next, for the checkpoint whose directory is `path`. The file, when
  // it is complete and durable; nothing: more comes.
  Result<std::optional<CheckpointFile>> add(const Writer& task, std::uint64_t checkpoint,
                                            const std::string& path, const TaskSnapshot& snapshot);

 private:
  struct Task {
    std::uint64_t checkpoint = 0;              // of the file under way
    std::optional<SnapshotFileWriter> writer;  // none: complete, or failed
    bool piece_under_way = false;
    std::map<std::string, std::uint64_t> last_whole;  // by the operator's uid: its checkpoint
  };
  Status begin(Task& task, const Writer& of, std::uint64_t checkpoint, const std::string& path);

  Files& files_;
  const std::uint64_t job_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Task> tasks_;  // by vertex, subtask
};

}  // namespace hummer
