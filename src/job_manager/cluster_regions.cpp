// Regions that begin again while the rest of their job goes on (graph/regions.hpp; the reasons:
// docs/design/0005-restarts.md).
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "job_manager/cluster_state.hpp"

namespace hummer {

using Phase = JobRegion::Phase;

// ---- a failure ----

void ClusterState::look_at_regions(Job& job, Moment at) {
  for (std::size_t i = 0; i < job.regions.size() && !job.unwinding(); ++i) {
    JobRegion& region = job.regions[i];
    if (region.phase == Phase::failed) region_failed(job, i, at);
    if (region.phase != Phase::ending || job.unwinding()) continue;
    const bool open = std::any_of(job.parts.begin(), job.parts.end(), [i](const JobPart& part) {
      return part.region == i && !part.ended;
    });
    if (open) continue;
    // What came later may have been the cause.
    if (!may_restart(region)) return fail_with(job, region);
    region.phase = Phase::waiting;
    region.waiting_since = at.now;
    regional_.insert(job.id);
    schedule_due_ = true;
  }
}

void ClusterState::region_failed(Job& job, std::size_t index, Moment at) {
  JobRegion& region = job.regions[index];
  const bool others_run =
      std::any_of(job.regions.begin(), job.regions.end(),
                  [](const JobRegion& each) { return each.phase == Phase::runs; });
  // State that can't be read may be missing an older checkpoint's too; a job that a savepoint has
  // stopped has only commits to make. Both are the whole job's business.
  const bool alone = others_run && !job.stopped_by_savepoint && may_restart(region) &&
                     region.first().code() != ErrorCode::corrupt_file;
  const auto delay = alone ? job.restarts.failed(at.now, region.first()) : std::nullopt;
  if (!delay) {
    if (region.root_failure) region.root_failure = job.restarts.last(*region.root_failure);
    return fail_with(job, region);
  }
  region.phase = Phase::ending;
  region.restart_at = at.now + *delay;
  region.restart_reason =
      fmt::format("region {} of {} begins again, as the {}. restart, {} ms after: {}", index + 1,
                  job.regions.size(), job.restarts.restarts(), *delay / milliseconds(1),
                  region.first().to_string());
  ++job.version;
  jobs_changed_ = true;
  remember_failure(job, region.attempt, region, at.wall_ms);
  log(LogLevel::warning, job, fmt::format("'{}': {}", job.graph.job_name, region.restart_reason));
  mark_due(job);
  sweep_undeployed(job, index);
  if (!job.checkpoints) return;
  job.checkpoints->hold(at.now, {ErrorCode::cancelled, region.restart_reason});
  advance_by(at.now);
}

void ClusterState::fail_with(Job& job, const JobRegion& region) {
  static_cast<Failures&>(job) = region;
  job.state = wire::JOB_FAILING;
  ++job.version;
  jobs_changed_ = true;
}

// ---- the next start ----

void ClusterState::begin_regions(Moment at) {
  const std::vector<std::uint64_t> ids(regional_.begin(), regional_.end());
  for (const std::uint64_t id : ids) {
    Job* job = jobs_.find(id);
    const bool over = job == nullptr || job->ended() || job->unwinding();
    if (!over) begin_regions(*job, at);
    if (over || !job->has_region_out()) regional_.erase(id);
  }
}

void ClusterState::begin_regions(Job& job, Moment at) {
  if (job.stopped_by_savepoint) {
    restart_all(job, at.now, "begins again, to commit the savepoint that stops it");
    return conclude_or_advance(job, at);
  }
  // Which checkpoint is the newest is known when it is complete or given up.
  if (job.checkpoints && job.checkpoints->completing()) return;
  std::vector<std::size_t> due;
  for (std::size_t i = 0; i < job.regions.size(); ++i) {
    JobRegion& region = job.regions[i];
    if (region.phase != Phase::waiting) continue;
    if (at.now < region.restart_at) {
      advance_by(region.restart_at);
      continue;
    }
    if (!std::exchange(region.numbered, true)) {
      region.attempt = ++job.attempt;
      job.recording.begun = job.attempt;
      record(job);
    }
    due.push_back(i);
  }
  // Else the next JobManager could give the number once more.
  if (due.empty() || !job.recording.complete()) return;
  if (!find_successors(job, due, at)) return;
  for (const std::size_t region : due) begin_region(job, region);
}

// Of the TaskManagers that these regions need and that are gone. False: not now.
bool ClusterState::find_successors(Job& job, const std::vector<std::size_t>& regions, Moment at) {
  std::set<std::size_t> gone;
  for (const JobPart& part : job.parts) {
    const bool needed = std::find(regions.begin(), regions.end(), part.region) != regions.end();
    if (needed && workers_.find(job.hosts[part.host].session) == nullptr) gone.insert(part.host);
  }
  if (gone.empty()) return true;
  const std::vector<std::size_t> hosts(gone.begin(), gone.end());
  const Result<std::uint64_t> hash =
      replace_workers(job.graph, job.options, job.library_hash, workers_, hosts, job.hosts,
                      *job.deployment.mutable_task_managers());
  if (hash.ok()) {
    job.deployment.set_execution_hash(*hash);
    for (const std::size_t host : hosts) occupy_slots(job, job.hosts[host]);
    return true;
  }
  std::int64_t held = 0;  // by the regions that run, or for those that wait
  for (const Placement::Part& host : job.hosts) {
    const Worker* worker = workers_.find(host.session);
    if (worker == nullptr) continue;
    held += std::count(worker->slots.begin(), worker->slots.end(), job.id);
  }
  Nanoseconds since = at.now;
  for (const std::size_t region : regions) {
    since = std::min(since, job.regions[region].waiting_since);
  }
  const Nanoseconds deadline = since + options_.slot_timeout_ns;
  const bool fits_anew = job.least_slots <= held + workers_.slots(job.library_hash).free ||
                         hash.status().code() != ErrorCode::not_enough_slots;
  if (!fits_anew && at.now < deadline) {
    advance_by(deadline);
    return false;
  }
  restart_all(job, at.now, "begins again as a whole: " + hash.status().message());
  conclude_or_advance(job, at);
  return false;
}

void ClusterState::begin_region(Job& job, std::size_t index) {
  JobRegion& region = job.regions[index];
  job.deployment.set_restore_path(job.newest_path);
  for (std::size_t i = 0; i < job.parts.size(); ++i) {
    JobPart& part = job.parts[i];
    if (part.region != index) continue;
    const std::uint64_t session = job.hosts[part.host].session;
    replace_part(job, part, session, workers_.find(session)->id());
    hold(job, i);
  }
  if (job.checkpoints) {
    job.checkpoints->begin_again(region.tasks);
    region.checkpoints_before = job.checkpoints->next_number() - 1;
  }
  region.phase = Phase::runs;
  region.numbered = false;
  region.clear_failures();
  region.restart_reason.clear();
  jobs_changed_ = true;
  log(LogLevel::info, job,
      fmt::format("'{}': region {} of {} placed{}", job.graph.job_name, index + 1,
                  job.regions.size(),
                  job.newest_path.empty() ? "" : ", from '" + job.newest_path + "'"));
}

}  // namespace hummer
