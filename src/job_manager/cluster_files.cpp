// Regions that read what others have left in files (graph/regions.hpp): when they may begin, and
// what must be made again (docs/design/0021-blocking-edges.md).
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "job_manager/cluster_state.hpp"

namespace hummer {
namespace {

bool may_be_narrowed(const Job& job, std::size_t region) {
  const std::vector<JobPart>& parts = job.placed()->parts;
  return job.options.bytes_per_subtask() > 0 && job.placed()->has_files &&
         std::none_of(parts.begin(), parts.end(),
                      [&](const JobPart& part) { return part.region == region && part.begun; });
}

}  // namespace

// ---- before the first start ----

void ClusterState::await_inputs(Job& job, Moment at) {
  PlacedAttempt& placed = *job.placed();
  for (const JobRegion& region : placed.regions) placed.has_files |= region.links.is_read;
  if (!placed.has_files) return;
  with_files_.insert(job.id);
  regional_.insert(job.id);
  for (std::size_t i = 0; i < placed.regions.size(); ++i) {
    JobRegion& region = placed.regions[i];
    if (region.links.reads.empty()) continue;
    transition(region, Restart{at.now, ""}, at);
    // With a number of its own, where its channels may have others than those of the first ones.
    region.as<JobRegion::Waiting>()->numbered = job.options.bytes_per_subtask() == 0;
    for (JobPart& part : placed.parts) {
      if (part.region == i) part.begun = false;
    }
  }
}

// ---- before each start ----

// What one of them reads may have to begin again, and what that reads, too.
std::vector<bool> ClusterState::regions_with_inputs(Job& job, Moment at) {
  const std::vector<JobRegion>& regions = job.placed()->regions;
  const auto waiting = [&] {
    return std::count_if(regions.begin(), regions.end(),
                         [](const JobRegion& each) { return each.is<JobRegion::Waiting>(); });
  };
  std::vector<bool> ready(regions.size());
  for (std::ptrdiff_t before = -1; before != waiting();) {
    before = waiting();
    for (std::size_t i = 0; i < regions.size(); ++i) {
      ready[i] = regions[i].is<JobRegion::Waiting>() && request_inputs(job, i, at);
    }
  }
  return ready;
}

bool ClusterState::request_inputs(Job& job, std::size_t index, Moment at) {
  PlacedAttempt& placed = *job.placed();
  bool all_there = true;
  for (const int read : placed.regions[index].links.reads) {
    JobRegion& region = placed.regions[static_cast<std::size_t>(read)];
    const auto is_its = [&](const JobPart& part) {
      return part.region == static_cast<std::size_t>(read);
    };
    const bool is_over =
        region.is<JobRegion::Runs>() &&
        std::none_of(placed.parts.begin(), placed.parts.end(),
                     [&](const JobPart& part) { return is_its(part) && !part.ended(); });
    if (!is_over) {
      all_there = false;
      continue;
    }
    std::string gone;
    for (const JobPart& part : placed.parts) {
      if (!is_its(part) || is_there(placed, part)) continue;
      gone += (gone.empty() ? "" : ", ") + fmt::format("'{}'", part.task_manager);
    }
    if (gone.empty()) continue;
    all_there = false;
    const std::string reason = fmt::format(
        "region {} of {} begins again, as files of it are lost that region {} reads: "
        "those of {}",
        read + 1, placed.regions.size(), index + 1, gone);
    log(LogLevel::warning, job, fmt::format("'{}': {}", job.graph.job_name, reason));
    transition(region, Restart{at.now, reason}, at);
    regional_.insert(job.id);
    changed(job);
  }
  return all_there;
}

// Tasks and channels are numbered anew with it, so the parts of a region must not get two of them.
// Two regions may: each has begun with an attempt of its own (await_inputs).
bool ClusterState::waits_to_be_narrowed(const Job& job, std::size_t region) const {
  const PlacedAttempt& placed = *job.placed();
  return may_be_narrowed(job, region) &&
         std::any_of(placed.parts.begin(), placed.parts.end(), [&](const JobPart& part) {
           return part.begun && part.state == wire::ATTEMPT_UNKNOWN;
         });
}

void ClusterState::narrow_region(Job& job, std::size_t index) {
  PlacedAttempt& placed = *job.placed();
  if (!may_be_narrowed(job, index)) return;
  std::vector<std::uint64_t> bytes(job.graph.edges.size());
  for (const JobPart& part : placed.parts) {
    for (const auto& [edge, written] : part.written) bytes[edge] += written;
  }
  const std::vector<NarrowedVertex> fewer =
      narrowed(job.graph, regions_of(job.graph, region_options(job.options)),
               static_cast<int>(index), job.parallelism, bytes, job.options.bytes_per_subtask());
  std::vector<int> all = narrowed_from(placed.deployment);
  all.resize(fewer.size());
  std::string text;
  for (std::size_t v = 0; v < fewer.size(); ++v) {
    if (fewer[v].parallelism == 0) continue;
    all[v] = fewer[v].parallelism;
    job.shuffle_bytes[v] = fewer[v].bytes;
    text += fmt::format("{} '{}' by {} instead of {}, for {} bytes", text.empty() ? "" : ";",
                        job.graph.vertices[v].name, all[v], job.planned[v], fewer[v].bytes);
  }
  if (text.empty()) return;
  Result<Placement> placement =
      narrow(job.graph, job.options, placed.deployment.task_managers(), all);
  if (!placement.ok()) {
    log(LogLevel::warning, job,
        fmt::format("'{}': region {} of {} runs as planned, since it can't be narrowed: {}",
                    job.graph.job_name, index + 1, placed.regions.size(),
                    placement.status().message()));
    return;
  }
  log(LogLevel::info, job,
      fmt::format("'{}': region {} of {} reads little, so it runs{}", job.graph.job_name, index + 1,
                  placed.regions.size(), text));
  placed.deployment.clear_narrowed();
  for (const int each : all) placed.deployment.add_narrowed(static_cast<std::uint32_t>(each));
  placed.deployment.set_execution_hash(placement->execution_hash);
  job.parallelism = std::move(placement->parallelism);
  for (std::size_t i = 0; i < placed.regions.size(); ++i) {
    placed.regions[i].tasks = std::move(placement->regions[i].tasks);
    placed.regions[i].task_hosts = std::move(placement->regions[i].task_workers);
  }
  changed(job);
}

bool ClusterState::is_there(const PlacedAttempt& placed, const JobPart& part) {
  return part.has_result() && part.session == placed.hosts[part.host].session &&
         workers_.find(part.session) != nullptr;
}

bool ClusterState::stays(const Job& job, const JobPart& part) {
  const PlacedAttempt& placed = *job.placed();
  const RegionLinks& links = placed.regions[part.region].links;
  if (!placed.has_files || !links.subtasks_apart) return false;
  return links.is_read ? is_there(placed, part) : part.has_result();
}

// What a part of `region` leaves next may differ from what it left before.
void ClusterState::readers_begin_anew(Job& job, std::size_t region) {
  PlacedAttempt& placed = *job.placed();
  for (JobPart& part : placed.parts) {
    const std::vector<int>& reads = placed.regions[part.region].links.reads;
    const bool reads_it =
        std::find(reads.begin(), reads.end(), static_cast<int>(region)) != reads.end();
    if (reads_it && part.state == wire::ATTEMPT_FINISHED) part.lost = true;
  }
}

// Of a job that was stopped so early that a part of it never ran, nothing can be read.
bool ClusterState::never_begins(const Job& job) const {
  const PlacedAttempt& placed = *job.placed();
  return placed.has_files && job.is<Job::Stopping>() &&
         std::any_of(placed.parts.begin(), placed.parts.end(), [&](const JobPart& part) {
           return part.state == wire::ATTEMPT_CANCELLED &&
                  placed.regions[part.region].is<JobRegion::Runs>();
         });
}

// ---- what TaskManagers say, and what they are told ----

void ClusterState::take_lost_files(Job& job, const wire::AttemptReport& report) {
  PlacedAttempt& placed = *job.placed();
  for (const wire::ShuffleSource& lost : report.lost_files()) {
    for (JobPart& part : placed.parts) {
      if (part.region == lost.region() && part.host == lost.task_manager() &&
          part.attempt == lost.attempt() && part.state == wire::ATTEMPT_FINISHED) {
        part.lost = true;
      }
    }
  }
}

void ClusterState::name_sources(const PlacedAttempt& placed, const JobPart& part,
                                wire::Deployment& into) const {
  const std::vector<int>& reads = placed.regions[part.region].links.reads;
  for (const JobPart& source : placed.parts) {
    const auto region = static_cast<int>(source.region);
    if (std::find(reads.begin(), reads.end(), region) == reads.end()) continue;
    wire::ShuffleSource& out = *into.add_shuffle_sources();
    out.set_region(static_cast<std::uint32_t>(region));
    out.set_task_manager(static_cast<std::uint32_t>(source.host));
    out.set_attempt(source.attempt);
  }
}

void ClusterState::name_kept(std::uint64_t session, wire::JobManagerState& into) {
  for (const std::uint64_t id : with_files_) {
    const Job& job = *jobs_.find(id);
    if (!job.is<Job::Going>()) continue;
    for (const JobPart& part : job.placed()->parts) {
      const bool is_read = job.placed()->regions[part.region].links.is_read;
      if (part.session != session || part.state != wire::ATTEMPT_FINISHED || !is_read) continue;
      wire::AttemptKey& kept = *into.add_kept();
      kept.set_job(job.id);
      kept.set_attempt(part.attempt);
      kept.set_region(static_cast<std::uint32_t>(part.region));
    }
  }
}

// Of an attempt that is over, or ends: its TaskManagers hear that nobody reads them.
void ClusterState::drop_files(Job& job) {
  const PlacedAttempt& placed = *job.placed();
  if (!placed.has_files) return;
  with_files_.erase(job.id);
  for (std::size_t i = 0; i < placed.hosts.size(); ++i) {
    release_slots(job, i);
    if (Worker* worker = workers_.find(placed.hosts[i].session)) mark_due(*worker);
  }
}

}  // namespace hummer
