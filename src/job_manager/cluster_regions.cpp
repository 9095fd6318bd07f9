// Regions that begin again while the rest of their job goes on (graph/regions.hpp; the reasons:
// docs/design/0005-restarts.md).
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "job_manager/cluster_state.hpp"

namespace hummer {

// ---- a failure ----

void ClusterState::look_at_regions(Job& job, Moment at) {
  PlacedAttempt& placed = *job.placed();
  for (std::size_t i = 0; i < placed.regions.size() && !job.is<Job::Unwinding>(); ++i) {
    JobRegion& region = placed.regions[i];
    if (region.is<JobRegion::Failed>()) region_failed(job, i, at);
    const auto* const ending = region.as<JobRegion::Ending>();
    if (ending == nullptr || job.is<Job::Unwinding>()) continue;
    const auto is_open = [i](const JobPart& part) { return part.region == i && !part.ended(); };
    if (std::any_of(placed.parts.begin(), placed.parts.end(), is_open)) continue;
    // What came later may have been the cause.
    if (!may_restart(*ending)) return fail_with(job, *ending, at);
    transition(region, job_event::AllEnded{}, at);
    regional_.insert(job.id);
    schedule_due_ = true;
  }
}

void ClusterState::region_failed(Job& job, std::size_t index, Moment at) {
  PlacedAttempt& placed = *job.placed();
  JobRegion& region = placed.regions[index];
  Failures& why = *region.as<JobRegion::Failed>();
  const bool others_run =
      std::any_of(placed.regions.begin(), placed.regions.end(),
                  [](const JobRegion& each) { return each.is<JobRegion::Runs>(); });
  // State that can't be read may be missing an older checkpoint's too; a job that a savepoint has
  // stopped has only commits to make. Both are the whole job's business.
  const bool alone = (others_run || placed.has_files) && !job.stopped_by_savepoint &&
                     may_restart(why) && why.first().code() != ErrorCode::corrupt_file;
  std::optional<Nanoseconds> delay;
  if (alone) {
    delay = job.restarts.failed(at.now, why.first(), job.asked == wire::DESIRED_STOP);
  }
  if (!delay) {
    why.is_last = alone;  // it counts once
    if (alone && why.root_failure) why.root_failure = job.restarts.last(*why.root_failure);
    return fail_with(job, why, at);
  }
  remember_failure(job, region.attempt, why, at.wall_ms);
  const std::string reason =
      fmt::format("region {} of {} begins again, as the {}. restart, {} ms after: {}", index + 1,
                  placed.regions.size(), job.restarts.restarts(), *delay / milliseconds(1),
                  why.first().to_string());
  transition(region, Restart{at.now + *delay, reason}, at);
  changed(job);
  log(LogLevel::warning, job, fmt::format("'{}': {}", job.graph.job_name, reason));
  mark_due(job);
  sweep_undeployed(job, index);
  if (!placed.checkpoints) return;
  placed.checkpoints->hold(at.now, {ErrorCode::cancelled, reason});
  advance_by(at.now);
}

void ClusterState::fail_with(Job& job, Failures why, Moment at) {
  transition(job, job_event::Fails{std::move(why)}, at);
  changed(job);
}

// ---- the next start ----

void ClusterState::begin_regions(Moment at) {
  const std::vector<std::uint64_t> ids(regional_.begin(), regional_.end());
  for (const std::uint64_t id : ids) {
    Job* job = jobs_.find(id);
    const auto goes_on = [&] { return job != nullptr && job->is<Job::Going>(); };
    if (goes_on()) begin_regions(*job, at);
    if (!goes_on() || !job->placed()->has_region_out()) regional_.erase(id);
  }
}

void ClusterState::begin_regions(Job& job, Moment at) {
  if (job.stopped_by_savepoint) {
    restart_all(job, {at.now, "begins again, to commit the savepoint that stops it"}, at);
    return conclude_or_advance(job, at);
  }
  // Which checkpoint is the newest is known when it is complete or given up.
  PlacedAttempt& placed = *job.placed();
  if (placed.checkpoints && placed.checkpoints->completing()) return;
  if (never_begins(job)) {
    transition(job, job_event::Cancels{}, at);
    changed(job);
    return conclude_or_advance(job, at);
  }
  const std::vector<bool> ready = regions_with_inputs(job, at);
  std::vector<std::size_t> due;
  for (std::size_t i = 0; i < placed.regions.size(); ++i) {
    JobRegion& region = placed.regions[i];
    auto* const waiting = region.as<JobRegion::Waiting>();
    if (waiting == nullptr) continue;
    if (!ready[i]) {
      waiting->since = at.now;
      continue;
    }
    if (at.now < waiting->at) {
      advance_by(waiting->at);
      continue;
    }
    if (waits_to_be_narrowed(job, i)) continue;
    if (!std::exchange(waiting->numbered, true)) {
      region.attempt = ++job.attempt;
      job.recording.begun = job.attempt;
      recorder_.record(job);
    }
    due.push_back(i);
  }
  for (const std::size_t region : due) narrow_region(job, region);
  // Else the next JobManager could give the number once more.
  if (due.empty() || !job.recording.complete()) return;
  if (!find_successors(job, due, at)) return;
  for (const std::size_t region : due) begin_region(job, region, at);
}

// Of the TaskManagers that these regions need and that are gone. False: not now.
bool ClusterState::find_successors(Job& job, const std::vector<std::size_t>& regions, Moment at) {
  PlacedAttempt& placed = *job.placed();
  std::set<std::size_t> gone;
  for (const JobPart& part : placed.parts) {
    const bool needed = std::find(regions.begin(), regions.end(), part.region) != regions.end() &&
                        !stays(job, part);
    if (needed && workers_.find(placed.hosts[part.host].session) == nullptr) gone.insert(part.host);
  }
  if (gone.empty()) return true;
  const std::vector<std::size_t> hosts(gone.begin(), gone.end());
  const Result<std::uint64_t> hash = replace_workers(
      job.graph, job.options, job.library_hash, workers_, hosts, narrowed_from(placed.deployment),
      placed.hosts, *placed.deployment.mutable_task_managers());
  if (hash.ok()) {
    placed.deployment.set_execution_hash(*hash);
    for (const std::size_t host : hosts) occupy_slots(job, placed.hosts[host]);
    return true;
  }
  std::int64_t held = 0;  // by the regions that run, or for those that wait
  for (const Placement::Part& host : placed.hosts) {
    const Worker* worker = workers_.find(host.session);
    if (worker == nullptr) continue;
    held += std::count(worker->slots.begin(), worker->slots.end(), job.id);
  }
  Nanoseconds since = at.now;
  for (const std::size_t region : regions) {
    since = std::min(since, placed.regions[region].as<JobRegion::Waiting>()->since);
  }
  const Nanoseconds deadline = since + options_.slot_timeout_ns;
  bool fits_anew = job.least_slots <= held + workers_.slots(job.library_hash).free;
  if (fits_anew && placed.has_files) {
    // Files of what has finished would be lost: it waits a while first.
    const Nanoseconds patience = since + options_.slot_timeout_ns / 4;
    fits_anew = at.now >= patience;
    if (!fits_anew) advance_by(patience);
  }
  if (!fits_anew && hash.status().code() == ErrorCode::not_enough_slots && at.now < deadline) {
    advance_by(deadline);
    return false;
  }
  restart_all(job, {at.now, "begins again as a whole: " + hash.status().message()}, at);
  conclude_or_advance(job, at);
  return false;
}

void ClusterState::begin_region(Job& job, std::size_t index, Moment at) {
  PlacedAttempt& placed = *job.placed();
  JobRegion& region = placed.regions[index];
  placed.deployment.set_restore_path(job.newest_path);
  bool anew = false;
  for (std::size_t i = 0; i < placed.parts.size(); ++i) {
    const JobPart& part = placed.parts[i];
    if (part.region != index || stays(job, part)) continue;
    anew |= part.begun;
    begin_part(job, i);
  }
  if (anew) readers_begin_anew(job, index);
  if (placed.checkpoints) {
    placed.checkpoints->begin_again(region.tasks);
    region.checkpoints_before = placed.checkpoints->next_number() - 1;
  }
  transition(region, job_event::BeginsAgain{}, at);
  jobs_changed_ = true;
  log(LogLevel::info, job,
      fmt::format("'{}': region {} of {} placed{}", job.graph.job_name, index + 1,
                  placed.regions.size(),
                  job.newest_path.empty() ? "" : ", from '" + job.newest_path + "'"));
}

}  // namespace hummer
