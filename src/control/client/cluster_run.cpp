#include "control/client/cluster_run.hpp"

#include <fmt/format.h>

#include "control/client/job_status.hpp"
#include "control/client/poll_intervals.hpp"
#include "platform/run_task.hpp"

namespace hummer {
namespace {

// With the 1 s that a question may wait for its answer: under 10 s until a lost JobManager is
// called so.
constexpr Nanoseconds patience_ns = seconds(7);
constexpr std::uint32_t savepoint_wait_ms = 1000;

}  // namespace

ClusterRun::ClusterRun(JobSurroundings surroundings, Credentials credentials)
    : surroundings_(std::move(surroundings)),
      credentials_(std::move(credentials)),
      executor_(surroundings_.platform->make_executor({.name = "client"})),
      client_(
          std::make_unique<ClusterClient>(*surroundings_.platform, *executor_, client_options())) {}

ClusterRun::~ClusterRun() {
  executor_->stop();
  if (!complete_ && job_ != 0) {
    *surroundings_.last_result = surroundings_.failed(
        {ErrorCode::cancelled, fmt::format("nobody waited for job {}, which goes on", job_)});
  }
}

ClusterClientOptions ClusterRun::client_options() const {
  ClusterClientOptions options;
  options.job_manager = surroundings_.options.job_manager;
  options.token = credentials_.token;
  options.tls = credentials_.tls;
  options.over_rest = true;
  options.patience_ns = patience_ns;
  return options;
}

std::string ClusterRun::hint(const char* command) const {
  return fmt::format("{} {} {} --job-manager {}", surroundings_.program, command, job_,
                     surroundings_.options.job_manager);
}

Status ClusterRun::submit(wire::SubmitJob job, std::string library) {
  status_.set_name(job.graph().job_name());
  const std::optional<Result<std::uint64_t>> submitted = run_task(
      *surroundings_.platform, *executor_, client_->submit(std::move(job), std::move(library)));
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
  run.surroundings_.platform->notify_main();
}

void ClusterRun::send_wish(wire::Wish wish) { executor_->spawn(send(*this, wish)); }

Task<void> ClusterRun::send(ClusterRun& run, wire::Wish wish) {
  // A connection of its own: the other one waits for the job.
  ClusterClientOptions options = run.client_options();
  options.numbered_by = run.client_->numbered_by();
  ClusterClient client(*run.surroundings_.platform, *run.executor_, std::move(options));
  wire::ClientRequest request;
  request.mutable_end()->set_job(run.job_);
  request.mutable_end()->set_wish(wish);
  const Result<wire::ClientAnswer> answer = co_await client.ask(std::move(request));
  if (answer.ok() || run.finished()) co_return;
  (void)run.surroundings_.platform->write_standard(
      2, fmt::format("hummer: job {} could not be told to end: {}\n", run.job_,
                     answer.status().to_string()));
}

Result<std::string> ClusterRun::savepoint(const std::string& directory, bool stop) {
  wire::TakeSavepoint wish;
  wish.set_job(job_);
  wish.set_wish_id(surroundings_.platform->random().next() | 1);
  wish.set_directory(directory);
  wish.set_stop(stop);
  wish.set_wait_ms(savepoint_wait_ms);
  std::optional<Result<std::string>> path =
      run_task(*surroundings_.platform, *executor_, ask_for_savepoint(*this, std::move(wish)));
  if (!path) return Status(ErrorCode::internal, "the savepoint can never come");
  return std::move(*path);
}

Task<Result<std::string>> ClusterRun::ask_for_savepoint(ClusterRun& run, wire::TakeSavepoint wish) {
  ClusterClientOptions options = run.client_options();
  options.numbered_by = run.client_->numbered_by();
  ClusterClient client(*run.surroundings_.platform, *run.executor_, std::move(options));
  for (;;) {
    wire::ClientRequest request;
    *request.mutable_savepoint() = wish;
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
  if (finished()) return {};
  const wire::JobStatus now = status();
  return {now.stuck().begin(), now.stuck().end()};
}

void ClusterRun::show(Progress& progress) {
  Platform& platform = *surroundings_.platform;
  const wire::JobStatus now = status();
  if (!now.reason().empty() && now.reason() != told_reason_) {
    told_reason_ = now.reason();
    progress.note(fmt::format("hummer: job {}: {}", job_, told_reason_));
  }
  if (now.started_ms() == 0) return;
  progress.tick([&] { return progress_figures(job_result(now, platform.wall_time_ms())); });
  if (now.stuck_size() > 0 && platform.now() - last_stuck_report_ > stuck_report_ns) {
    last_stuck_report_ = platform.now();
    for (const std::string& text : now.stuck()) progress.note("hummer: " + text);
  }
}

JobResult ClusterRun::detached(int signal) {
  JobResult result = job_result(status(), surroundings_.platform->wall_time_ms());
  result.job_name = surroundings_.job_name;
  result.status =
      Status(ErrorCode::cancelled,
             fmt::format("detached from job {}, which goes on (signal {}); end it with: {}", job_,
                         signal, hint("cancel")));
  return result;
}

JobResult ClusterRun::wait() {
  if (complete_) return result_;
  Platform& platform = *surroundings_.platform;
  Progress progress(platform, surroundings_.options.quiet,
                    surroundings_.options.progress_per_vertex);
  // Only a program that belongs to the job: signals of any other are its author's.
  std::unique_ptr<SignalWatch> signals;
  if (surroundings_.from_command_line) signals = platform.watch_signals();
  const auto asked_to_end = [&] { return signals != nullptr && signals->received() != 0; };
  while (true) {
    const RunEnd end =
        platform.run_until([&] { return finished() || asked_to_end(); }, platform.now() + tick_ns);
    if (end == RunEnd::deadlock) return surroundings_.failed({ErrorCode::internal, "deadlock"});
    if (end == RunEnd::satisfied) break;
    show(progress);
  }
  complete_ = true;
  if (!finished()) {
    result_ = detached(signals->received());
    progress.note("hummer: " + result_.status.message());
    *surroundings_.last_result = result_;
    return result_;
  }
  result_ = job_result(status(), platform.wall_time_ms());
  if (!lost_.ok()) {
    result_.status =
        Status(ErrorCode::connection_lost,
               fmt::format("the state of job {} is unknown, it may go on: {}. Ask again with: {}",
                           job_, lost_.message(), hint("status")));
  }
  progress.summarize(result_);
  surroundings_.keep_and_report(result_);
  return result_;
}

}  // namespace hummer
