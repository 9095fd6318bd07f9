// MapResults: what the map tasks of a job leave for its reduce tasks.
//
// Either collections, one of each thread, whose records are in memory and in spill files; or files,
// one of each task, with an index beside it (where tasks may be tried again).
//
// Lifecycle: add_… while map tasks run, then streams(). Thread: any.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <hummer/batch/record_stream.hpp>
#include <hummer/status.hpp>

#include "batch/segment_index.hpp"
#include "job_run.hpp"
#include "map_collection.hpp"

namespace hummer::batch {

class MapResults {
 public:
  explicit MapResults(JobRun& run) : run_(run) {}

  // Ended ones.
  void add_collection(std::unique_ptr<MapCollection> collection);
  Status add_file(const std::string& path);
  // Sorted, of one partition. They may not outlive this.
  Result<std::vector<std::unique_ptr<RecordStream>>> streams(std::uint32_t partition);
  void count(Counters& counters) const;

 private:
  struct File {
    std::unique_ptr<ReadableFile> file;
    SegmentIndex index;
  };

  JobRun& run_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<MapCollection>> collections_;
  std::vector<File> files_;
};

}  // namespace hummer::batch
