// Attempt: what its tasks begin with: the state of a checkpoint, and the listings of their sources.
#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "checkpoint/restored_state.hpp"
#include "execution/attempt_plan.hpp"
#include "execution/listed_sources.hpp"
#include "protocol/message_limits.hpp"
#include "protocol/placement.hpp"

namespace hummer {

Result<std::shared_ptr<const RestoredState>> Attempt::read_state(const JobGraph& job) const {
  const std::string& path = message_.restore_path();
  Files& files = context_.platform->files();
  Result<CheckpointMetadata> metadata = CheckpointStore::read_at(files, path);
  if (!metadata.ok()) return metadata.status();
  if (metadata->fingerprint == job.fingerprint) {
    // Vertices are numbered as here: files of other regions need not be read.
    const std::vector<int> regions = regions_of(job, region_options(message_.options()));
    std::erase_if(metadata->files, [&](const CheckpointFile& file) {
      return file.vertex < regions.size() && !is_own(regions[file.vertex]);
    });
  }
  return find_state(files, path, *metadata, job,
                    message_.options().checkpointing().allow_dropped_state());
}

// ---- files of earlier regions ----

ShuffleOptions Attempt::shuffle_options(const JobGraph& job) {
  ShuffleOptions options;
  options.store = context_.shuffle;
  options.region_of_vertex = regions_of(job, region_options(message_.options()));
  for (const wire::ShuffleSource& source : message_.shuffle_sources()) {
    options.sources.push_back({static_cast<int>(source.region()),
                               static_cast<int>(source.task_manager()), source.attempt()});
  }
  options.on_lost = std::bind_front(&Attempt::file_is_lost, this);
  return options;
}

void Attempt::file_is_lost(const ShuffleSource& source) {
  const std::lock_guard lock(mutex_);
  wire::ShuffleSource& lost = lost_files_.emplace_back();
  lost.set_region(static_cast<std::uint32_t>(source.region));
  lost.set_task_manager(static_cast<std::uint32_t>(source.task_manager));
  lost.set_attempt(source.attempt);
}

void Attempt::describe_files(wire::AttemptReport& report) const {
  report.mutable_lost_files()->Add(lost_files_.begin(), lost_files_.end());
  if (state_ != wire::ATTEMPT_FINISHED || context_.shuffle == nullptr) return;
  const ShuffleAttempt own{context_.job_manager ^ id_.job, id_.attempt, id_.region};
  for (const auto& [edge, bytes] : context_.shuffle->written(own)) {
    wire::WrittenBytes& written = *report.add_written();
    written.set_edge(edge);
    written.set_bytes(bytes);
  }
}

// ---- what sources read ----

Status Attempt::list_sources() {
  enter(Step::list);
  std::set<std::string> wanted;
  std::map<std::string, std::string> made;
  std::size_t bytes = 0;
  for (const ListedSource& source : listed_sources(plan_->stream, plan_->job)) {
    const bool is_own = plan_->options.vertices[static_cast<std::size_t>(source.vertex)];
    if (!is_own || plan_->options.listings.contains(source.uid)) continue;
    wanted.insert(source.uid);
    const auto& tasks = plan_->execution.tasks;
    const bool makes_it = std::any_of(tasks.begin(), tasks.end(), [&](const ExecutionTask& task) {
      return task.kind == TaskKind::chain && task.vertex == source.vertex && task.subtask == 0 &&
             task.task_manager == plan_->options.task_manager;
    });
    if (!makes_it) continue;
    const Result<SourceListing> listing = guarded(
        "operator '" + source.name + "'", [&] { return list_source(*context_.platform, source); });
    if (!listing.ok()) return listing.status();
    bytes += (*listing)->size();
    if (bytes > max_listing_bytes && context_.prepared == nullptr) {
      return {
          ErrorCode::limit_exceeded,
          fmt::format("operator '{}': what it is to read is too long a list for the JobManager, "
                      "more than {} bytes; let it read fewer and larger files, or several jobs",
                      source.name, max_listing_bytes)};
    }
    made[source.uid] = **listing;
  }
  const std::lock_guard lock(mutex_);
  wanted_listings_ = std::move(wanted);
  made_listings_ = std::move(made);
  return {};
}

Task<Status> Attempt::await_listings() {
  context_.changed->raise();
  while (true) {
    event_.prepare_wait();
    bool complete = false;
    {
      const std::lock_guard lock(mutex_);
      complete = wanted_listings_.empty();
      if (complete) plan_->options.listings.merge(listings_);
    }
    if (complete || cancelled()) {
      event_.cancel_wait();
      break;
    }
    co_await event_.wait();
  }
  if (cancelled()) co_return Status(ErrorCode::cancelled, "the job was cancelled");
  co_return Status();
}

void Attempt::deliver_listings(const wire::Assignment& assignment) {
  {
    const std::lock_guard lock(mutex_);
    for (const wire::SourceListing& each : assignment.listings()) {
      if (wanted_listings_.erase(each.uid()) == 0) continue;
      made_listings_.erase(each.uid());
      listings_[each.uid()] = std::make_shared<const std::string>(each.listing());
    }
  }
  event_.notify();
}

}  // namespace hummer
