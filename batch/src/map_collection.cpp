#include "map_collection.hpp"

#include <algorithm>
#include <utility>

#include "guarded_call.hpp"

namespace hummer::batch {
namespace {

// Reduce tasks that read a shared collector at the same time; one that ends with a file is read by
// nobody.
std::size_t takes_at_once(const JobRun& run) {
  return run.shares_memory() ? std::max(std::min(run.threads, run.reducers), 1U) : 1;
}

}  // namespace

Result<std::unique_ptr<MapCollection>> MapCollection::create(JobRun& run, std::uint32_t number) {
  std::unique_ptr<MapCollection> collection(new MapCollection(run, number));
  HUMMER_TRY(collection->open());
  return collection;
}

MapCollection::MapCollection(JobRun& run, std::uint32_t number)
    : run_(run), context_(TaskContext::Kind::map, number, 1, run.job.parameters, run.is_stopping) {}

Status MapCollection::open() {
  HUMMER_TRY(call_guarded("the partitioner", [&] {
    partitioner_ = run_.job.partitioner();
    return partitioner_->open(context_);
  }));
  if (run_.job.combiner != nullptr && !run_.folds()) {
    HUMMER_TRY(call_guarded("the combiner", [&] {
      combiner_ = std::make_unique<GuardedCombiner>(run_.job.combiner());
      return Status();
    }));
  }
  const ArenaMemory memory{run_.collected_pages, context_.number() * run_.collector_bytes()};
  auto collector = OutputCollector::create(run_.platform, {.partitions = run_.reducers,
                                                           .memory_bytes = run_.collector_bytes(),
                                                           .memory = memory,
                                                           .order = run_.order(),
                                                           .codec = run_.codec,
                                                           .spill_directory = run_.spill_directory,
                                                           .combiner = combiner_.get(),
                                                           .takes_at_once = takes_at_once(run_)});
  if (!collector.ok()) return collector.status();
  collector_ = std::move(*collector);
  collected_ = std::make_unique<CollectedOutput>(*partitioner_, *collector_);
  if (!run_.folds()) return Status();
  HUMMER_TRY(call_guarded("the folder", [&] {
    folder_ = run_.job.folder();
    return folder_->open(context_);
  }));
  folded_ = std::make_unique<FoldedOutput>(*folder_, FoldedOutput::Form::partial,
                                           run_.memory_per_thread() / 2, *collected_);
  return Status();
}

RecordOutput& MapCollection::output() {
  if (folded_ != nullptr) return *folded_;
  return *collected_;
}

Status MapCollection::end_outputs() {
  if (folded_ != nullptr) return folded_->end();
  collected_->flush();
  return collected_->status();
}

Status MapCollection::end() {
  HUMMER_TRY(end_outputs());
  return collector_->finish();
}

Status MapCollection::end_to_file(const std::string& path) {
  HUMMER_TRY(end_outputs());
  return collector_->finish_to_file(path);
}

void MapCollection::count(Counters& counters) const {
  const CollectorMetrics metrics = collector_->metrics();
  const auto add = [&](std::string_view name, std::uint64_t amount) {
    counters.counter(framework_counters, name).add(amount);
  };
  add("Spilled Records", metrics.spilled_records);
  add("Map output materialized bytes", metrics.spilled_bytes);
  if (combiner_ != nullptr) {
    add("Combine input records", combiner_->records_in());
    add("Combine output records", combiner_->records_out());
  }
  counters.add(context_.counters());
}

}  // namespace hummer::batch
