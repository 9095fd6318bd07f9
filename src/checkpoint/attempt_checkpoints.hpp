// AttemptCheckpoints: the checkpoints and savepoints of one attempt of a job, as decisions.
//
// The half of checkpointing that runs where the job is led: in the embedded client and in the
// JobManager. It is told what the tasks have saved and what became of its orders to the disk
// (checkpoint_order.hpp), and says what is due: orders, and what the tasks are to know (which
// checkpoint is under way and where its files go, up to which one sinks may commit). The times are
// the CheckpointCoordinator's.
//
// A savepoint is no basis of a restart and lets sinks commit nothing: the next checkpoint does. But
// one that stops the job is both, since nothing follows it: its sources have stopped at the
// barrier, no further checkpoint begins, and the job may end once every sink has committed.
//
// When a region of the job begins again (graph/regions.hpp), the others go on, and so does this:
// the checkpoint under way is given up, and none begins until all run again (hold, begin_again,
// resume).
//
// Pure; thread: a value.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <hummer/checkpointing.hpp>

#include "checkpoint/checkpoint_coordinator.hpp"
#include "checkpoint/checkpoint_order.hpp"

namespace hummer {

// What a client wants.
struct SavepointRequest {
  std::uint64_t id = 0;   // drawn by the client: the same again is the same request
  std::string directory;  // empty: where the job's checkpoints are
  bool stop = false;      // the job ends with it
};

struct SavepointEnd {
  std::uint64_t id = 0;
  Status status;
  std::string path;
};

class AttemptCheckpoints {
 public:
  struct Settings {
    std::uint64_t job = 0;
    std::uint32_t attempt = 0;
    CheckpointOptions options;
    std::string directory;       // where this job's checkpoints are
    std::uint64_t own_from = 1;  // see CheckpointOrder
    CheckpointMetadata describes;
    std::size_t tasks = 0;  // how many chains run
    std::uint64_t first = 1;
  };
  AttemptCheckpoints(Settings settings, Nanoseconds now);

  // ---- what happened ----
  void saved(std::uint64_t checkpoint, std::size_t task, CheckpointFile file);
  void passed(std::uint64_t checkpoint, std::size_t task);
  void declined(std::uint64_t checkpoint, Nanoseconds now, Status why);
  void ended(std::size_t task);
  void carried_out(const CheckpointOutcome& outcome, Nanoseconds now);
  void request_savepoint(SavepointRequest savepoint);
  // A region has failed. Unless a checkpoint is being completed now, there is none under way then.
  void hold(Nanoseconds now, const Status& why);
  bool held() const { return held_; }
  bool completing() const { return coordinator_.storing(); }
  // These tasks begin again, with the newest complete checkpoint. REQUIRES: !completing().
  void begin_again(const std::vector<std::uint32_t>& tasks);
  void resume() { held_ = false; }
  // The attempt is over, for this reason: what is waited for does not come any more.
  void over(const Status& why);

  // ---- what is due ----
  std::vector<CheckpointOrder> advance(Nanoseconds now, std::int64_t wall_ms);
  Nanoseconds next_deadline() const;
  // The attempt fails with it: more failures in a row than are tolerated.
  const Status& failure() const { return coordinator_.failure(); }
  std::vector<SavepointEnd> take_savepoints();

  // ---- what the tasks are told ----
  struct Begun {
    std::uint64_t checkpoint = 0;  // 0: none so far
    std::string path;
    bool savepoint = false;
    bool unaligned = false;
    bool stops = false;  // sources send nothing after its barrier
  };
  const Begun& begun() const { return begun_; }
  std::uint64_t to_commit() const { return to_commit_; }
  bool finish_committed() const { return coordinator_.final_complete(); }

  // ---- for the next attempt ----
  std::uint32_t attempt() const { return settings_.attempt; }
  std::uint64_t next_number() const { return next_number_; }
  // The savepoint that has stopped the job; null: none.
  const CheckpointMetadata* stopped_with() const {
    return stopped_with_ ? &*stopped_with_ : nullptr;
  }
  const std::string& stopped_path() const { return stopped_path_; }
  std::uint64_t completed() const { return coordinator_.completed(); }
  std::uint64_t last_complete() const { return coordinator_.last_complete(); }
  Nanoseconds last_duration() const { return coordinator_.last_duration(); }
  std::uint64_t failed() const { return coordinator_.failed(); }

 private:
  CheckpointOrder order(CheckpointOrder::Kind kind, std::uint64_t checkpoint,
                        std::string path) const;
  void end_savepoint(Status status, std::string path);

  const Settings settings_;
  CheckpointCoordinator coordinator_;
  Begun current_;  // under way or being given up; checkpoint 0: none
  Begun begun_;    // the newest whose directory is there
  std::deque<SavepointRequest> requests_;
  bool asked_ = false;  // the coordinator, for the first of them
  std::vector<SavepointEnd> ends_;
  bool held_ = false;
  std::uint64_t to_commit_ = 0;
  std::optional<CheckpointMetadata> before_;  // the newest complete one, which the next builds on
  std::uint64_t next_number_;
  std::optional<CheckpointMetadata> stopped_with_;
  std::string stopped_path_;
};

}  // namespace hummer
