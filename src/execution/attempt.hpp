// Attempt: this process's part of one run of a region of a job, from its deployment message to its
// end. Most jobs are one region (graph/regions.hpp); of others it runs the tasks of its own only.
//
//   library (asked for, when it is not loaded) → the job function builds the stream graph → job
//   graph, whose fingerprint must be the JobManager's → placement, whose hash must be too →
//   listings of its sources, those of the run → Deployment → its end
//
// Listings (runtime/source_listing.hpp): one that the run has comes with the deployment, or is in
// the checkpoint to begin with. Else that attempt makes it which has the source's first subtask; it
// reports it, and all, this one too, go on with what the JobManager hands out.
//
// All of it runs on an executor of its own, since all of it may call user code: a library's
// initialisers, the job function, factories, destructors. So what hangs there hangs nobody else; it
// is named by stuck().
//
// Checkpoints: what its tasks save is written by a SnapshotWriter into the directory that the
// JobManager names, and reported until a newer checkpoint is under way; which one may be committed
// comes back the same way. State to begin with is read here, from the directory in the deployment.
//
// States: preparing → running → finished | failed | cancelled.
//
// Lifecycle: start() once; destroyed after ended(). Destroying it earlier ends it in the middle as
// a cancellation would and waits for user code that runs (a killed node of a simulation: at once).
// Thread: all calls from any, except start and the destructor: one and the same.
// Errors: the failure in the report. A user function that throws ends the attempt, nothing else.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/snapshot_writer.hpp"
#include "execution/attempt_table.hpp"
#include "execution/busy_shares.hpp"
#include "execution/deployment.hpp"
#include "execution/library_fetch.hpp"
#include "execution/stuck_watch.hpp"
#include "graph/job_graph.hpp"
#include "graph/stream_graph.hpp"
#include "job_library/job_libraries.hpp"
#include "net/data_plane.hpp"
#include "platform/log.hpp"
#include "platform/platform.hpp"
#include "platform/task.hpp"
#include "platform/wake_event.hpp"
#include "protocol/control.pb.h"

namespace hummer {

// That something is worth a new look, told from any thread.
class ChangeSignal {
 public:
  void raise() {
    raised_.store(true, std::memory_order_release);
    event.notify();
  }
  bool raised() const { return raised_.load(std::memory_order_acquire); }
  bool take() { return raised_.exchange(false, std::memory_order_acq_rel); }

  WakeEvent event;

 private:
  std::atomic<bool> raised_{false};
};

// A job whose graphs this process has already, so that nothing need be loaded or built.
struct PreparedJob {
  StreamGraph stream;
  JobGraph job;
};

// What an attempt uses of its process; all of it outlives the attempt.
struct AttemptContext {
  Platform* platform = nullptr;
  JobLibraries* libraries = nullptr;
  DataPlane* data_plane = nullptr;
  ChangeSignal* changed = nullptr;  // raised when report() would differ in more than metrics
  // Of the JobManager that assigned it: with another one, job numbers begin again.
  std::uint64_t job_manager = 0;
  Nanoseconds stuck_patience_ns = seconds(5);
  std::shared_ptr<MemoryAccount> memory;  // the process's
  std::string spill_directory;
  Logger log;
  ShuffleStore* shuffle = nullptr;
  // In the process of the job's client: the only job that runs here, without libraries and data
  // plane, and who hears what its owner may want to know. Null, empty: on a TaskManager.
  const PreparedJob* prepared = nullptr;
  std::function<void(std::string)> on_note = {};
};

class Attempt {
 public:
  Attempt(AttemptContext context, AttemptId id, wire::Deployment deployment);
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  void start();
  void stop();
  void cancel();
  // No code of the job runs any more.
  bool ended() const { return ended_.load(std::memory_order_acquire); }

  // The library that it waits for.
  struct WantedLibrary {
    std::uint64_t hash = 0;
    std::uint64_t bytes = 0;
  };
  std::optional<WantedLibrary> wanted_library() const;
  void deliver_library(Result<LibraryBytes> bytes);
  // Those that its last report wanted.
  void deliver_listings(const wire::Assignment& assignment);

  // How far its checkpoints are, as the JobManager says.
  void follow(const wire::CheckpointState& checkpoints);

  // All metrics, and the log lines from the first that was not seen.
  wire::AttemptReport report(Nanoseconds now);
  void log_lines_seen(std::uint64_t lines);
  std::vector<std::string> stuck(Nanoseconds now);

  // Empty when nothing runs. The job's number and name are the caller's.
  TaskSamples samples(Nanoseconds now) const;

  const AttemptId& id() const { return id_; }
  // REQUIRES: ended(). 0: none has begun.
  Nanoseconds tasks_ended_at() const { return tasks_ended_at_; }
  // Of this TaskManager: those that the JobManager gave to it.
  std::vector<int> slots() const;
  // REQUIRES: cancelled. Those of `before` that it has not given back: where a task has not ended;
  // else, as long as it has not ended itself, one for the thread that it has besides.
  std::vector<int> slots_left(const std::vector<int>& before) const;
  const std::string& job_name() const { return message_.job_name(); }

 private:
  enum class Step { library, load, build, list, deploy, run, close, over };
  struct Plan;

  Task<void> run();
  // Null without a failure: cancelled meanwhile.
  Task<Result<JobFunction>> obtain_function();
  Result<JobFunction> find_function();
  Task<Status> await_library();
  Result<JobFunction> load_function();
  Status build(JobFunction function);
  Status list_sources();
  Task<Status> await_listings();
  Status deploy();
  Result<std::unique_ptr<Plan>> build_graphs(JobFunction function) const;
  Status call_job_function(JobFunction function, Plan& graphs) const;
  Result<DeploymentOptions> deployment_options(const JobGraph& job);
  Result<std::shared_ptr<const RestoredState>> read_state(const JobGraph& job) const;
  bool is_own(int region) const { return region == static_cast<int>(id_.region); }
  void snapshot_progress(SnapshotProgress news);
  // Hands checkpoints_ on to the tasks. REQUIRES: mutex_.
  void tell_tasks();
  Task<void> await_tasks();
  Status close_deployment(Status status);
  void end(Status status);
  void enter(Step step);
  ShuffleOptions shuffle_options(const JobGraph& job);
  void file_is_lost(const ShuffleSource& source);
  void describe_files(wire::AttemptReport& report) const;  // REQUIRES: mutex_
  // Into the job's log, which goes to the JobManager, and the process's.
  void log(std::string text, LogLevel level = LogLevel::info);
  void log_line(std::string text, LogLevel level = LogLevel::info);  // REQUIRES: mutex_
  // For the job's owner, too. REQUIRES: mutex_.
  void log_note(const std::string& text);
  void log_restored(const RestoredState& restored);  // REQUIRES: mutex_
  // Into the process's alone, with the task as whom it is about.
  void log_task(const StreamTask& task, LogLevel level, std::string_view text) const;
  void log_task_ends() const;  // REQUIRES: the deployment has finished
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  std::string where(Step step) const;

  const AttemptContext context_;
  const AttemptId id_;
  const wire::Deployment message_;
  WakeEvent event_;  // of run()
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> ended_{false};

  mutable std::mutex mutex_;  // of what follows, but for the uses on the own executor
  Step step_ = Step::library;
  Nanoseconds step_since_ = 0;
  bool stopping_ = false;
  bool library_wanted_ = false;
  std::optional<Result<LibraryBytes>> library_;
  std::set<std::string> wanted_listings_;             // by uid
  std::map<std::string, std::string> made_listings_;  // here, until the JobManager has them
  SourceListings listings_;
  wire::CheckpointState checkpoints_;  // the newest
  std::uint64_t told_begun_ = 0;       // the tasks
  std::uint64_t told_commit_ = 0;
  // Of the checkpoint under way, or of the next: a barrier from another TaskManager may come before
  // the JobManager's word of it.
  std::map<std::uint32_t, wire::SnapshotReport> snapshots_;
  std::set<std::uint32_t> ended_tasks_;
  std::vector<wire::ShuffleSource> lost_files_;  // with the first failure
  std::unique_ptr<Plan> plan_;                   // of the deployment that is not made yet
  std::unique_ptr<SnapshotWriter> writer_;       // null: the job takes no checkpoints
  std::unique_ptr<Deployment> deployment_;
  StuckWatch watch_;
  wire::AttemptState state_ = wire::ATTEMPT_PREPARING;
  Status failure_;
  Nanoseconds tasks_ended_at_ = 0;
  std::vector<wire::VertexMetrics> final_metrics_;
  BusyShares busy_shares_;
  std::uint64_t first_log_line_ = 0;
  std::deque<wire::LogLine> log_lines_;

  std::unique_ptr<Executor> executor_;  // last: stopped before anything it uses goes away
};

}  // namespace hummer
