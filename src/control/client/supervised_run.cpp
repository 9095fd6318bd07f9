#include "control/client/supervised_run.hpp"

#include <fmt/format.h>

#include "control/checkpoint/restart_policy.hpp"
#include "platform/task.hpp"

namespace hummer {
namespace {

constexpr Nanoseconds tick_ns = milliseconds(100);
constexpr Nanoseconds stuck_patience_ns = seconds(5);

}  // namespace

SupervisedRun::SupervisedRun(JobSurroundings surroundings, PlannedGraphs graphs,
                             DeploymentOptions options)
    : surroundings_(std::move(surroundings)),
      graphs_(std::move(graphs)),
      options_(std::move(options)),
      store_(surroundings_.platform->files(), surroundings_.options.checkpoints.directory),
      executor_(surroundings_.platform->make_executor({.name = "supervisor"})),
      watch_(stuck_patience_ns),
      began_(surroundings_.platform->now()) {}

SupervisedRun::~SupervisedRun() {
  if (!finished()) {
    cancel();
    (void)surroundings_.platform->run_until([&] { return finished(); }, never);
  }
  if (!reported_) {
    *surroundings_.last_result =
        surroundings_.failed({ErrorCode::cancelled, "nobody waited for the job"});
  }
  executor_->stop();
}

Result<std::shared_ptr<const RestoredState>> SupervisedRun::newest_state() {
  Status refused;  // the newest that there is and cannot be used
  const auto pass_over = [&](std::uint64_t id, const Status& why) {
    note(fmt::format("checkpoint {} is passed over: {}", id, why.message()));
    // Those of earlier runs don't matter to a restart of this one.
    if (refused.ok() && id >= first_checkpoint_) refused = why;
  };
  std::uint64_t limit = UINT64_MAX;
  for (;;) {
    std::vector<SkippedCheckpoint> skipped;
    const Result<CheckpointMetadata> newest = store_.newest(skipped, limit);
    for (const SkippedCheckpoint& each : skipped) {
      if (each.why.code() != ErrorCode::not_found) pass_over(each.id, each.why);
    }
    if (!newest.ok()) {
      if (newest.status().code() != ErrorCode::not_found) return newest.status();
      if (refused.ok()) return std::shared_ptr<const RestoredState>();
      return refused.with_context("no checkpoint in '" +
                                  surroundings_.options.checkpoints.directory + "' can be used");
    }
    const Status restorable = check_restorable(
        *newest, graphs_.job_graph, surroundings_.options.checkpoints.allow_dropped_state);
    if (restorable.ok()) {
      return load_state(surroundings_.platform->files(), store_.path_of(newest->id), *newest);
    }
    // Of this job: its author has to decide. Of another one: it does not belong here.
    if (newest->job_name == graphs_.job_graph.job_name) return restorable;
    pass_over(newest->id, restorable.with_context("it is of the job '" + newest->job_name + "'"));
    limit = newest->id;
  }
}

Result<std::shared_ptr<const RestoredState>> SupervisedRun::first_state() {
  const CheckpointOptions& options = surroundings_.options.checkpoints;
  if (options.restore.empty()) return std::shared_ptr<const RestoredState>();
  if (options.restore == "latest") return newest_state();
  Files& files = surroundings_.platform->files();
  const Result<CheckpointMetadata> metadata = CheckpointStore::read_at(files, options.restore);
  if (!metadata.ok()) return metadata.status().with_context("cannot restore");
  HUMMER_TRY(check_restorable(*metadata, graphs_.job_graph, options.allow_dropped_state));
  return load_state(files, options.restore, *metadata);
}

Status SupervisedRun::start() {
  if (surroundings_.options.checkpoints.enabled()) {
    Result<std::shared_ptr<const RestoredState>> state = first_state();
    if (!state.ok()) {
      done_.store(true, std::memory_order_release);
      reported_ = true;
      return state.status();
    }
    restored_ = std::move(*state);
    const Result<std::vector<std::uint64_t>> ids = store_.ids();
    if (ids.ok() && !ids->empty()) next_checkpoint_ = ids->back() + 1;
    if (restored_) next_checkpoint_ = std::max(next_checkpoint_, restored_->checkpoint + 1);
    first_checkpoint_ = next_checkpoint_;
  }
  executor_->spawn(supervise());
  return {};
}

void SupervisedRun::stop() {
  stop_requested_.store(true, std::memory_order_release);
  const std::lock_guard lock(mutex_);
  if (deployment_) deployment_->stop();
}

void SupervisedRun::cancel() {
  cancel_requested_.store(true, std::memory_order_release);
  {
    const std::lock_guard lock(mutex_);
    if (deployment_) deployment_->cancel();
  }
  event_.notify();
}

void SupervisedRun::note(const std::string& line) {
  const std::lock_guard lock(mutex_);
  notes_.push_back("hummer: " + line);
}

Task<void> SupervisedRun::supervise() {
  const EnvironmentOptions& options = surroundings_.options;
  RestartPolicy policy(effective_strategy(options.restart, options.checkpoints.enabled()));
  Platform& platform = *surroundings_.platform;
  for (;;) {
    Status status = co_await run_attempt();
    const bool ended = status.ok() || status.code() == ErrorCode::cancelled ||
                       cancel_requested_.load(std::memory_order_acquire);
    const auto delay = ended ? std::nullopt : policy.failed(platform.now());
    if (!delay) {
      result_.status = std::move(status);
      break;
    }
    ++attempt_;
    if (options.checkpoints.enabled()) {
      Result<std::shared_ptr<const RestoredState>> state = newest_state();
      if (!state.ok()) {
        result_.status = state.status().with_context("after '" + status.message() + "'");
        break;
      }
      // One from before this run, which began without it, is not its own.
      if (*state && (*state)->checkpoint >= first_checkpoint_) restored_ = std::move(*state);
    }
    note(fmt::format("{} failed: {}; restart {} {} in {} ms", surroundings_.job_name,
                     status.to_string(), policy.restarts(),
                     restored_ ? fmt::format("from checkpoint {}", restored_->checkpoint)
                               : std::string("from the beginning"),
                     *delay / 1'000'000));
    const Nanoseconds deadline = platform.now() + *delay;
    while (!cancel_requested_.load(std::memory_order_acquire) && platform.now() < deadline) {
      event_.prepare_wait();
      if (cancel_requested_.load(std::memory_order_acquire)) {
        event_.cancel_wait();
        break;
      }
      co_await event_.wait_until(deadline);
    }
    if (cancel_requested_.load(std::memory_order_acquire)) {
      result_.status = {ErrorCode::cancelled, "the job was cancelled"};
      break;
    }
  }
  if (options.checkpoints.enabled() && result_.status.ok() && !options.checkpoints.keep_at_end) {
    const Result<std::vector<std::uint64_t>> ids = store_.ids();
    if (ids.ok()) {
      for (const std::uint64_t id : *ids) (void)store_.remove(id);
    }
  }
  result_.seconds = static_cast<double>(platform.now() - began_) / 1e9;
  done_.store(true, std::memory_order_release);
  platform.notify_main();
}

Task<Status> SupervisedRun::run_attempt() {
  Platform& platform = *surroundings_.platform;
  const EnvironmentOptions& options = surroundings_.options;
  std::unique_ptr<CheckpointSession> session;
  DeploymentOptions deployment_options = options_;
  deployment_options.on_finished = &event_;
  deployment_options.attempt = attempt_;
  deployment_options.restored = restored_;
  if (options.checkpoints.enabled()) {
    session = std::make_unique<CheckpointSession>(
        platform, options.checkpoints,
        describe_job(graphs_.job_graph, graphs_.execution_graph, graphs_.job_graph.fingerprint),
        graphs_.execution_graph, next_checkpoint_);
    deployment_options.guarantee = options.checkpoints.guarantee;
    deployment_options.on_snapshot = [&session = *session](const ExecutionTask& task,
                                                           TaskSnapshot snapshot) {
      session.snapshot_taken(task, std::move(snapshot));
    };
  }
  auto deployment =
      std::make_shared<Deployment>(platform, graphs_.stream_graph, graphs_.job_graph,
                                   graphs_.execution_graph, std::move(deployment_options));
  {
    const std::lock_guard lock(mutex_);
    deployment_ = deployment;
  }
  if (cancel_requested_.load(std::memory_order_acquire)) deployment->cancel();
  if (stop_requested_.load(std::memory_order_acquire)) deployment->stop();
  Status status = deployment->start();
  if (status.ok()) {
    if (session) session->start(*deployment);
    if (restored_) deployment->commit(restored_->checkpoint);
    while (!deployment->finished()) {
      event_.prepare_wait();
      if (deployment->finished()) {
        event_.cancel_wait();
        break;
      }
      co_await event_.wait();
    }
  }
  if (session) {
    session->stop();
    next_checkpoint_ = std::max(next_checkpoint_, session->highest_begun() + 1);
  }
  if (status.ok()) {
    status = deployment->finish();
    const Status kept = result_.status;
    result_ = deployment->figures();
    result_.status = kept;
  }
  {
    const std::lock_guard lock(mutex_);
    deployment_.reset();
  }
  deployment.reset();
  co_return status;
}

std::vector<std::string> SupervisedRun::stuck() {
  const std::lock_guard lock(mutex_);
  if (!deployment_ || !deployment_->started()) return {};
  return watch_.look(*deployment_, surroundings_.platform->now());
}

JobResult SupervisedRun::wait() {
  if (reported_) return result_;
  Platform& platform = *surroundings_.platform;
  Progress progress(platform, surroundings_.options.quiet,
                    surroundings_.options.progress_per_vertex);
  const auto tell_notes = [&] {
    std::vector<std::string> notes;
    {
      const std::lock_guard lock(mutex_);
      notes = std::exchange(notes_, {});
    }
    for (const std::string& line : notes) progress.note(line);
  };
  for (;;) {
    const RunEnd end = platform.run_until([&] { return finished(); }, platform.now() + tick_ns);
    tell_notes();
    if (end == RunEnd::satisfied) break;
    if (end == RunEnd::deadlock) {
      done_.store(true, std::memory_order_release);
      result_ = surroundings_.failed({ErrorCode::internal, "the job can never go on"});
      break;
    }
    const std::lock_guard lock(mutex_);
    if (!deployment_ || !deployment_->started()) continue;
    progress.tick([&] {
      return progress_figures(*deployment_, static_cast<double>(platform.now() - began_) / 1e9);
    });
  }
  reported_ = true;
  result_.job_name = surroundings_.job_name;
  progress.summarize(result_);
  surroundings_.keep_and_report(result_);
  return result_;
}

}  // namespace hummer
