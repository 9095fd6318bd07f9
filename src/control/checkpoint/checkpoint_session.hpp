// CheckpointSession: the checkpoints of one attempt of a job that runs in this process.
//
// Drives a CheckpointCoordinator: on an executor of its own it writes what tasks report to snapshot
// files, begins and completes checkpoints, and tells the deployment to commit. Tasks never wait
// for the disk.
//
// Lifecycle: make, then its snapshot_taken goes into DeploymentOptions::on_snapshot; start() once
// the deployment has started; stop() before the deployment is destroyed. Thread: snapshot_taken
// from any, the rest on the caller's. A failure beyond the tolerated ones fails the deployment.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <hummer/checkpointing.hpp>

#include "control/task_manager/deployment.hpp"
#include "platform/platform.hpp"
#include "state/checkpoint_store.hpp"

namespace hummer {

// What the metadata of a job's checkpoints say, but for number, files and time.
CheckpointMetadata describe_job(const JobGraph& job, const ExecutionGraph& execution,
                                std::uint64_t job_number);

// Whether this job can take over the state: operators that have any are still there (unless
// `allow_dropped`), with as many key groups.
Status check_restorable(const CheckpointMetadata& metadata, const JobGraph& job,
                        bool allow_dropped);
// Reads all state files. REQUIRES: store.verify() was ok or is not wanted: checks are made again.
Result<std::shared_ptr<const RestoredState>> load_state(Files& files, const std::string& path,
                                                        const CheckpointMetadata& metadata);

class CheckpointSession {
 public:
  CheckpointSession(Platform& platform, CheckpointOptions options, CheckpointMetadata job,
                    const ExecutionGraph& execution, std::uint64_t first);
  ~CheckpointSession();
  CheckpointSession(const CheckpointSession&) = delete;
  CheckpointSession& operator=(const CheckpointSession&) = delete;

  void snapshot_taken(const ExecutionTask& task, TaskSnapshot snapshot);
  void start(Deployment& deployment);
  void stop();

  // Any thread.
  std::uint64_t completed() const;
  std::uint64_t last_complete() const;
  // The highest number used, so that the next attempt uses none twice.
  std::uint64_t highest_begun() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace hummer
