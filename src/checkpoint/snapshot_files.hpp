// SnapshotFiles: turns what tasks report, part by part, into the snapshot files of a checkpoint.
//
// One per attempt and process. It remembers for each task with which checkpoint the last whole
// piece of each of its operators came, and so says what a file builds on.
//
// The first byte of a piece in a file: 1: written behind the end of the stream; 2: a delta; 4: no
// state, but records in flight (runtime/in_flight.hpp).
//
// In an object store the files of all tasks become one object (segment_writer.hpp), and what add()
// has answered is durable once flush() has. What a segment may hold is counted from the first one
// on: tables that have gone to disk for it need not with each checkpoint.
//
// Thread: one. Errors: those of the disk; then the task's file of this checkpoint is over, and
// later parts of it are passed over.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <hummer/detail/memory_account.hpp>

#include "checkpoint/segment_writer.hpp"
#include "platform/files.hpp"
#include "platform/random.hpp"
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

  // `attempt`, `random`: for names that nobody else gives. `memory`: the process's; null: nobody
  // counts.
  SnapshotFiles(Files& files, std::uint64_t job, std::uint32_t attempt, Random& random,
                std::shared_ptr<MemoryAccount> memory = nullptr)
      : files_(files),
        job_(job),
        attempt_(attempt),
        random_(random),
        process_memory_(std::move(memory)) {}

  // What the task has reported next, for the checkpoint whose directory is `path`. The file, when
  // it is complete and durable, or will be with flush(); nothing: more comes.
  Result<std::optional<CheckpointFile>> add(const Writer& task, std::uint64_t checkpoint,
                                            const std::string& path, const TaskSnapshot& snapshot);
  // Whether files are durable with flush() only.
  bool merges() const { return segments_ != nullptr; }
  Status flush();

 private:
  struct Task {
    std::uint64_t checkpoint = 0;              // of the file under way
    std::optional<SnapshotFileWriter> writer;  // none: complete, or failed
    SegmentWriter::PartHandle part;            // that it writes, in an object store
    bool piece_under_way = false;
    std::map<std::string, std::uint64_t> last_whole;  // by the operator's uid: its checkpoint
  };
  Status begin(Task& task, const Writer& of, std::uint64_t checkpoint, const std::string& path);

  Status begin_part(Task& task, ObjectStore& store, const SnapshotFileHead& head,
                    const std::string& path);

  std::size_t reserve_segment();

  Files& files_;
  const std::uint64_t job_;
  const std::uint32_t attempt_;
  Random& random_;
  std::unique_ptr<SegmentWriter> segments_;  // of the newest checkpoint; null: on a disk
  std::uint64_t segments_of_ = 0;
  const std::shared_ptr<MemoryAccount> process_memory_;
  std::shared_ptr<MemoryAccount> segment_memory_;                  // null: no segment so far
  std::map<std::pair<std::uint32_t, std::uint32_t>, Task> tasks_;  // by vertex, subtask
};

}  // namespace hummer
