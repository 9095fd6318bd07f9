#include "control/client/supervised_run.hpp"

#include <fmt/format.h>

#include "control/checkpoint/checkpoint_order.hpp"
#include "control/checkpoint/restart_policy.hpp"
#include "control/checkpoint/restored_state.hpp"
#include "control/client/drain.hpp"
#include "control/client/poll_intervals.hpp"
#include "control/task_manager/listed_sources.hpp"
#include "graph/replay_warnings.hpp"
#include "platform/task.hpp"

namespace hummer {
namespace {

constexpr Nanoseconds commit_look_ns = milliseconds(1);

}  // namespace

SupervisedRun::SupervisedRun(JobSurroundings surroundings, PlannedGraphs graphs,
                             DeploymentOptions options)
    : surroundings_(std::move(surroundings)),
      graphs_(std::move(graphs)),
      options_(std::move(options)),
      executor_(surroundings_.platform->make_executor({.name = "supervisor"})),
      run_(surroundings_.platform->random().next()),
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

Status SupervisedRun::restore_from(const std::string& restore) {
  const CheckpointOptions& options = surroundings_.options.checkpoints;
  Files& files = surroundings_.platform->files();
  CheckpointOrder order;
  order.kind = CheckpointOrder::Kind::find;
  order.directory = order.latest_in = options.directory;
  order.own_from = own_from_;
  order.restore = restore;
  order.metadata.job_name = graphs_.job_graph.job_name;
  const CheckpointOutcome found = carry_out(files, std::move(order));
  for (const std::string& line : found.passed_over) note(line);
  next_checkpoint_ = std::max(next_checkpoint_, found.highest + 1);
  if (found.status.code() == ErrorCode::not_found && has_completed_) {
    const std::string gone = fmt::format(
        "all checkpoints that this run has completed in '{}' are gone", options.directory);
    if (!options.allow_fresh_start) {
      return {ErrorCode::not_found,
              gone +
                  "; put them back and run it with --restore latest, or run it again to begin "
                  "anew (--allow-fresh-start lets it do that by itself)"};
    }
    note(gone + ": it begins anew, as --allow-fresh-start says");
    has_completed_ = false;
    restored_.reset();
    if (!options.restore.empty()) return restore_from(options.restore);
    return {};
  }
  if (found.status.code() == ErrorCode::not_found) {
    if (!restore.empty()) note(found.status.message() + ": begins at the beginning");
    return {};
  }
  HUMMER_TRY(found.status);
  superseded_ = found.superseded;
  Result<std::shared_ptr<const RestoredState>> state =
      find_state(files, found.path, found.found, graphs_.job_graph, options.allow_dropped_state);
  if (!state.ok()) {
    return state.status().with_context("reading the state to begin with, '" + found.path + "'");
  }
  restored_ = std::move(*state);
  for (const auto& [uid, listing] : restored_->listings) listings_[uid] = listing;
  if (!restore.empty() || !restored_->dropped.empty()) {
    note(fmt::format("begins with checkpoint {}, '{}'{}", restored_->checkpoint, found.path,
                     restored_->dropped.empty() ? "" : ", and drops " + restored_->dropped));
  }
  return {};
}

Status SupervisedRun::start() {
  const CheckpointOptions& options = surroundings_.options.checkpoints;
  if (options.enabled()) {
    const bool fresh = options.restore.empty();
    // Nothing is below: only the numbers in use are found out.
    if (fresh) own_from_ = UINT64_MAX;
    if (Status status = restore_from(options.restore); !status.ok()) {
      done_.store(true, std::memory_order_release);
      reported_ = true;
      return status;
    }
    // What others have left is theirs until this run has finished.
    own_from_ = next_checkpoint_;
    if (surroundings_.options.process == 0) {
      for (const std::string& line : replay_warnings(graphs_.job_graph)) note("warning: " + line);
    }
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
                       !may_restart_after(status) ||
                       cancel_requested_.load(std::memory_order_acquire);
    if (made_progress_) policy.made_progress();
    const auto delay = ended ? std::nullopt : policy.failed(platform.now(), status);
    if (!delay) {
      result_.status = policy.last(status);
      break;
    }
    ++attempt_;
    if (options.checkpoints.enabled()) {
      if (Status restored = restore_from(stopped_with_); !restored.ok()) {
        result_.status = restored.with_context("after '" + status.message() + "'");
        break;
      }
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
    CheckpointOrder order;
    order.kind = CheckpointOrder::Kind::clear;
    order.directory = order.latest_in = options.checkpoints.directory;
    order.own_from = own_from_;
    order.restore = options.checkpoints.restore;
    order.metadata.job_name = graphs_.job_graph.job_name;
    (void)carry_out(platform.files(), std::move(order));
  }
  result_.seconds = static_cast<double>(platform.now() - began_) / 1e9;
  done_.store(true, std::memory_order_release);
  platform.notify_main();
}

// Once for all attempts.
Status SupervisedRun::list_sources() {
  for (const ListedSource& source : listed_sources(graphs_.stream_graph, graphs_.job_graph)) {
    if (listings_.contains(source.uid)) continue;
    Result<SourceListing> listing = list_source(*surroundings_.platform, source);
    if (!listing.ok()) return listing.status();
    listings_[source.uid] = std::move(*listing);
  }
  return {};
}

AttemptCheckpoints::Settings SupervisedRun::checkpoint_settings() const {
  AttemptCheckpoints::Settings settings;
  settings.attempt = attempt_;
  settings.options = surroundings_.options.checkpoints;
  settings.options.unaligned &= can_overtake(graphs_.job_graph);
  settings.directory = settings.options.directory;
  settings.own_from = own_from_;
  settings.describes = describe_job(graphs_.job_graph, graphs_.execution_graph.parallelism);
  for (const auto& [uid, listing] : listings_) {
    settings.describes.listings.push_back({uid, *listing});
  }
  settings.tasks = chain_count(graphs_.execution_graph.parallelism);
  settings.first = next_checkpoint_;
  return settings;
}

Task<Status> SupervisedRun::run_attempt() {
  Platform& platform = *surroundings_.platform;
  const EnvironmentOptions& options = surroundings_.options;
  std::unique_ptr<CheckpointSession> session;
  if (Status listed = list_sources(); !listed.ok()) co_return listed;
  DeploymentOptions deployment_options = options_;
  deployment_options.listings = listings_;
  deployment_options.on_finished = &event_;
  deployment_options.run = run_;
  deployment_options.attempt = attempt_;
  deployment_options.restored = restored_;
  deployment_options.superseded_checkpoint = superseded_;
  if (options.checkpoints.enabled()) {
    session = std::make_unique<CheckpointSession>(
        platform, checkpoint_settings(), options_.spill_directory,
        [this](SavepointEnd end) { savepoint_ended(std::move(end)); });
    deployment_options.guarantee = options.checkpoints.guarantee;
    deployment_options.unaligned = options.checkpoints.unaligned;
    deployment_options.snapshot_step_bytes = options.checkpoints.step_bytes;
    deployment_options.allow_dropped_state = options.checkpoints.allow_dropped_state;
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
    session_ = session.get();
    if (session_ != nullptr) {
      for (SavepointWish& each : std::exchange(wishes_, {})) session_->wish(std::move(each));
    }
  }
  if (cancel_requested_.load(std::memory_order_acquire)) deployment->cancel();
  if (stop_requested_.load(std::memory_order_acquire)) deployment->stop();
  Status status = deployment->start();
  // After a failure between the savepoint that ended the job and its last commit: only that is
  // left.
  const bool only_commits = !stopped_with_.empty();
  bool committed = false;
  if (status.ok()) {
    if (session && !only_commits) session->start(*deployment);
    if (std::string pinning = deployment->describe_pinning(); !pinning.empty()) note(pinning);
    if (restored_) deployment->commit(restored_->checkpoint);
    while (!deployment->finished()) {
      if (only_commits && !committed && deployment->committed() >= restored_->checkpoint) {
        committed = true;
        deployment->cancel();
      }
      event_.prepare_wait();
      if (deployment->finished()) {
        event_.cancel_wait();
        break;
      }
      co_await event_.wait_until(only_commits ? platform.now() + commit_look_ns : never);
    }
  }
  if (session) {
    {
      const std::lock_guard lock(mutex_);
      session_ = nullptr;
    }
    session->stop();
    next_checkpoint_ = std::max(next_checkpoint_, session->next_number());
    made_progress_ = session->completed() > 0;
    has_completed_ |= session->newest_checkpoint() > 0;
    if (!only_commits) stopped_with_ = session->savepoint_path();
    committed |= session->stopped_by_savepoint();
  }
  if (status.ok()) {
    status = deployment->finish();
    if (committed) status = {};
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

void SupervisedRun::savepoint_ended(SavepointEnd end) {
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t id = end.id;
    savepoints_[id] = std::move(end);
  }
  surroundings_.platform->notify_main();
}

Result<std::string> SupervisedRun::savepoint(const std::string& directory, bool stop) {
  Platform& platform = *surroundings_.platform;
  if (!surroundings_.options.checkpoints.enabled()) return Running::savepoint(directory, stop);
  const std::uint64_t id = platform.random().next();
  {
    const std::lock_guard lock(mutex_);
    SavepointWish wish{id, directory, stop};
    if (session_ != nullptr) {
      session_->wish(std::move(wish));
    } else {
      wishes_.push_back(std::move(wish));
    }
  }
  const auto ended = [&] {
    const std::lock_guard lock(mutex_);
    return savepoints_.contains(id);
  };
  (void)platform.run_until([&] { return ended() || finished(); }, never);
  const std::lock_guard lock(mutex_);
  const auto found = savepoints_.extract(id);
  if (found.empty()) {
    return Status(ErrorCode::cancelled, "the job ended before the savepoint was complete");
  }
  HUMMER_TRY(found.mapped().status);
  return std::move(found.mapped().path);
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
  Drain drain(surroundings_);
  Nanoseconds last_stuck_report = 0;
  const auto tell_notes = [&] {
    std::vector<std::string> notes;
    {
      const std::lock_guard lock(mutex_);
      notes = std::exchange(notes_, {});
    }
    for (const std::string& line : notes) progress.note(line);
  };
  for (;;) {
    const RunEnd end =
        platform.run_until([&] { return finished() || drain.due(); }, platform.now() + tick_ns);
    tell_notes();
    if (finished()) break;
    if (drain.due()) {
      stop();
      progress.note(drain.begin());
    }
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
    const Nanoseconds now = platform.now();
    const std::vector<std::string> stuck = watch_.look(*deployment_, now);
    if (stuck.empty() || now - last_stuck_report <= stuck_report_ns) continue;
    last_stuck_report = now;
    for (const std::string& text : stuck) progress.note("hummer: " + text);
  }
  reported_ = true;
  result_.job_name = surroundings_.job_name;
  progress.summarize(result_);
  if (const std::string early = drain.end(result_); !early.empty()) progress.note(early);
  surroundings_.keep_and_report(result_);
  return result_;
}

}  // namespace hummer
