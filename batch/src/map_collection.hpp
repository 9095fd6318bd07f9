// MapCollection: what map tasks have emitted for reducers, of all tasks of a thread or of one
// attempt.
//
//   auto collection = MapCollection::create(run, 0);
//   CountedOutput output((*collection)->output());       // one for each task
//   ...
//   HUMMER_TRY((*collection)->end());                    // there are no more
//   (*collection)->collector().take(partition);
//
// Records go through the job's folder, where it has one, and its partitioner into a collector,
// which has the job's combiner.
//
// Thread: one, but for take() of the collector.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <hummer/batch/job.hpp>

#include "batch/output_collector.hpp"
#include "folded_output.hpp"
#include "guarded_combiner.hpp"
#include "job_run.hpp"
#include "task_outputs.hpp"

namespace hummer::batch {

class MapCollection {
 public:
  // `number`: for what is said of it; of the thread, where threads share the run's pages. `run`
  // outlives it.
  static Result<std::unique_ptr<MapCollection>> create(JobRun& run, std::uint32_t number);
  MapCollection(const MapCollection&) = delete;
  MapCollection& operator=(const MapCollection&) = delete;

  RecordOutput& output();
  // Then the collector is finished, for take().
  Status end();
  // Or it goes to a file, and an index beside it.
  Status end_to_file(const std::string& path);
  OutputCollector& collector() { return *collector_; }
  void count(Counters& counters) const;

 private:
  MapCollection(JobRun& run, std::uint32_t number);
  Status open();
  // The folder's rest.
  Status end_outputs();

  JobRun& run_;
  TaskContext context_;
  std::unique_ptr<Partitioner> partitioner_;
  std::unique_ptr<GuardedCombiner> combiner_;
  std::unique_ptr<Folder> folder_;
  std::unique_ptr<OutputCollector> collector_;
  std::unique_ptr<CollectedOutput> collected_;
  std::unique_ptr<FoldedOutput> folded_;
};

}  // namespace hummer::batch
