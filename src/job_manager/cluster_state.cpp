// TaskManagers: sessions, states, loss. Jobs are in cluster_jobs.cpp.
#include "job_manager/cluster_state.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace hummer {
namespace {

// Deployments of one message; a TaskManager asks again for those that did not fit.
constexpr std::size_t max_deployment_bytes = std::size_t{8} << 20;

// Its first fault, in words for whoever starts TaskManagers.
Status check(const wire::Registration& registration) {
  constexpr std::size_t max_text = 256;
  const auto refuse = [](std::string what) {
    return Status(ErrorCode::invalid_configuration, "TaskManager refused: " + std::move(what));
  };
  if (registration.id().empty() || registration.id().size() > max_text) {
    return refuse(fmt::format("its id must have from 1 to {} bytes", max_text));
  }
  if (registration.slots() < 1 ||
      registration.slots() > static_cast<std::uint32_t>(max_slots_per_task_manager)) {
    return refuse(fmt::format("it offers {} slots; the number must be from 1 to {}",
                              registration.slots(), max_slots_per_task_manager));
  }
  bool too_long = registration.host().size() > max_text || registration.abi().size() > 4 * max_text;
  for (const wire::DataAddress& address : registration.data_addresses()) {
    too_long |= address.interface().size() > max_text || address.address().size() > max_text;
  }
  if (too_long || registration.data_addresses_size() > 64) {
    return refuse("its host, abi or data addresses are too long");
  }
  return {};
}

void describe_checkpoints(const Job& job, const JobRegion& region, wire::Assignment& assignment) {
  const AttemptCheckpoints* checkpoints = job.placed()->checkpoints.get();
  if (checkpoints == nullptr) return;
  const AttemptCheckpoints::Begun& begun = checkpoints->begun();
  wire::CheckpointState& state = *assignment.mutable_checkpoints();
  if (begun.checkpoint > region.checkpoints_before) {
    state.set_begun(begun.checkpoint);
    state.set_path(begun.path);
    state.set_savepoint(begun.savepoint);
    state.set_unaligned(begun.unaligned);
    state.set_stops(begun.stops);
  }
  const bool waits = job.commit_waits();
  state.set_committed(waits ? job.committed_before : checkpoints->to_commit());
  state.set_finished(!waits && checkpoints->finish_committed());
}

}  // namespace

ClusterState::ClusterState(const JobManagerOptions& options)
    : options_(options),
      recorder_(!options.state_directory.empty()),
      workers_(options.remembered_task_managers),
      jobs_(options.remembered_jobs, std::max<std::uint64_t>(options.first_job, 1)),
      libraries_(options.max_library_bytes, options.library_store_bytes) {}

void ClusterState::log(LogLevel level, const Job& job, const std::string& text) const {
  options_.log.write(level, text, {.job = job.id, .attempt = job.attempt});
}

void ClusterState::changed(Job& job) {
  ++job.version;
  jobs_changed_ = true;
}

void ClusterState::mark_due(Worker& worker) {
  if (std::exchange(worker.state_due, true)) return;
  due_.push_back(worker.session);
}

void ClusterState::mark_due(const Job& job) {
  const PlacedAttempt* placed = job.placed();
  if (placed == nullptr) return;
  for (const JobPart& part : placed->parts) {
    if (part.ended()) continue;
    if (Worker* worker = workers_.find(part.session)) mark_due(*worker);
  }
}

std::uint64_t ClusterState::register_worker(const wire::Registration& registration,
                                            std::string address, Moment at, Refused& refused) {
  refused.why = check(registration);
  if (!refused.why.ok()) return 0;
  if (Worker* earlier = workers_.find_id(registration.id())) {
    if (earlier->registration.incarnation() != registration.incarnation()) {
      refused.why = Status(
          ErrorCode::address_in_use,
          fmt::format("a TaskManager with the id '{}' is registered from {}; give this one another "
                      "id, or wait until the other one is counted as lost",
                      registration.id(), earlier->address));
      refused.may_retry = true;
      return 0;
    }
    ended_sessions_.push_back(earlier->session);
    lose(*earlier, Status(ErrorCode::connection_lost, "connection lost (it registered again)"), at);
  }
  Worker& worker = workers_.add(registration, std::move(address), at.now);
  schedule_due_ = true;
  options_.log.info(fmt::format("TaskManager '{}' registered from {} with {} slots (session {})",
                                worker.id(), worker.address, registration.slots(), worker.session));
  if (worker.stuck_slots > 0) {
    options_.log.warning(
        fmt::format("TaskManager '{}': {} of its slots are not offered: an attempt of a lost "
                    "session has not given them back",
                    worker.id(), worker.stuck_slots));
  }
  return worker.session;
}

bool ClusterState::take_state(std::uint64_t session, const wire::TaskManagerState& state,
                              Moment at) {
  Worker* worker = workers_.find(session);
  if (worker == nullptr || state.session() != session) return false;
  workers_.heard(*worker, at.now);
  if (state.sequence() <= worker->sequence_seen) return false;
  worker->sequence_seen = state.sequence();
  if (must_answer(*worker, state, at)) {
    worker->answered = at.now;
    mark_due(*worker);
  }
  if (workers_.take_left_over(*worker, state)) schedule_due_ = true;
  if (worker->held.empty()) return true;

  // Parts leave `held` while it is walked through.
  const std::vector<Worker::Held> held = worker->held;
  // Null where it has ended, or has made room for another one.
  const auto open_part = [&](const Worker::Held& each) -> std::pair<Job*, JobPart*> {
    Job* job = jobs_.find(each.job);
    JobPart* part = job != nullptr ? job->open_part(each.part, session) : nullptr;
    return {part != nullptr ? job : nullptr, part};
  };
  const auto held_part = [&](const auto& key) -> std::pair<Job*, JobPart*> {
    for (const Worker::Held& each : held) {
      if (each.job != key.job()) continue;
      const auto [job, part] = open_part(each);
      if (job == nullptr || part->region != key.region()) continue;
      if (job->placed()->regions[part->region].attempt == key.attempt()) return {job, part};
    }
    return {};
  };
  for (const wire::AttemptReport& report : state.attempts()) {
    const auto [job, part] = held_part(report);
    if (job == nullptr) continue;
    part->named_in = state.sequence();
    if (report_part(*job, *part, report, at)) jobs_changed_ = true;
    take_lost_files(*job, report);
    if (part->ended()) {
      part_ended(*job, *part);
    } else {
      take_listings(*job, *part, report);
    }
    take_snapshots(*job, report, at);
    conclude_or_advance(*job, at);
    if (!job->ended()) advance(*job, at);
  }
  for (const wire::AttemptKey& key : state.wanted()) {
    const auto [job, part] = held_part(key);
    if (job == nullptr) continue;
    part->named_in = state.sequence();
    part->wanted = true;
  }
  for (const Worker::Held& each : held) {
    const auto [job, part] = open_part(each);
    if (job == nullptr || part->named_in == 0 || part->named_in == state.sequence()) continue;
    fail_part(*job, *part,
              Status(ErrorCode::internal,
                     fmt::format("TaskManager '{}' no longer has its part of the job",
                                 part->task_manager)),
              job->desired_state(*part) == wire::DESIRED_CANCEL, at);
    part_ended(*job, *part);
    conclude_or_advance(*job, at);
  }
  return true;
}

// One that has nothing learns from an answer only that the JobManager is there, and sending is most
// of what a heartbeat costs. Answers come twice per timeout at least, if heartbeats come so often.
bool ClusterState::must_answer(const Worker& worker, const wire::TaskManagerState& state,
                               Moment at) const {
  const bool says_something = state.attempts_size() > 0 || state.wanted_size() > 0 ||
                              state.left_over_size() > 0 || state.wants_answer();
  if (says_something || !worker.held.empty()) return true;
  return at.now + options_.heartbeat_interval_ns - worker.answered >
         options_.heartbeat_timeout_ns / 2;
}

void ClusterState::connection_ended(std::uint64_t session, const Status& why, Moment at) {
  Worker* worker = workers_.find(session);
  if (worker == nullptr) return;
  lose(*worker,
       Status(ErrorCode::connection_lost, fmt::format("connection lost ({})", why.message())), at);
}

void ClusterState::lose(Worker& worker, Status why, Moment at) {
  ++lost_;
  const Status failure(why.code(),
                       fmt::format("TaskManager '{}' lost: {}", worker.id(), why.message()));
  options_.log.warning(failure.message());
  const std::vector<Worker::Held> held = worker.held;
  for (const Worker::Held& each : held) {
    Job* job = jobs_.find(each.job);
    // One may have ended with another one that was here.
    JobPart* part = job != nullptr ? job->open_part(each.part, worker.session) : nullptr;
    if (part == nullptr) continue;
    fail_part(*job, *part, failure, false, at);
    part_ended(*job, *part);
    conclude_or_advance(*job, at);
  }
  HUMMER_ASSERT(worker.held.empty());
  workers_.lose(worker, why.message());
}

void ClusterState::advance(Moment at) {
  recorder_.advance(at.now);
  while (Worker* quiet = is_local() ? nullptr : workers_.quietest()) {
    if (at.now - quiet->last_heard < options_.heartbeat_timeout_ns) break;
    ended_sessions_.push_back(quiet->session);
    const double silent = static_cast<double>(at.now - quiet->last_heard) / 1e9;
    lose(*quiet, Status(ErrorCode::timed_out, fmt::format("no heartbeat for {:.1f} s", silent)),
         at);
  }
  if (at.now >= next_advance_) advance_all(at);
  begin_regions(at);
  schedule(at);
}

Nanoseconds ClusterState::next_deadline() const {
  Nanoseconds next = std::min(next_advance_, recorder_.next_deadline());
  Worker* quiet = const_cast<WorkerTable&>(workers_).quietest();
  if (quiet != nullptr && !is_local()) {
    next = std::min(next, quiet->last_heard + options_.heartbeat_timeout_ns);
  }
  if (const Job* longest = const_cast<JobTable&>(jobs_).waiting_longest()) {
    next = std::min(next, longest->as<Job::Waiting>()->since + options_.slot_timeout_ns);
  }
  return next;
}

std::vector<std::uint64_t> ClusterState::take_states_due() { return std::exchange(due_, {}); }
std::vector<std::uint64_t> ClusterState::take_ended_sessions() {
  return std::exchange(ended_sessions_, {});
}
bool ClusterState::take_job_changes() { return std::exchange(jobs_changed_, false); }

void ClusterState::state_for(std::uint64_t session, wire::JobManagerState& into) {
  Worker& worker = *workers_.find(session);
  worker.state_due = false;
  into.set_session(session);
  into.set_sequence(++worker.sequence_sent);
  into.set_state_seen(worker.sequence_seen);
  std::size_t deployment_bytes = 0;
  for (const Worker::Held& each : worker.held) {
    Job& job = *jobs_.find(each.job);
    PlacedAttempt& placed = *job.placed();
    JobPart& part = placed.parts[each.part];
    wire::Assignment& assignment = *into.add_assignments();
    assignment.set_job(job.id);
    const JobRegion& region = placed.regions[part.region];
    assignment.set_attempt(region.attempt);
    assignment.set_region(static_cast<std::uint32_t>(part.region));
    assignment.set_desired_state(job.desired_state(part));
    assignment.set_log_lines_seen(part.log_lines_seen);
    describe_checkpoints(job, region, assignment);
    for (const std::string& uid : part.wanted_listings) {
      const auto found = job.listings.find(uid);
      if (found == job.listings.end() || deployment_bytes > max_deployment_bytes) continue;
      wire::SourceListing& listing = *assignment.add_listings();
      listing.set_uid(uid);
      listing.set_listing(found->second);
      deployment_bytes += listing.ByteSizeLong();
    }
    if (!part.wanted || deployment_bytes > max_deployment_bytes) continue;
    wire::Deployment& deployment = *assignment.mutable_deployment();
    deployment = placed.deployment;
    deployment.set_task_manager(static_cast<std::uint32_t>(part.host));
    name_sources(placed, part, deployment);
    deployment_bytes += deployment.ByteSizeLong();
    part.wanted = false;  // it asks again when this one is lost
    part.deployed = true;
  }
  name_kept(session, into);
}

}  // namespace hummer
