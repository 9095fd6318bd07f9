// A job in this process that takes checkpoints and starts again when it fails.
//
// On an executor of its own it makes a deployment and a checkpoint session for each attempt, waits
// for the end, and, as the restart strategy says, begins again with the state of the newest
// complete checkpoint. Cancel and stop reach the attempt that runs, and end the waiting between
// two.
//
// Savepoints are asked for by savepoint(), which waits for them like wait() does for the end. One
// that stops the job ends it as finished.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

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
  Result<std::string> savepoint(const std::string& directory, bool stop) override;

 private:
  Task<void> supervise();
  // What to begin with, found and read, goes to restored_. `restore` as CheckpointOptions::restore,
  // empty: the newest checkpoint of this run, if it has one.
  Status restore_from(const std::string& restore);
  AttemptCheckpoints::Settings checkpoint_settings() const;
  void savepoint_ended(SavepointEnd end);
  Task<Status> run_attempt();
  Status list_sources();
  void note(const std::string& line);

  const JobSurroundings surroundings_;
  const PlannedGraphs graphs_;
  const DeploymentOptions options_;
  std::unique_ptr<Executor> executor_;
  WakeEvent event_;  // the attempt's end, cancel, stop
  std::shared_ptr<const RestoredState> restored_;
  SourceListings listings_;
  std::uint64_t superseded_ = 0;  // see OperatorContext::superseded_epoch
  std::uint32_t attempt_ = 0;
  std::uint64_t run_;
  std::uint64_t own_from_ = 1;  // checkpoints with lower numbers are of other runs or jobs
  std::uint64_t next_checkpoint_ = 1;
  bool made_progress_ = false;  // the last attempt has completed a checkpoint
  bool has_completed_ = false;  // any of them has
  std::string stopped_with_;    // the savepoint that ended the job; empty: none

  std::mutex mutex_;  // the attempt that runs, for other threads
  std::shared_ptr<Deployment> deployment_;
  CheckpointSession* session_ = nullptr;  // of the attempt that runs
  std::vector<SavepointWish> wishes_;     // for the next one
  std::map<std::uint64_t, SavepointEnd> savepoints_;
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
