// Checkpoints and restarts of jobs: what is due, and what came of it.
#include <utility>

#include <fmt/format.h>
#include <hummer/codec.hpp>

#include "checkpoint/restored_state.hpp"
#include "job_manager/cluster_state.hpp"
#include "protocol/graph_messages.hpp"

namespace hummer {
namespace {

constexpr std::size_t savepoint_ends_kept = 16;
constexpr Nanoseconds missing_pause_ns = seconds(1);

}  // namespace

// ---- what sources read ----

void ClusterState::take_listings(Job& job, JobPart& part, const wire::AttemptReport& report) {
  part.wanted_listings.assign(report.wanted_listings().begin(), report.wanted_listings().end());
  bool is_new = false;
  for (const wire::SourceListing& each : report.listings()) {
    is_new |= job.listings.try_emplace(each.uid(), each.listing()).second;
  }
  if (is_new) mark_due(job);
}

// ---- what tasks have saved ----

void ClusterState::take_snapshots(Job& job, const wire::AttemptReport& report, Moment at) {
  AttemptCheckpoints* const checkpoints = job.placed()->checkpoints.get();
  if (checkpoints == nullptr) return;
  for (const std::uint32_t task : report.ended_tasks()) checkpoints->ended(task);
  for (const wire::SnapshotReport& each : report.snapshots()) {
    CheckpointFile file;
    ByteReader in(each.file());
    if (each.passed()) {
      checkpoints->passed(each.checkpoint(), each.task());
    } else if (each.has_failure()) {
      checkpoints->declined(each.checkpoint(), at.now, status_from(each.failure()));
    } else if (Codec<CheckpointFile>::decode(in, file) && in.left() == 0) {
      checkpoints->saved(each.checkpoint(), each.task(), std::move(file));
    } else {
      checkpoints->declined(
          each.checkpoint(), at.now,
          {ErrorCode::protocol_error, "a TaskManager's report of a snapshot cannot be decoded"});
    }
  }
}

// ---- what is due ----

void ClusterState::advance_all(Moment at) {
  next_advance_ = never;
  const std::vector<std::uint64_t> ids(advancing_.begin(), advancing_.end());
  for (const std::uint64_t id : ids) advance(*jobs_.find(id), at);
}

void ClusterState::advance(Job& job, Moment at) {
  if (job.search && job.search->ask_at != never) {
    if (at.now < job.search->ask_at) return advance_by(job.search->ask_at);
    job.search->ask_at = never;
    return find_checkpoint(job, {});
  }
  if (const Job::Restarting* restarting = job.as<Job::Restarting>()) {
    if (restarting->attempt->open_parts > 0 || job.search) return;
    if (at.now < restarting->at) return advance_by(restarting->at);
    transition(job, job_event::BeginsAgain{}, at);
    jobs_.wait(job);
    jobs_changed_ = true;
    schedule_due_ = true;
    return;
  }
  if (!job.is<Job::Going>() || !job.placed()->checkpoints) return;
  look_at_commits(job, at);
  if (!job.is<Job::Going>()) return;
  const PlacedAttempt& placed = *job.placed();
  AttemptCheckpoints& checkpoints = *placed.checkpoints;
  if (placed.running_parts == placed.parts.size() && !placed.has_region_out()) {
    checkpoints.resume();
  } else if (!checkpoints.held()) {
    return;
  }
  const bool stopped = checkpoints.begun().stops;
  for (CheckpointOrder& order : checkpoints.advance(at.now, at.wall_ms)) {
    if (order.kind == CheckpointOrder::Kind::complete) {
      for (const auto& [uid, bytes] : job.listings) order.metadata.listings.push_back({uid, bytes});
    }
    orders_.push_back(std::move(order));
  }
  if (stopped && !checkpoints.begun().stops) mark_due(job);
  job.next_checkpoint = std::max(job.next_checkpoint, checkpoints.next_number());
  keep_savepoints(job, checkpoints.take_savepoints());
  if (!checkpoints.failure().ok()) {
    fail_with(job, Failures(checkpoints.failure()), at);
    mark_due(job);
    conclude_or_advance(job, at);
    return;
  }
  advance_by(checkpoints.next_deadline());
}

// After the savepoint that stops a job: once all sinks have committed it, the job is done.
void ClusterState::look_at_commits(Job& job, Moment at) {
  if (!job.stopped_by_savepoint) return;
  for (const JobPart& part : job.placed()->parts) {
    if (part.committed < job.newest_checkpoint) return;
  }
  transition(job, job_event::AllCommitted{}, at);
  mark_due(job);
  conclude_or_advance(job, at);
}

void ClusterState::begin_checkpoints(Job& job, Moment at) {
  if (job.checkpoint_directory.empty()) return;
  AttemptCheckpoints::Settings settings;
  settings.job = job.id;
  settings.attempt = job.attempt;
  settings.options = job.checkpoint_options;
  settings.options.unaligned &= can_be_unaligned(job.graph);
  // A job that a savepoint has stopped has only commits to make.
  if (job.stopped_by_savepoint) settings.options.interval_ms = 0;
  settings.directory = job.checkpoint_directory;
  settings.own_from = job.own_from;
  settings.describes = describe_job(job.graph, job.parallelism);
  settings.tasks = chain_count(job.parallelism);
  settings.first = job.next_checkpoint;
  auto& checkpoints = job.placed()->checkpoints;
  checkpoints = std::make_unique<AttemptCheckpoints>(std::move(settings), at.now);
  for (SavepointRequest& each : std::exchange(job.savepoint_requests, {})) {
    checkpoints->request_savepoint(std::move(each));
  }
  advancing_.insert(job.id);
}

void ClusterState::end_checkpoints(Job& job, const Status& why) {
  const std::unique_ptr<AttemptCheckpoints> checkpoints = std::move(job.placed()->checkpoints);
  if (!checkpoints) return;
  checkpoints->over(why);
  keep_savepoints(job, checkpoints->take_savepoints());
  job.checkpoints_failed += checkpoints->failed();
}

void ClusterState::keep_savepoints(Job& job, std::vector<SavepointEnd> ends) {
  if (ends.empty()) return;
  jobs_changed_ = true;
  for (SavepointEnd& each : ends) {
    log(each.status.ok() ? LogLevel::info : LogLevel::warning, job,
        "savepoint " +
            (each.status.ok() ? "'" + each.path + "'" : "failed: " + each.status.message()));
    job.savepoint_ends.push_back(std::move(each));
  }
  while (job.savepoint_ends.size() > savepoint_ends_kept) {
    job.savepoint_ends.erase(job.savepoint_ends.begin());
  }
}

std::vector<CheckpointOrder> ClusterState::take_orders() { return std::exchange(orders_, {}); }

void ClusterState::clear_checkpoints(const Job& job) {
  if (!job.is<Job::Finished>() || job.checkpoint_directory.empty() ||
      job.checkpoint_options.keep_at_end) {
    return;
  }
  CheckpointOrder& clear = orders_.emplace_back();
  clear.kind = CheckpointOrder::Kind::clear;
  clear.job = job.id;
  clear.directory = job.checkpoint_directory;
  clear.latest_in = job.checkpoint_options.directory;
  if (!job.shares_directory()) return;
  clear.own_from = job.own_from;
  clear.restore = job.checkpoint_options.restore;
  clear.metadata.job_name = job.graph.job_name;
}

// ---- what became of it ----

void ClusterState::carried_out(const CheckpointOutcome& outcome, Moment at) {
  const CheckpointOrder& order = outcome.order;
  Job* job = jobs_.find(order.job);
  if (job == nullptr || job->ended()) return;
  if (order.kind == CheckpointOrder::Kind::find) return checkpoint_found(*job, outcome, at);
  PlacedAttempt* const placed = job->placed();
  if (placed == nullptr || !placed->checkpoints) return;
  AttemptCheckpoints& checkpoints = *placed->checkpoints;
  if (checkpoints.attempt() != order.attempt) return;
  if (checkpoints.held()) schedule_due_ = true;  // a region may have waited for this
  const std::uint64_t committed = checkpoints.to_commit();
  checkpoints.carried_out(outcome, at.now);
  if (checkpoints.to_commit() > committed) {
    job->newest_checkpoint = checkpoints.to_commit();
    job->newest_path = order.path;
    if (!job->commit_waits()) job->committed_before = committed;
    job->verify_files = false;
    ++job->checkpoints_completed;
    job->newest_duration = checkpoints.last_duration();
    job->newest_written_bytes = order.metadata.written_bytes();
    job->restarts.made_progress();
    if (checkpoints.stopped_with() != nullptr) {
      job->stopped_by_savepoint = true;
      transition(*job, job_event::Stops{}, at);
    }
    ++job->version;
    // Others are found where that one is.
    if (order.metadata.savepoint || job->recording.place != order.directory + "/") {
      recorder_.record(*job);
      job->place_change = job->recording.changes;
    }
  }
  mark_due(*job);
  advance(*job, at);
}

void ClusterState::orders_hang(const std::vector<HungOrder>& orders) {
  std::set<std::uint64_t> answering = std::exchange(hung_, {});
  for (const HungOrder& order : orders) {
    Job* job = jobs_.find(order.job);
    if (job == nullptr) continue;
    hung_.insert(job->id);
    job->disk_hangs = fmt::format("'{}' does not answer ({})", order.path, order.doing);
    job->disk_hangs_for = order.age;
    if (answering.erase(job->id) > 0) continue;
    log(LogLevel::error, *job,
        fmt::format("{} for {} s; the other jobs go on", job->disk_hangs, order.age / seconds(1)));
    changed(*job);
  }
  for (const std::uint64_t id : answering) {
    Job* job = jobs_.find(id);
    if (job == nullptr) continue;
    log(LogLevel::info, *job, std::exchange(job->disk_hangs, {}) + ": it answers again");
    job->disk_hangs_for = 0;
    changed(*job);
  }
}

// ---- savepoints ----

std::optional<Result<std::string>> ClusterState::savepoint(Job& job,
                                                           const wire::TakeSavepoint& request,
                                                           Moment at) {
  for (const SavepointEnd& each : job.savepoint_ends) {
    if (each.id != request.request_id()) continue;
    if (each.status.ok() && !job.recording.complete()) return std::nullopt;
    if (each.status.ok()) return Result<std::string>(each.path);
    return Result<std::string>(each.status);
  }
  if (job.ended()) {
    return Result<std::string>(Status(
        ErrorCode::not_found, fmt::format("job {} has ended, and left no such savepoint", job.id)));
  }
  if (job.checkpoint_directory.empty()) {
    return Result<std::string>(Status(
        ErrorCode::invalid_configuration,
        fmt::format("job {} takes no snapshots: submit it with --checkpoint-dir, which all workers "
                    "see",
                    job.id)));
  }
  SavepointRequest savepoint{request.request_id(), request.directory(), request.stop()};
  PlacedAttempt* const placed = job.placed();
  if (placed != nullptr && placed->checkpoints) {
    placed->checkpoints->request_savepoint(std::move(savepoint));
    advance(job, at);
  } else if (std::none_of(job.savepoint_requests.begin(), job.savepoint_requests.end(),
                          [&](const SavepointRequest& each) { return each.id == savepoint.id; })) {
    job.savepoint_requests.push_back(std::move(savepoint));
  }
  return std::nullopt;
}

// ---- restarts ----

void ClusterState::consider_restart(Job& job, Moment at) {
  Failures& why = *job.as<Job::Failing>();
  if (why.is_last || !may_restart(why)) return;
  const Status failure = why.reason();
  const auto delay = job.restarts.failed(at.now, failure, job.asked == wire::DESIRED_STOP);
  if (!delay) {
    if (why.root_failure) why.root_failure = job.restarts.last(*why.root_failure);
    return;
  }
  remember_failure(job, job.attempt, why, at.wall_ms);
  job.verify_files |= failure.code() == ErrorCode::corrupt_file;
  restart_all(job,
              {at.now + *delay,
               fmt::format("begins again, for the {}. time, {} ms after: {}",
                           job.restarts.restarts(), *delay / milliseconds(1), failure.to_string())},
              at);
}

void ClusterState::restart_all(Job& job, Restart restart, Moment at) {
  log(LogLevel::warning, job,
      fmt::format("'{}' failed and {}", job.graph.job_name, restart.reason));
  transition(job, std::move(restart), at);
  advancing_.insert(job.id);
  changed(job);
  if (!job.checkpoint_directory.empty() && !job.stopped_by_savepoint) find_checkpoint(job, {});
}

void ClusterState::find_checkpoint(Job& job, std::string restore) {
  if (!job.search) job.search.emplace();
  CheckpointOrder& find = orders_.emplace_back();
  find.kind = CheckpointOrder::Kind::find;
  find.job = job.id;
  find.attempt = job.attempt;
  find.directory = job.checkpoint_directory;
  find.own_from = job.own_from;
  find.latest_in = job.checkpoint_options.directory;
  find.metadata.job_name = job.graph.job_name;
  find.restore = std::move(restore);
  const bool own =
      job.newest_checkpoint >= job.own_from &&
      job.newest_path == CheckpointStore::path_in(job.checkpoint_directory, job.newest_checkpoint);
  if (find.restore.empty() && !own) find.known = job.newest_path;
  find.checkpoint = job.newest_checkpoint;
  // What is read is checked by those who read it: only after they complained, once more before.
  find.verify = job.verify_files || is_local();
}

void ClusterState::checkpoint_found(Job& job, const CheckpointOutcome& outcome, Moment at) {
  if (!job.search) return;
  CheckpointSearch search = std::move(*std::exchange(job.search, std::nullopt));
  schedule_due_ = true;
  job.next_checkpoint = std::max(job.next_checkpoint, outcome.highest + 1);
  if (job.own_from == UINT64_MAX) job.own_from = job.next_checkpoint;
  for (const std::string& line : outcome.passed_over) {
    log(LogLevel::warning, job, line);
  }
  Status status = outcome.status;
  // What it holds is known to those who read it: they refuse state that has no operator.
  if (status.ok()) status = check_key_groups(outcome.found, job.graph);
  const std::string& first = job.checkpoint_options.restore;
  const bool of_its_own = outcome.order.restore.empty();
  // What it began with may be missing while one from before is there.
  const bool latest_is_next = of_its_own && first == "latest" && !outcome.order.known.empty();
  if (status.code() == ErrorCode::not_found && !job.newest_path.empty() && !latest_is_next) {
    if (!job.checkpoint_options.allow_fresh_start) {
      if (!is_local()) return miss_checkpoints(job, std::move(search), at);
      return cannot_begin(
          job,
          {ErrorCode::not_found,
           fmt::format("all checkpoints that this run has completed in '{}' are gone; put them "
                       "back and run it with --restore latest, or run it again to begin anew "
                       "(--allow-fresh-start lets it do that by itself)",
                       job.checkpoint_directory)},
          at);
    }
    log(LogLevel::warning, job,
        fmt::format("checkpoint {}, '{}', is gone, and there is no other: it begins anew, as "
                    "--allow-fresh-start says",
                    job.newest_checkpoint, job.newest_path));
    job.newest_checkpoint = 0;
    job.newest_path.clear();
  }
  if (!search.missing.empty() && status.ok()) {
    log(LogLevel::info, job, "its checkpoints are there again");
  }
  if (status.ok()) {
    job.superseded_checkpoint = outcome.superseded;
    if (outcome.found.id < job.newest_checkpoint && outcome.superseded < job.newest_checkpoint) {
      job.superseded_checkpoint = job.newest_checkpoint;
      log(LogLevel::warning, job,
          fmt::format("checkpoint {}, '{}', is gone: an older one is used", job.newest_checkpoint,
                      job.newest_path));
    }
    job.newest_checkpoint = outcome.found.id;
    job.newest_path = outcome.path;
    for (const CheckpointListing& each : outcome.found.listings) {
      job.listings[each.uid] = each.bytes;
    }
  } else if (status.code() == ErrorCode::not_found) {
    // None of its own so far: as at first.
    if (of_its_own && !first.empty()) return find_checkpoint(job, first);
    if (!of_its_own) {
      log(LogLevel::warning, job, status.message() + ": it begins at the beginning");
    }
  } else if (of_its_own && first == "latest" && status.code() == ErrorCode::corrupt_file) {
    // What it began with is damaged, or all that came since: one from before may be whole.
    return find_checkpoint(job, first);
  } else if (job.is<Job::Waiting>() || job.is<Job::Restarting>()) {
    return cannot_begin(job, std::move(status), at);
  }
  advance(job, at);
}

// For want of a state to begin with.
void ClusterState::cannot_begin(Job& job, Status why, Moment at) {
  if (job.is<Job::Waiting>()) return fail_waiting(job, std::move(why), at);
  if (!job.is<Job::Restarting>()) return;  // it ends as it is
  Failures failures = *job.as<Failures>();
  failures.root_failure = why.with_context("after '" + failures.first().message() + "'");
  transition(job, job_event::Fails{std::move(failures)}, at);
  conclude_or_advance(job, at);
}

// All are gone that it had: of an empty mount point as of a directory that somebody has removed. To
// begin at the beginning would repeat what has become visible, so somebody must say so.
void ClusterState::miss_checkpoints(Job& job, CheckpointSearch search, Moment at) {
  if (search.missing.empty()) {
    search.missing = fmt::format(
        "waits for its checkpoints: number {} was completed as '{}', and there is none now; mount "
        "that "
        "directory again or put back a copy, and the job goes on; or cancel it and submit it again "
        "to begin anew (--allow-fresh-start lets a job do that by itself)",
        job.newest_checkpoint, job.newest_path);
    log(LogLevel::error, job, fmt::format("'{}' {}", job.graph.job_name, search.missing));
    changed(job);
  }
  search.ask_at = at.now + missing_pause_ns;
  advancing_.insert(job.id);
  advance_by(search.ask_at);
  job.search = std::move(search);
}

}  // namespace hummer
