// A job on a cluster, seen from the client that submitted it.
//
// Lifecycle: submit() returns once the JobManager has the job; then a task on an own executor
// watches it. The job does not depend on this object: destroying it, or the end of the process,
// leaves the job running. A signal to end (Ctrl-C) during wait() detaches likewise, with a hint how
// to cancel the job, and the result is E3001.
//
// Errors: a JobManager that is gone ends wait() within 10 s by connection_lost, which says that the
// job's state is unknown.
//
// Thread: as JobHandle.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "client/cluster_client.hpp"
#include "client/credentials.hpp"
#include "client/waiting_run.hpp"

namespace hummer {

class ClusterRun final : public WaitingRun {
 public:
  ClusterRun(JobContext context, Credentials credentials);
  ~ClusterRun() override;

  // Blocks until the JobManager has the job and its library, or a failure.
  Status submit(wire::SubmitJob job, std::string library);
  std::uint64_t job() const { return job_; }

  void stop() override { send_desired_state(wire::DESIRED_STOP); }
  void cancel() override { send_desired_state(wire::DESIRED_CANCEL); }
  bool finished() const override { return ended_.load(std::memory_order_acquire); }
  std::vector<std::string> stuck() override;
  Result<std::string> savepoint(const std::string& directory, bool stop) override;

 private:
  wire::JobStatus look() override { return status(); }
  JobResult so_far(const wire::JobStatus& status) const override;
  std::vector<std::string> stuck_in(const wire::JobStatus& status) const override;
  std::vector<std::string> take_notes() override;
  std::optional<JobResult> asked_to_end(int signal, Progress& progress) override;
  JobResult result() override;

  static Task<void> watch(ClusterRun& run);
  static Task<void> send(ClusterRun& run, wire::DesiredState desired_state);
  static Task<Result<std::string>> ask_for_savepoint(ClusterRun& run,
                                                     wire::TakeSavepoint savepoint);
  static void changed(void* run, const wire::JobStatus& status);
  ClusterClientOptions client_options() const;
  void send_desired_state(wire::DesiredState desired_state);
  wire::JobStatus status() const;
  // "; end it with: wordcount cancel 7"
  std::string hint(const char* command) const;

  const Credentials credentials_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<ClusterClient> client_;
  std::uint64_t job_ = 0;

  mutable std::mutex mutex_;
  wire::JobStatus status_;  // the last one
  Status lost_;             // why there will be no more of them
  std::atomic<bool> ended_{false};

  std::string told_reason_;
};

}  // namespace hummer
