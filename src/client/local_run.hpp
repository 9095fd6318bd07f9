// A job in this process: led by a JobManager of its own, and run by the attempts of its own
// TaskManager, by function call. Checkpoints, restarts, regions and savepoints are those of a
// cluster (job_manager/cluster_state.hpp), since the same code decides them.
//
//   client's threads ──cancel, stop, savepoint──▶ run() on the JobManager's executor
//   JobManager ──follow()──▶ AttemptHost ──▶ attempts ──changed_──▶ run() ──▶ take_local_state()
//
// Nothing is sent when nothing happens: a report goes to the JobManager when an attempt has
// something to say, and when somebody asks how the job is.
//
// Lifecycle: start() → wait(). Destroying it before the job's end cancels the job, and waits.
// Thread: as JobHandle. Errors: those of the job in its result.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "client/job_interface.hpp"
#include "client/waiting_run.hpp"
#include "execution/attempt_host.hpp"
#include "job_manager/job_manager.hpp"
#include "task_manager/state_message.hpp"

namespace hummer {

class LocalRun final : public WaitingRun, private LocalTaskManager {
 public:
  // `slots`: of the TaskManager, at least those that the job needs.
  LocalRun(JobContext context, PreparedJob job, int slots, const JobInterface& interface);
  ~LocalRun() override;

  Status start();
  void stop() override;
  void cancel() override;
  bool finished() const override { return ended_.load(std::memory_order_acquire); }
  std::vector<std::string> stuck() override;
  Result<std::string> savepoint(const std::string& directory, bool stop) override;

 private:
  // What the JobManager has to say that a person at the terminal should read.
  class Notes final : public LogSink {
   public:
    bool wants(LogModule /*room*/, LogLevel level) const override {
      return level == LogLevel::warning;
    }
    void write(const LogEntry& entry) override { add("warning: " + std::string(entry.text)); }
    void add(std::string text);
    std::vector<std::string> take();

   private:
    std::mutex mutex_;
    std::vector<std::string> texts_;
  };

  // Blocks. Empty before the job is there, and after its end.
  wire::JobStatus look() override;
  JobResult so_far(const wire::JobStatus& status) const override;
  std::vector<std::string> stuck_in(const wire::JobStatus& status) const override;
  std::vector<std::string> take_notes() override { return notes_.take(); }
  std::optional<JobResult> asked_to_end(int signal, Progress& progress) override;
  JobResult result() override { return result_; }
  std::string farewell(const JobResult& result) const override;

  void follow(const wire::JobManagerState& state) override;
  void round_ended(bool jobs_changed) override;
  void write_metrics(MetricsText& text) override;
  // Where commands look that ask at the HTTP interface.
  void publish_token();

  static Task<void> run(LocalRun& self);
  wire::SubmitJob submission() const;
  AttemptContext attempt_context();
  void report();
  Task<void> send_desired_statees();
  Task<Result<wire::JobStatus>> query();
  Task<void> await_disk();
  static Task<wire::JobStatus> ask_how_it_is(LocalRun& self);
  static Task<Result<std::string>> ask_for_savepoint(LocalRun& self, wire::TakeSavepoint savepoint);
  void end(Result<wire::JobStatus> status);

  const PreparedJob job_;
  const std::string made_token_;  // empty: none
  const bool interface_encrypted_;
  const Nanoseconds began_;
  Notes notes_;
  std::shared_ptr<MemoryAccount> memory_;
  ChangeSignal changed_;
  std::unique_ptr<ShuffleStore> shuffle_;
  std::unique_ptr<AttemptHost> host_;
  std::unique_ptr<JobManager> manager_;

  // Of run(), on the JobManager's executor.
  StateMessages messages_;
  std::uint64_t number_ = 0;  // the job's; 0: not submitted yet
  bool report_due_ = false;
  bool query_due_ = false;
  wire::DesiredState sent_desired_state_ = wire::DESIRED_RUN;

  std::atomic<bool> stop_requested_{false};
  std::atomic<bool> cancel_requested_{false};
  std::atomic<bool> ended_{false};
  JobResult result_;  // once ended_
  bool started_ = false;
  bool drained_ = false;
};

}  // namespace hummer
