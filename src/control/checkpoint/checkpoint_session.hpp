// CheckpointSession: the checkpoints of one attempt of a job that runs in this process.
//
// Joins the two halves: a SnapshotWriter beside the tasks, and AttemptCheckpoints, whose orders are
// carried out on an executor of this object's; the deployment is told to save and to commit. Tasks
// never wait for the disk.
//
// Lifecycle: make, then its snapshot_taken goes into DeploymentOptions::on_snapshot; start() once
// the deployment has started; stop() before the deployment is destroyed. Thread: snapshot_taken
// and wish from any, the rest on the caller's. A failure beyond the tolerated ones fails the
// deployment.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "control/checkpoint/attempt_checkpoints.hpp"
#include "control/task_manager/deployment.hpp"
#include "platform/platform.hpp"

namespace hummer {

class CheckpointSession {
 public:
  // `spill_directory`: see LastSnapshot. `on_savepoint` is called on the own executor, and from
  // stop() for those that do not come.
  CheckpointSession(Platform& platform, AttemptCheckpoints::Settings settings,
                    std::string spill_directory, std::function<void(SavepointEnd)> on_savepoint);
  ~CheckpointSession();
  CheckpointSession(const CheckpointSession&) = delete;
  CheckpointSession& operator=(const CheckpointSession&) = delete;

  void snapshot_taken(const ExecutionTask& task, TaskSnapshot snapshot);
  void wish(SavepointWish wish);
  void start(Deployment& deployment);
  void stop();

  // After stop(): above every number that was used, for the next attempt.
  std::uint64_t next_number() const;
  // After stop(): how many checkpoints were completed.
  std::uint64_t completed() const;
  // After stop(): the newest complete one that a restart may begin with; 0: none.
  std::uint64_t newest_checkpoint() const;
  // After stop(): a savepoint has stopped the job, and all sinks have committed.
  bool stopped_by_savepoint() const;
  // The savepoint, complete and in this directory; empty: none. After stop().
  const std::string& savepoint_path() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace hummer
