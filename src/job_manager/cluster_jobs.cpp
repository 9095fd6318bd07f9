// Jobs: from submission to verdict.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "checkpoint/restored_state.hpp"
#include "graph/fingerprint.hpp"
#include "graph/replay_warnings.hpp"
#include "job_manager/cluster_state.hpp"
#include "protocol/graph_messages.hpp"

namespace hummer {
namespace {

constexpr std::size_t max_live_jobs = 10'000;

std::string slots_text(std::int64_t count) {
  return fmt::format("{} {}", count, count == 1 ? "slot" : "slots");
}

std::string slots_missing(std::string_view verb, const Job& job, SlotCount slots) {
  std::string text =
      fmt::format("{} {}, {} {} free of {} in all", verb, slots_text(job.least_slots), slots.free,
                  slots.free == 1 ? "is" : "are", slots.all);
  if (slots.stuck > 0) {
    text += fmt::format(", and {} more {} stuck in functions that do not return", slots.stuck,
                        slots.stuck == 1 ? "is" : "are");
  }
  return text;
}

Status check_arguments(const wire::SubmitJob& request) {
  std::size_t bytes = 0;
  for (const std::string& argument : request.arguments()) bytes += argument.size();
  if (request.arguments_size() <= max_job_arguments && bytes <= max_job_argument_bytes) return {};
  return {ErrorCode::limit_exceeded,
          fmt::format("the job has {} arguments of {} bytes; the most is {} of {}",
                      request.arguments_size(), bytes, max_job_arguments, max_job_argument_bytes)};
}

Status ended_before_savepoint() {
  return {ErrorCode::cancelled, "the job ended before the savepoint was complete"};
}

}  // namespace

Result<std::uint64_t> ClusterState::submit(wire::SubmitJob request, Moment at) {
  if (request.submission_id() == 0) {
    return Status(ErrorCode::invalid_argument, "a submission needs an id");
  }
  if (const Job* known = jobs_.find_submission(request.submission_id())) {
    if (known->recording.refused) return known->recording.refusal;
    return known->id;
  }
  if (is_local() && !jobs_.all().empty()) {
    return Status(ErrorCode::invalid_argument,
                  "this process runs one job, its own; submit others to a cluster");
  }
  if (jobs_.live() >= max_live_jobs) {
    return Status(ErrorCode::limit_exceeded,
                  fmt::format("{} jobs have not ended; submit again later", jobs_.live()));
  }
  std::string as_it_came = recorder_.has_journal() ? request.SerializeAsString() : std::string();
  Result<std::unique_ptr<Job>> job = make_job(std::move(request), at);
  if (!job.ok()) return job.status();
  const std::uint64_t library = (*job)->library_hash, bytes = (*job)->library_bytes;
  if (bytes > 0 && (!libraries_.complete(library) || libraries_.uploaded(library) != bytes)) {
    return Status(ErrorCode::invalid_argument,
                  fmt::format("the job library {:016x} is not here with {} bytes", library, bytes));
  }
  (*job)->recording.request = std::move(as_it_came);
  (*job)->submitted_ms = at.wall_ms;
  if (bytes > 0) libraries_.hold(library);
  Job& added = jobs_.add(std::move(*job));
  recorder_.record(added);
  schedule_due_ = true;
  // In a directory that others use too, the numbers that they have used are found out first.
  if (!added.checkpoint_options.restore.empty() || added.shares_directory()) {
    find_checkpoint(added, added.checkpoint_options.restore);
  }
  log(LogLevel::info, added,
      fmt::format("'{}' submitted, needs {}", added.graph.job_name, slots_text(added.least_slots)));
  if (added.checkpoint_options.enabled()) {
    for (const std::string& line : replay_warnings(added.graph)) {
      log(LogLevel::warning, added, line);
    }
  }
  return added.id;
}

Result<std::unique_ptr<Job>> ClusterState::make_job(wire::SubmitJob request, Moment at) const {
  HUMMER_TRY(check_arguments(request));
  HUMMER_TRY(validate(request.options()));
  Result<JobGraph> graph = job_graph_from(request.graph());
  if (!graph.ok()) return graph.status();
  const Result<int> least = least_slots(*graph, request.options());
  if (!least.ok()) return least.status();
  auto job = std::make_unique<Job>();
  job->submission = request.submission_id();
  job->graph = std::move(*graph);
  job->library_hash = request.library_hash();
  job->library_bytes = request.library_bytes();
  job->arguments.assign(request.arguments().begin(), request.arguments().end());
  job->options = std::move(*request.mutable_options());
  job->checkpoint_options = checkpoint_options_from(job->options.checkpointing());
  if (job->checkpoint_options.enabled()) {
    const std::string& configured = job->checkpoint_options.directory;
    job->checkpoint_directory =
        is_local() ? configured : job_directory(configured, job->submission);
    // Until it is known, nothing in there is its own.
    if (job->shares_directory()) job->own_from = UINT64_MAX;
  }
  const bool has_files = has_blocking_edges(job->graph);
  if (has_files && job->checkpoint_options.enabled()) {
    return Status(ErrorCode::invalid_configuration,
                  "the job has blocking edges, and takes no checkpoints: what is ahead of such an "
                  "edge is kept in files instead; leave out the directory for checkpoints, or the "
                  "blocking edges");
  }
  job->restarts = RestartPolicy(effective_strategy(restart_strategy_from(job->options.restarting()),
                                                   has_files || job->checkpoint_options.enabled()));
  job->least_slots = *least;
  job->as<Job::Waiting>()->since = at.now;
  job->log = JobLog(options_.log_lines_per_job);
  job->version = first_version_;
  return job;
}

Status ClusterState::end(std::uint64_t id, wire::DesiredState desired_state, Moment at) {
  Job* job = jobs_.find(id);
  if (job == nullptr) return {ErrorCode::not_found, fmt::format("there is no job {}", id)};
  if (desired_state != wire::DESIRED_STOP && desired_state != wire::DESIRED_CANCEL) {
    return {ErrorCode::invalid_argument, "a job can be stopped or cancelled"};
  }
  if (job->ended() || job->is<Job::Failing>() || job->asked >= desired_state) return {};
  job->asked = desired_state;
  recorder_.record(*job);
  const bool stops = desired_state == wire::DESIRED_STOP;
  // What it has done so far is finished by a stop; a local one begins at once, whoever is faster.
  const bool begun = job->attempt > 1 || is_local();
  if (job->is<Job::Waiting>() && !(stops && begun)) {
    end_waiting(*job, job_event::Cancels{}, at);
    return {};
  }
  // Else its next attempt is told.
  if (stops && (job->is<Job::Waiting>() || job->is<Job::Restarting>())) return {};
  transition(*job, stops ? JobEvent(job_event::Stops{}) : job_event::Cancels{}, at);
  changed(*job);
  mark_due(*job);
  conclude_or_advance(*job, at);
  return {};
}

void ClusterState::part_ended(Job& job, const JobPart& part) {
  jobs_changed_ = true;
  const auto index = static_cast<std::uint32_t>(&part - job.placed()->parts.data());
  Worker* worker = workers_.find(part.session);
  if (worker == nullptr) return;
  std::erase_if(worker->held,
                [&](const Worker::Held& each) { return each.job == job.id && each.part == index; });
  release_slots(job, part.host);
  mark_due(*worker);
}

// Where no part runs and none is to begin again.
void ClusterState::release_slots(Job& job, std::size_t host) {
  const PlacedAttempt& placed = *job.placed();
  const bool unwinding = job.is<Job::Unwinding>();
  const bool goes_on = placed.open_parts > 0 || placed.has_region_out();
  const bool keeps =
      (placed.has_files && goes_on && !unwinding) ||
      std::any_of(placed.parts.begin(), placed.parts.end(), [&](const JobPart& part) {
        if (part.host != host) return false;
        const bool is_out = !placed.regions[part.region].is<JobRegion::Runs>();
        return !part.ended() || (is_out && !unwinding);
      });
  if (keeps) return;
  if (Worker* worker = workers_.find(placed.hosts[host].session)) workers_.release(*worker, job.id);
  schedule_due_ = true;
}

void ClusterState::conclude_or_advance(Job& job, Moment at) {
  if (job.ended()) return;
  PlacedAttempt& placed = *job.placed();
  if (!job.is<Job::Unwinding>()) look_at_regions(job, at);
  if (job.is<Job::Unwinding>() && !std::exchange(placed.undeployed_swept, true)) {
    if (job.is<Job::Failing>()) consider_restart(job, at);
    end_checkpoints(job, {ErrorCode::cancelled, "the job's attempt ended before that"});
    mark_due(job);
    for (std::size_t i = 0; i < placed.regions.size(); ++i) sweep_undeployed(job, i);
    // Regions that waited have kept theirs.
    for (std::size_t i = 0; i < placed.hosts.size(); ++i) release_slots(job, i);
    drop_files(job);
  }
  if (placed.open_parts > 0) return;
  if (const Job::Restarting* restarting = job.as<Job::Restarting>()) {
    if (may_restart(*restarting)) return advance(job, at);
    transition(job, job_event::Fails{*restarting}, at);
  }
  if (!job.is<Job::Unwinding>() && placed.has_region_out()) return;
  drop_files(job);
  end_checkpoints(job, ended_before_savepoint());
  const bool finished = placed.finished_parts == placed.parts.size() || job.is<Job::Committed>();
  transition(job, finished ? JobEvent(job_event::Finishes{}) : job_event::AllEnded{}, at);
  job_ended(job);
}

// Where the deployment was never sent, nothing can run and nothing need be waited for.
void ClusterState::sweep_undeployed(Job& job, std::size_t region) {
  for (JobPart& part : job.placed()->parts) {
    if (part.region != region || part.ended() || part.deployed) continue;
    end_part(job, part, wire::ATTEMPT_CANCELLED);
    part_ended(job, part);
  }
}

void ClusterState::job_ended(Job& job) {
  jobs_changed_ = true;
  schedule_due_ = true;  // also when it only stood in the way of others
  recorder_.record(job);
  advancing_.erase(job.id);
  for (const SavepointRequest& each : std::exchange(job.savepoint_requests, {})) {
    keep_savepoints(job, {{each.id, ended_before_savepoint(), {}}});
  }
  if (job.recording.complete()) clear_checkpoints(job);
  if (job.library_bytes > 0) libraries_.release(job.library_hash);
  const std::string how = job.is<Job::Finished>()    ? "finished"
                          : job.is<Job::Cancelled>() ? "was cancelled"
                                                     : "failed";
  const Status failure = job.failure();
  log(failure.ok() ? LogLevel::info : LogLevel::error, job,
      fmt::format("'{}' {}{}", job.graph.job_name, how,
                  failure.ok() ? "" : ": " + failure.to_string()));
  jobs_.ended(job);
}

void ClusterState::end_waiting(Job& job, JobEvent how, Moment at) {
  jobs_.no_longer_waiting(job);
  transition(job, std::move(how), at);
  job_ended(job);
}

void ClusterState::fail_waiting(Job& job, Status why, Moment at) {
  end_waiting(job, job_event::Fails{Failures(std::move(why))}, at);
}

std::string ClusterState::waiting_reason(const Job& job) const {
  if (!job.recording.trouble.empty()) return job.recording.trouble;
  if (job.search && !job.search->missing.empty()) return job.search->missing;
  if (const Restart* restart = job.as<Restart>()) return restart->reason;
  if (const PlacedAttempt* placed = job.placed()) {
    for (const JobRegion& region : placed->regions) {
      if (region.is<JobRegion::Runs>()) continue;
      const Restart* restart = region.as<Restart>();
      return restart != nullptr ? restart->reason : std::string();
    }
  }
  if (!job.is<Job::Waiting>()) return {};
  if (job.search && !job.disk_hangs.empty()) {
    return fmt::format("waits for the disk: {} for {} s", job.disk_hangs,
                       job.disk_hangs_for / seconds(1));
  }
  if (job.search) return "reads the checkpoint to begin with";
  return slots_missing("waits for", job, workers_.slots(job.library_hash));
}

void ClusterState::schedule(Moment at) {
  while (Job* longest = jobs_.waiting_longest()) {
    Job& first = *longest;
    Nanoseconds& since = first.as<Job::Waiting>()->since;
    if (at.now - since < options_.slot_timeout_ns) break;
    if (first.search) {  // it does not wait for slots
      jobs_.no_longer_waiting(first);
      since = at.now;
      jobs_.wait(first);
      continue;
    }
    std::string why =
        slots_missing("waited in vain for", first, workers_.slots(first.library_hash));
    why += "; start another TaskManager, give one more slots, or lower the parallelism";
    fail_waiting(first, Status(ErrorCode::not_enough_slots, std::move(why)), at);
  }
  if (!std::exchange(schedule_due_, false)) return;
  const std::vector<std::uint64_t> waiting(jobs_.waiting().begin(), jobs_.waiting().end());
  for (const std::uint64_t id : waiting) {
    Job& job = *jobs_.find(id);
    if (job.search) continue;
    const SlotCount slots = workers_.slots(job.library_hash);
    Status missing(ErrorCode::not_enough_slots, "");
    if (job.least_slots <= slots.free) {
      if (std::exchange(job.recording.begun, job.attempt) != job.attempt) recorder_.record(job);
      // Else the next JobManager could begin this attempt once more.
      if (!job.recording.complete()) continue;
      Result<Placement> placed = place_job(job.graph, job.options, job.library_hash, workers_);
      if (placed.ok()) {
        deploy(job, std::move(*placed), at);
        continue;
      }
      missing = placed.status();
    }
    if (missing.code() != ErrorCode::not_enough_slots) {
      fail_waiting(job, std::move(missing), at);
      continue;
    }
    const bool waited_long = at.now - job.as<Job::Waiting>()->since >= options_.slot_timeout_ns / 4;
    if (waited_long && job.least_slots <= slots.all) break;
  }
}

void ClusterState::deploy(Job& job, Placement placement, Moment at) {
  jobs_.no_longer_waiting(job);
  transition(job, job_event::GotSlots{std::make_unique<PlacedAttempt>()}, at);
  PlacedAttempt& placed = *job.placed();
  job.slots = placement.slots;
  job.parallelism = std::move(placement.parallelism);
  job.planned = job.parallelism;
  job.shuffle_bytes.assign(job.planned.size(), 0);
  changed(job);
  placed.hosts = std::move(placement.parts);
  for (const Placement::Part& host : placed.hosts) occupy_slots(job, host);
  for (Placement::Region& each : placement.regions) {
    for (const std::uint32_t host : each.workers) {
      JobPart& part = placed.parts.emplace_back();
      part.region = placed.regions.size();
      part.host = host;
      part.session = placed.hosts[host].session;
      part.task_manager = workers_.find(part.session)->id();
    }
    JobRegion& region = placed.regions.emplace_back();
    region.attempt = job.attempt;
    region.tasks = std::move(each.tasks);
    region.task_hosts = std::move(each.task_workers);
    region.links = std::move(each.links);
  }
  placed.open_parts = placed.parts.size();
  const std::size_t chains = chain_count(job.planned);
  if (job.starts.size() != chains) job.starts.assign(chains, 0);
  await_inputs(job, at);
  for (std::size_t i = 0; i < placed.parts.size(); ++i) {
    if (placed.parts[i].begun) begin_part(job, i);
  }
  wire::Deployment& deployment = placed.deployment;
  deployment.set_job_name(job.graph.job_name);
  deployment.set_library_hash(job.library_hash);
  deployment.set_library_bytes(job.library_bytes);
  for (const std::string& argument : job.arguments) deployment.add_arguments(argument);
  deployment.set_fingerprint(job.graph.fingerprint);
  for (const std::uint64_t hash : operator_hashes(job.graph)) {
    deployment.add_operator_hashes(hash);
  }
  *deployment.mutable_options() = job.options;
  *deployment.mutable_task_managers() = std::move(placement.workers);
  deployment.set_execution_hash(placement.execution_hash);
  deployment.set_run(job.submission);
  deployment.set_restore_path(job.newest_path);
  deployment.set_superseded_checkpoint(job.superseded_checkpoint);
  for (const auto& [uid, bytes] : job.listings) {
    wire::SourceListing& listing = *deployment.add_listings();
    listing.set_uid(uid);
    listing.set_listing(bytes);
  }
  begin_checkpoints(job, at);
  log(LogLevel::info, job,
      fmt::format("'{}' placed: {} on {} TaskManagers{}", job.graph.job_name, slots_text(job.slots),
                  placed.hosts.size(),
                  job.newest_path.empty() ? "" : ", from '" + job.newest_path + "'"));
}

void ClusterState::occupy_slots(const Job& job, const Placement::Part& host) {
  Worker& worker = *workers_.find(host.session);
  for (const std::uint32_t slot : host.slots) workers_.occupy(worker, slot, job.id);
}

void ClusterState::begin_part(Job& job, std::size_t index) {
  PlacedAttempt& placed = *job.placed();
  JobPart& part = placed.parts[index];
  const std::uint64_t session = placed.hosts[part.host].session;
  if (part.ended()) {
    replace_part(job, part, session, workers_.find(session)->id());
  } else {
    part.session = session;
    part.task_manager = workers_.find(session)->id();
    part.begun = true;
  }
  const JobRegion& region = placed.regions[part.region];
  part.attempt = region.attempt;
  for (std::size_t i = 0; i < region.tasks.size(); ++i) {
    if (region.task_hosts[i] == part.host) ++job.starts[planned_number(job, region.tasks[i])];
  }
  hold(job, index);
}

void ClusterState::hold(const Job& job, std::size_t part) {
  Worker& worker = *workers_.find(job.placed()->parts[part].session);
  worker.held.push_back({job.id, static_cast<std::uint32_t>(part)});
  mark_due(worker);
}

}  // namespace hummer
