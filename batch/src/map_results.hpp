// MapResults: what the map tasks of a job leave for its reduce tasks.
//
// Either collections, one of each thread, whose records are in memory and in spill files; or files,
// one of each task, with an index beside it (where tasks may be tried again), which are merged into
// fewer ones where reduce tasks have no memory to read all of them at once.
//
// Lifecycle: add_… while map tasks run, then end_maps(), then streams(). Thread: any, but for
// end_maps().
#pragma once

#include <cstdint>
#include <deque>
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
  // `largest_record_bytes`: key and value of the largest record in it.
  Status add_file(const std::string& path, std::size_t largest_record_bytes);
  Status end_maps();
  // Sorted, of one partition. They may not outlive this.
  Result<std::vector<std::unique_ptr<RecordStream>>> streams(std::uint32_t partition);
  void count(Counters& counters) const;

 private:
  struct File {
    std::string path;
    SegmentIndex index;
    std::unique_ptr<ReadableFile> file;  // null: not open yet, as there may be many
  };

  // The next `count` files: opens them; makes one of them.
  Status open_files(std::size_t count);
  Status merge_files(std::size_t count);
  std::unique_ptr<RecordStream> open(const File& file, std::uint32_t partition,
                                     std::size_t files) const;

  JobRun& run_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<MapCollection>> collections_;
  std::deque<File> files_;  // those that were merged come last
  std::size_t largest_record_bytes_ = 0;
  std::size_t merges_ = 0;
};

}  // namespace hummer::batch
