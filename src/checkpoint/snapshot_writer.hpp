// SnapshotWriter: what the tasks of one process save, as durable files.
//
// The half of checkpointing that runs where the tasks run: it takes the snapshots that tasks hand
// over on their slots' threads, writes each into the directory of its checkpoint on an executor of
// its own, and tells when a file is durable. Tasks never wait for the disk. The other half, which
// decides about checkpoints, is attempt_checkpoints.hpp.
//
// In an object store the files of all tasks become one object (segment_writer.hpp): they are told
// together, when the last of them has saved.
//
// A snapshot may come before this process has heard of its checkpoint (the barrier came from
// another one): it is kept until begin(). A task that has ended takes part in every later
// checkpoint with what it wrote at its end (last_snapshot.hpp).
//
// Lifecycle: make, begin() per checkpoint, stop() before what `tell` uses goes away. Thread: any
// (stop() waits for the file in hand); `tell` is called on the own executor. Errors: in the news,
// of the one checkpoint.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <hummer/status.hpp>

#include "graph/execution_graph.hpp"
#include "platform/platform.hpp"
#include "runtime/stream_task.hpp"
#include "state/checkpoint_store.hpp"

namespace hummer {

struct SnapshotProgress {
  std::uint64_t checkpoint = 0;  // 0: the task's stream has ended, and nothing else
  std::size_t task = 0;          // its number among the chains
  bool passed = false;           // by the barrier, and nothing else: the file follows
  Status status;                 // of writing
  CheckpointFile file;
};

class SnapshotWriter {
 public:
  struct Settings {
    std::uint64_t job = 0;                            // what the files say about whose they are
    bool tells_passed = false;                        // also when the barrier has passed a task
    std::string spill_directory;                      // see LastSnapshot
    std::uint32_t attempt = 0;                        // for the names of segments
    std::size_t tasks = 0;                            // that save here
    std::shared_ptr<MemoryAccount> memory = nullptr;  // see SnapshotFiles
  };
  SnapshotWriter(Platform& platform, Settings settings, std::function<void(SnapshotProgress)> tell);
  ~SnapshotWriter();
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  void snapshot_taken(const ExecutionTask& task, TaskSnapshot snapshot);
  // The files of this checkpoint go into the directory `path`, which exists. Earlier ones are over.
  void begin(std::uint64_t checkpoint, std::string path);
  // Nothing that is not being written now is written any more: the files are another attempt's.
  void cancel();
  void stop();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace hummer
