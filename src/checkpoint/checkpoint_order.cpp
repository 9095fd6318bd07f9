#include "checkpoint/checkpoint_order.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace hummer {
namespace {

constexpr std::string_view job_prefix = "job-";
// Longer than any attempt takes that may still complete a checkpoint.
constexpr std::int64_t orphan_age_ms = std::int64_t{24} * 60 * 60 * 1000;
constexpr std::string_view savepoint_prefix = "savepoint-";

Status begin(Files& files, const CheckpointOrder& order) {
  if (order.savepoint && files.stat(order.path).ok()) {
    return {ErrorCode::invalid_argument,
            "'" + order.path + "' is there already, and savepoints are never written over"};
  }
  return CheckpointStore::begin_at(files, order.path);
}

Status complete(Files& files, const CheckpointOrder& order) {
  HUMMER_TRY(CheckpointStore::complete_at(files, order.path, order.metadata));
  if (order.metadata.savepoint) return {};
  // What can't be removed now is removed after the next one.
  (void)CheckpointStore(files, order.directory)
      .retain(std::max<std::uint32_t>(order.retained, 1), order.own_from);
  return {};
}

// In an object store a checkpoint that was given up stays until newer ones are complete, and goes
// as what they do not need (CheckpointStore::retain): its metadata may still be on their way there,
// and must not appear where the files are gone. Of a savepoint nobody else would remove them.
Status drop(Files& files, const CheckpointOrder& order) {
  const Result<ObjectStore*> objects = files.object_store(order.path);
  if (!objects.ok()) return objects.status();
  const bool is_kept =
      *objects != nullptr && !is_savepoint(order.path.substr(order.path.rfind('/') + 1));
  return is_kept ? Status() : CheckpointStore::remove_at(files, order.path);
}

Status clear(Files& files, const CheckpointOrder& order) {
  CheckpointStore store(files, order.directory);
  // Others first: who dies in here must not find one from before what has been committed since.
  if (order.restore == "latest") {
    HUMMER_TRY(store.remove_of(order.metadata.job_name, order.own_from));
  }
  HUMMER_TRY(store.remove_all(order.own_from));
  const Result<ObjectStore*> objects = files.object_store(order.directory);
  if (!objects.ok()) return objects.status();
  // The job's own directory; one that others use too is not empty, or stays empty.
  if (*objects == nullptr && order.directory != order.latest_in)
    (void)files.remove(order.directory);
  return {};
}

struct Found {
  CheckpointMetadata metadata;
  std::string path;
};

// The newest one in a store, of a job with this name if it is not empty; not_found. When there are
// some and all are damaged, the newest one's failure: to begin anew would not be what was asked
// for.
Result<Found> newest_in(Files& files, const std::string& directory, std::uint64_t from,
                        const std::string& job_name, CheckpointOutcome& outcome) {
  CheckpointStore store(files, directory);
  std::vector<SkippedCheckpoint> skipped;
  Result<CheckpointMetadata> newest = store.newest(skipped, from, outcome.order.verify, job_name);
  Status damaged;
  for (const SkippedCheckpoint& each : skipped) {
    const bool never_completed = each.why.code() == ErrorCode::not_found &&
                                 !CheckpointStore::is_checkpoint(files, store.path_of(each.id));
    if (never_completed) continue;
    outcome.passed_over.push_back(
        fmt::format("checkpoint {} is passed over: {}", each.id, each.why.message()));
    const bool of_another_job = each.why.code() == ErrorCode::invalid_configuration;
    if (of_another_job) continue;
    if (damaged.ok()) damaged = each.why;
    outcome.superseded = std::max(outcome.superseded, each.id);
  }
  if (!newest.ok() && newest.status().code() == ErrorCode::not_found && !damaged.ok()) {
    return Status(ErrorCode::corrupt_file, damaged.message())
        .with_context("no checkpoint in '" + directory + "' can be used");
  }
  if (!newest.ok()) return newest.status();
  Found found{std::move(*newest), {}};
  found.path = store.path_of(found.metadata.id);
  return found;
}

// Of all stores in the configured directory, the one that was completed last.
Result<Found> latest(Files& files, CheckpointOutcome& outcome) {
  const CheckpointOrder& order = outcome.order;
  std::vector<std::string> directories{order.latest_in};
  const auto names = files.list_directory(order.latest_in);
  if (!names.ok() && names.status().code() != ErrorCode::not_found) return names.status();
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    if (is_job_directory(name)) directories.push_back(order.latest_in + "/" + name);
  }
  Result<Found> best(Status(ErrorCode::not_found, "no complete checkpoint of a job named '" +
                                                      order.metadata.job_name + "' in '" +
                                                      order.latest_in + "'"));
  for (const std::string& directory : directories) {
    Result<Found> found = newest_in(files, directory, 0, order.metadata.job_name, outcome);
    if (!found.ok()) {
      const ErrorCode code = found.status().code();
      if (code != ErrorCode::not_found && code != ErrorCode::corrupt_file) return found.status();
      if (code == ErrorCode::corrupt_file && !best.ok()) best = found.status();
      continue;
    }
    const CheckpointMetadata& metadata = found->metadata;
    const auto age = [](const CheckpointMetadata& of) { return std::pair(of.completed_ms, of.id); };
    if (!best.ok() || age(best->metadata) < age(metadata)) best = std::move(found);
  }
  return best;
}

// `found` in the job's own directory, or order.known, whichever is newer and whole.
Result<Found> newest_known(Files& files, Result<Found> found, CheckpointOutcome& outcome) {
  const CheckpointOrder& order = outcome.order;
  Result<CheckpointMetadata> known = CheckpointStore::read_at(files, order.known);
  Status status = known.status();
  if (status.ok() && order.verify) {
    status = CheckpointStore::verify_at(files, order.known, *known);
  }
  if (status.ok()) {
    if (!found.ok() || found->metadata.id < known->id) {
      found = Found{std::move(*known), order.known};
    }
    return found;
  }
  outcome.passed_over.push_back(
      fmt::format("'{}' is passed over: {}", order.known, status.message()));
  outcome.superseded = std::max(outcome.superseded, order.checkpoint);
  if (!found.ok() && found.status().code() == ErrorCode::not_found) {
    // Damaged is not gone: to wait for it would be in vain.
    const bool gone = status.code() == ErrorCode::not_found;
    found = Status(gone ? ErrorCode::not_found : ErrorCode::corrupt_file, status.message())
                .with_context("no other checkpoint in '" + order.directory + "'");
  }
  return found;
}

Status find(Files& files, CheckpointOutcome& outcome) {
  const CheckpointOrder& order = outcome.order;
  // What can't be removed now is removed at another beginning.
  if (order.wall_ms > orphan_age_ms) {
    (void)CheckpointStore(files, order.directory).remove_orphans(order.wall_ms - orphan_age_ms);
  }
  const Result<std::vector<std::uint64_t>> ids = CheckpointStore(files, order.directory).ids();
  if (!ids.ok()) return ids.status();
  if (!ids->empty()) outcome.highest = ids->back();
  Result<Found> found(Found{});
  if (order.restore.empty()) {
    found = newest_in(files, order.directory, order.own_from, {}, outcome);
    if (!order.known.empty()) found = newest_known(files, std::move(found), outcome);
  } else if (order.restore == "latest") {
    found = latest(files, outcome);
  } else {
    Result<CheckpointMetadata> metadata = CheckpointStore::read_at(files, order.restore);
    if (!metadata.ok()) {
      // "There is none" would be a fresh start, which nobody asked for.
      const Status& why = metadata.status();
      const bool missing = why.code() == ErrorCode::not_found;
      return Status(missing ? ErrorCode::invalid_configuration : why.code(), why.message())
          .with_context(fmt::format("cannot restore from '{}'; name the directory of a checkpoint "
                                    "or savepoint, which holds its _metadata",
                                    order.restore));
    }
    found = Found{std::move(*metadata), order.restore};
  }
  if (!found.ok()) return found.status();
  HUMMER_TRY(CheckpointStore::make_durable(files, found->path));
  outcome.found = std::move(found->metadata);
  outcome.path = std::move(found->path);
  outcome.highest = std::max({outcome.highest, outcome.found.id, outcome.superseded});
  if (outcome.superseded < outcome.found.id) outcome.superseded = 0;
  return {};
}

}  // namespace

CheckpointOutcome execute(Files& files, CheckpointOrder order) {
  CheckpointOutcome outcome;
  outcome.order = std::move(order);
  const CheckpointOrder& what = outcome.order;
  switch (what.kind) {
    case CheckpointOrder::Kind::begin: outcome.status = begin(files, what); break;
    case CheckpointOrder::Kind::complete: outcome.status = complete(files, what); break;
    case CheckpointOrder::Kind::drop: outcome.status = drop(files, what); break;
    case CheckpointOrder::Kind::find: outcome.status = find(files, outcome); break;
    case CheckpointOrder::Kind::clear: outcome.status = clear(files, what); break;
  }
  return outcome;
}

std::string savepoint_path(const std::string& directory, std::uint64_t number,
                           std::uint64_t request) {
  return fmt::format("{}/{}{:010}-{:08x}", directory, savepoint_prefix, number,
                     request & 0xffffffff);
}

bool is_savepoint(const std::string& name) { return name.starts_with(savepoint_prefix); }

std::string job_directory(const std::string& configured, std::uint64_t submission) {
  return fmt::format("{}/{}{:016x}", configured, job_prefix, submission);
}

bool is_job_directory(const std::string& name) { return name.starts_with(job_prefix); }

}  // namespace hummer
