// A job in this process that takes checkpoints and starts again when it fails.
//
// On an executor of its own it makes a deployment and a checkpoint session for each attempt, waits
// for the end, and, as the restart strategy says, begins again with the state of the newest
// complete checkpoint. Cancel and stop reach the attempt that runs, and end the waiting between
// two.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "control/checkpoint/checkpoint_session.hpp"
#include "control/client/progress.hpp"
#include "control/client/running_job.hpp"
#include "platform/wake_event.hpp"

namespace hummer {

struct PlannedGraphs {
  StreamGraph stream_graph;
  JobGraph job_graph;
  ExecutionGraph execution_graph;
};

class SupervisedRun final : public JobHandle::Running {
 public:
  SupervisedRun(JobSurroundings surroundings, PlannedGraphs graphs, DeploymentOptions options);
  // Cancels a job that nobody waited for, and waits.
  ~SupervisedRun() override;

  // Finds the state to begin with, and starts the first attempt.
  Status start();
  void stop() override;
  void cancel() override;
  bool finished() const override { return done_.load(std::memory_order_acquire); }
  JobResult wait() override;
  std::vector<std::string> stuck() override;

 private:
  Task<void> supervise();
  // The state of the newest complete checkpoint; null: there is none.
  Result<std::shared_ptr<const RestoredState>> newest_state();
  Result<std::shared_ptr<const RestoredState>> first_state();
  Task<Status> run_attempt();
  void note(const std::string& line);

  const JobSurroundings surroundings_;
  const PlannedGraphs graphs_;
  const DeploymentOptions options_;
  CheckpointStore store_;
  std::unique_ptr<Executor> executor_;
  WakeEvent event_;  // the attempt's end, cancel, stop
  std::shared_ptr<const RestoredState> restored_;
  std::uint32_t attempt_ = 0;
  std::uint64_t first_checkpoint_ = 1;
  std::uint64_t next_checkpoint_ = 1;

  std::mutex mutex_;  // the attempt that runs, for other threads
  std::shared_ptr<Deployment> deployment_;
  std::vector<std::string> notes_;
  std::atomic<bool> cancel_requested_{false};
  std::atomic<bool> stop_requested_{false};
  std::atomic<bool> done_{false};
  StuckWatch watch_;
  Nanoseconds began_ = 0;
  JobResult result_;
  bool reported_ = false;
};

}  // namespace hummer
