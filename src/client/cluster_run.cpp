#include "client/cluster_run.hpp"

#include <fmt/format.h>

#include "client/poll_intervals.hpp"
#include "platform/run_task.hpp"
#include "protocol/job_status.hpp"

namespace hummer {
namespace {

// With the 1 s that a question may wait for its answer: under 10 s until a lost JobManager is
// called so.
constexpr Nanoseconds patience_ns = seconds(7);

}  // namespace

ClusterRun::ClusterRun(JobContext context, Credentials credentials)
    : WaitingRun(std::move(context)),
      credentials_(std::move(credentials)),
      executor_(context_.platform->make_executor({.name = "client"})),
      client_(std::make_unique<ClusterClient>(*context_.platform, *executor_, client_options())) {}

ClusterRun::~ClusterRun() {
  executor_->stop();
  if (!waited() && job_ != 0) {
    *context_.last_result = context_.failed(
        {ErrorCode::cancelled, fmt::format("nobody waited for job {}, which goes on", job_)});
  }
}

ClusterClientOptions ClusterRun::client_options() const {
  ClusterClientOptions options;
  options.job_manager = context_.options.job_manager;
  options.token = credentials_.token;
  options.tls = credentials_.tls;
  options.over_rest = true;
  options.patience_ns = patience_ns;
  return options;
}

std::string ClusterRun::hint(const char* command) const {
  return fmt::format("{} {} {} --job-manager {}", context_.program, command, job_,
                     context_.options.job_manager);
}

Status ClusterRun::submit(wire::SubmitJob job, std::string library) {
  status_.set_name(job.graph().job_name());
  const std::optional<Result<std::uint64_t>> submitted =
      run_task(*context_.platform, *executor_, client_->submit(std::move(job), std::move(library)));
  if (!submitted) return {ErrorCode::internal, "the submission can never end"};
  if (!submitted->ok()) return submitted->status().with_context("submitting the job");
  job_ = **submitted;
  executor_->spawn(watch(*this));
  return {};
}

void ClusterRun::changed(void* run, const wire::JobStatus& status) {
  ClusterRun& self = *static_cast<ClusterRun*>(run);
  const std::scoped_lock lock(self.mutex_);
  self.status_ = status;
}

Task<void> ClusterRun::watch(ClusterRun& run) {
  Result<wire::JobStatus> end = co_await run.client_->watch(run.job_, &ClusterRun::changed, &run);
  if (end.ok()) {
    changed(&run, *end);
  } else {
    const std::scoped_lock lock(run.mutex_);
    run.lost_ = end.status();
  }
  run.ended_.store(true, std::memory_order_release);
  run.context_.platform->notify_main();
}

void ClusterRun::send_desired_state(wire::DesiredState desired_state) {
  executor_->spawn(send(*this, desired_state));
}

Task<void> ClusterRun::send(ClusterRun& run, wire::DesiredState desired_state) {
  // A connection of its own: the other one waits for the job.
  ClusterClientOptions options = run.client_options();
  options.numbered_by = run.client_->numbered_by();
  ClusterClient client(*run.context_.platform, *run.executor_, std::move(options));
  wire::ClientRequest request;
  request.mutable_end()->set_job(run.job_);
  request.mutable_end()->set_desired_state(desired_state);
  const Result<wire::ClientAnswer> answer = co_await client.ask(std::move(request));
  if (answer.ok() || run.finished()) co_return;
  (void)run.context_.platform->write_standard(
      2, fmt::format("hummer: job {} could not be told to end: {}\n", run.job_,
                     answer.status().to_string()));
}

Result<std::string> ClusterRun::savepoint(const std::string& directory, bool stop) {
  wire::TakeSavepoint savepoint;
  savepoint.set_job(job_);
  savepoint.set_request_id(context_.platform->random().next() | 1);
  savepoint.set_directory(directory);
  savepoint.set_stop(stop);
  savepoint.set_wait_ms(savepoint_wait_ms);
  std::optional<Result<std::string>> path =
      run_task(*context_.platform, *executor_, ask_for_savepoint(*this, std::move(savepoint)));
  if (!path) return Status(ErrorCode::internal, "the savepoint can never come");
  return std::move(*path);
}

Task<Result<std::string>> ClusterRun::ask_for_savepoint(ClusterRun& run,
                                                        wire::TakeSavepoint savepoint) {
  ClusterClientOptions options = run.client_options();
  options.numbered_by = run.client_->numbered_by();
  ClusterClient client(*run.context_.platform, *run.executor_, std::move(options));
  for (;;) {
    wire::ClientRequest request;
    *request.mutable_savepoint() = savepoint;
    const Result<wire::ClientAnswer> answer = co_await client.ask(std::move(request));
    if (!answer.ok()) co_return answer.status();
    if (!answer->savepoint().path().empty()) co_return answer->savepoint().path();
  }
}

wire::JobStatus ClusterRun::status() const {
  const std::scoped_lock lock(mutex_);
  return status_;
}

std::vector<std::string> ClusterRun::stuck() {
  return finished() ? std::vector<std::string>() : stuck_in(status());
}

std::vector<std::string> ClusterRun::stuck_in(const wire::JobStatus& status) const {
  return {status.stuck().begin(), status.stuck().end()};
}

JobResult ClusterRun::so_far(const wire::JobStatus& status) const {
  return job_result(status, context_.platform->wall_time_ms());
}

std::vector<std::string> ClusterRun::take_notes() {
  const std::string reason = status().reason();
  if (finished() || reason.empty() || reason == told_reason_) return {};
  told_reason_ = reason;
  return {fmt::format("hummer: job {}: {}", job_, reason)};
}

// The job is the cluster's: it goes on.
std::optional<JobResult> ClusterRun::asked_to_end(int signal, Progress& progress) {
  JobResult result = so_far(status());
  result.job_name = context_.job_name;
  result.status =
      Status(ErrorCode::cancelled,
             fmt::format("detached from job {}, which goes on (signal {}); end it with: {}", job_,
                         signal, hint("cancel")));
  progress.note("hummer: " + result.status.message());
  return result;
}

JobResult ClusterRun::result() {
  JobResult result = so_far(status());
  if (lost_.ok()) return result;
  result.status =
      Status(ErrorCode::connection_lost,
             fmt::format("the state of job {} is unknown, it may go on: {}. Ask again with: {}",
                         job_, lost_.message(), hint("status")));
  return result;
}

}  // namespace hummer
