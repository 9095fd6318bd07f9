// Jobs: from submission to verdict.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

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

}  // namespace

Result<std::uint64_t> ClusterState::submit(wire::SubmitJob request, Moment at) {
  if (request.submission_id() == 0) {
    return Status(ErrorCode::invalid_argument, "a submission needs an id");
  }
  if (const Job* known = jobs_.find_submission(request.submission_id())) {
    if (known->recording.refused) return *known->root_failure;
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
  std::string as_it_came = has_journal() ? request.SerializeAsString() : std::string();
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
  record(added);
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
  job->restarts = RestartPolicy(effective_strategy(restart_strategy_from(job->options.restarting()),
                                                   job->checkpoint_options.enabled()));
  job->least_slots = *least;
  job->waiting_since = at.now;
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
  if (job->ending() || job->asked >= desired_state) return {};
  job->asked = desired_state;
  record(*job);
  // What it has done so far is finished by a stop; a local one begins at once, whoever is faster.
  const bool begun = job->attempt > 1 || is_local();
  if (job->state == wire::JOB_WAITING && (desired_state == wire::DESIRED_CANCEL || !begun)) {
    end_job(*job, wire::JOB_CANCELLED, at.wall_ms);
    job_ended(*job);
    return {};
  }
  // Else its next attempt is told.
  const bool between = job->state == wire::JOB_WAITING || job->state == wire::JOB_RESTARTING;
  if (between && desired_state == wire::DESIRED_STOP) return {};
  job->state = desired_state == wire::DESIRED_STOP ? wire::JOB_STOPPING : wire::JOB_CANCELLING;
  ++job->version;
  jobs_changed_ = true;
  mark_due(*job);
  conclude_or_advance(*job, at);
  return {};
}

void ClusterState::part_ended(Job& job, std::size_t part) {
  jobs_changed_ = true;
  Worker* worker = workers_.find(job.parts[part].session);
  if (worker == nullptr) return;
  std::erase_if(worker->held,
                [&](const Worker::Held& each) { return each.job == job.id && each.part == part; });
  release_slots(job, job.parts[part].host);
  mark_due(*worker);
}

// Where no part runs and none is to begin again.
void ClusterState::release_slots(Job& job, std::size_t host) {
  const bool keeps = std::any_of(job.parts.begin(), job.parts.end(), [&](const JobPart& part) {
    if (part.host != host) return false;
    const bool is_out = job.regions[part.region].phase != JobRegion::Phase::runs;
    return !part.ended || (is_out && !job.unwinding());
  });
  if (keeps) return;
  if (Worker* worker = workers_.find(job.hosts[host].session)) workers_.release(*worker, job.id);
  schedule_due_ = true;
}

void ClusterState::conclude_or_advance(Job& job, Moment at) {
  if (job.ended()) return;
  if (!job.unwinding()) look_at_regions(job, at);
  if (job.unwinding() && !std::exchange(job.undeployed_swept, true)) {
    if (job.state == wire::JOB_FAILING) consider_restart(job, at);
    end_checkpoints(job, {ErrorCode::cancelled, "the job's attempt ended before that"});
    mark_due(job);
    for (std::size_t i = 0; i < job.regions.size(); ++i) sweep_undeployed(job, i);
    // Regions that waited have kept theirs.
    for (std::size_t i = 0; i < job.hosts.size(); ++i) release_slots(job, i);
  }
  if (job.state == wire::JOB_RESTARTING) {
    if (job.open_parts > 0) return;
    if (may_restart(job)) return advance(job, at);
    job.state = wire::JOB_FAILING;
  }
  if (!job.unwinding() && job.has_region_out()) return;
  if (conclude(job, at.wall_ms)) job_ended(job);
}

// Where the deployment was never sent, nothing can run and nothing need be waited for.
void ClusterState::sweep_undeployed(Job& job, std::size_t region) {
  for (std::size_t i = 0; i < job.parts.size(); ++i) {
    JobPart& part = job.parts[i];
    if (part.region != region || part.ended || part.deployed) continue;
    cancel_part(job, part);
    part_ended(job, i);
  }
}

void ClusterState::job_ended(Job& job) {
  jobs_changed_ = true;
  schedule_due_ = true;  // also when it only stood in the way of others
  record(job);
  advancing_.erase(job.id);
  end_checkpoints(job, {ErrorCode::cancelled, "the job ended before the savepoint was complete"});
  if (job.recording.complete()) clear_checkpoints(job);
  if (job.library_bytes > 0) libraries_.release(job.library_hash);
  const std::string how = job.state == wire::JOB_FINISHED    ? "finished"
                          : job.state == wire::JOB_CANCELLED ? "was cancelled"
                                                             : "failed";
  const Status failure = job.failure();
  log(failure.ok() ? LogLevel::info : LogLevel::error, job,
      fmt::format("'{}' {}{}", job.graph.job_name, how,
                  failure.ok() ? "" : ": " + failure.to_string()));
  jobs_.ended(job);
}

void ClusterState::fail_waiting(Job& job, Status why, Moment at) {
  job.root_failure = std::move(why);
  end_job(job, wire::JOB_FAILED, at.wall_ms);
  job_ended(job);
}

std::string ClusterState::waiting_reason(const Job& job) const {
  if (!job.recording.trouble.empty()) return job.recording.trouble;
  if (!job.missing.empty() && !job.ended()) return job.missing;
  if (job.state == wire::JOB_RESTARTING) return job.restart_reason;
  if (!job.ended()) {
    for (const JobRegion& region : job.regions) {
      if (region.phase != JobRegion::Phase::runs) return region.restart_reason;
    }
  }
  if (job.state != wire::JOB_WAITING) return {};
  if (job.finding_checkpoint && !job.disk_hangs.empty()) {
    return fmt::format("waits for the disk: {} for {} s", job.disk_hangs,
                       job.disk_hangs_for / seconds(1));
  }
  if (job.finding_checkpoint) return "reads the checkpoint to begin with";
  return slots_missing("waits for", job, workers_.slots(job.library_hash));
}

void ClusterState::schedule(Moment at) {
  while (Job* longest = jobs_.waiting_longest()) {
    Job& first = *longest;
    if (at.now - first.waiting_since < options_.slot_timeout_ns) break;
    if (first.finding_checkpoint) {  // it does not wait for slots
      jobs_.no_longer_waiting(first);
      first.waiting_since = at.now;
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
    if (job.finding_checkpoint) continue;
    const SlotCount slots = workers_.slots(job.library_hash);
    Status missing(ErrorCode::not_enough_slots, "");
    if (job.least_slots <= slots.free) {
      if (std::exchange(job.recording.begun, job.attempt) != job.attempt) record(job);
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
    const bool waited_long = at.now - job.waiting_since >= options_.slot_timeout_ns / 4;
    if (waited_long && job.least_slots <= slots.all) break;
  }
}

void ClusterState::deploy(Job& job, Placement placement, Moment at) {
  jobs_.no_longer_waiting(job);
  job.state = job.asked == wire::DESIRED_STOP ? wire::JOB_STOPPING : wire::JOB_DEPLOYING;
  job.slots = placement.slots;
  job.parallelism = std::move(placement.parallelism);
  ++job.version;
  jobs_changed_ = true;
  job.hosts = std::move(placement.parts);
  for (const Placement::Part& host : job.hosts) occupy_slots(job, host);
  for (Placement::Region& each : placement.regions) {
    for (const std::uint32_t host : each.workers) {
      JobPart& part = job.parts.emplace_back();
      part.region = job.regions.size();
      part.host = host;
      part.session = job.hosts[host].session;
      part.task_manager = workers_.find(part.session)->id();
      hold(job, job.parts.size() - 1);
    }
    JobRegion& region = job.regions.emplace_back();
    region.attempt = job.attempt;
    region.tasks = std::move(each.tasks);
  }
  job.open_parts = job.parts.size();
  wire::Deployment& deployment = job.deployment;
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
                  job.hosts.size(),
                  job.newest_path.empty() ? "" : ", from '" + job.newest_path + "'"));
}

void ClusterState::occupy_slots(const Job& job, const Placement::Part& host) {
  Worker& worker = *workers_.find(host.session);
  for (const std::uint32_t slot : host.slots) workers_.occupy(worker, slot, job.id);
}

void ClusterState::hold(const Job& job, std::size_t part) {
  Worker& worker = *workers_.find(job.parts[part].session);
  worker.held.push_back({job.id, static_cast<std::uint32_t>(part)});
  mark_due(worker);
}

}  // namespace hummer
