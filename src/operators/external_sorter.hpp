// ExternalSorter: sorts records, keys and values as bytes, in a memory that it keeps to; what is
// beyond it goes to spill files. Nothing it does takes longer than some ten milliseconds at once.
//
//   ExternalSorter sorter(platform, {.memory_bytes = 64 << 20, .spill_directory = "/var/tmp"});
//   Result<bool> added = sorter.add(key, value);      // false: step(), until it answers false too
//   sorter.finish();                                  // there are no more; then step() likewise
//   sorter.next() …                                   // a RecordStream, in the order of the bytes
//
// Records with equal keys stay in the order in which they came.
//
// Memory is an arena of records, which are put in order by an index (batch/divided_records.hpp): 8
// bytes per record in the arena and 8 beside it, counted. When the arena is full its records go to
// a spill file, a run, in their order; when no more come they stay where they are. Beside the arena
// are buffers of files. Runs are merged into longer ones when they are more than can be read at
// once: a hundred, or as many of whose largest record there is room for.
//
// Spill files have no names, and are gone when the sorter is, or the process.
//
// Errors: limit_exceeded, a record that has no room in the empty arena; those of the disk. After
// one the sorter is only destroyed.
//
// Thread: one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/status.hpp>

#include <hummer/batch/record_stream.hpp>
#include "batch/divided_records.hpp"
#include "batch/merger.hpp"
#include "batch/record_arena.hpp"
#include "batch/spill_file.hpp"
#include "platform/platform.hpp"

namespace hummer {

struct SorterOptions {
  std::size_t memory_bytes = std::size_t{64} << 20;  // 320 KiB or more
  std::string spill_directory = {};
};

class ExternalSorter final : public batch::RecordStream {
 public:
  static constexpr std::size_t least_memory_bytes = std::size_t{320} << 10;

  ExternalSorter(Platform& platform, const SorterOptions& options);

  // The bytes are copied. False: there is no room, and steps have to be done.
  Result<bool> add(std::string_view key, std::string_view value) {
    if (arena_.add(bucket_, batch::KeyOrder().prefix(key), key, value)) [[likely]]
      return true;
    return add_slowly(key, value);
  }
  void finish() { finished_ = true; }
  // Does a part of what is to be done; false: nothing is.
  Result<bool> step();
  // REQUIRES: finish(), and step() has answered false.
  Result<std::span<const batch::RecordView>> next() override;

  // About what it holds.
  std::size_t memory_bytes() const;
  std::size_t disk_bytes() const { return disk_bytes_; }
  std::uint64_t spills() const { return spills_made_; }

 private:
  enum class State : std::uint8_t { taking, sorting, writing, merging, sorted };

  Result<bool> add_slowly(std::string_view key, std::string_view value);
  void end_bucket();
  std::vector<std::unique_ptr<batch::RecordStream>> open_runs(std::size_t first,
                                                              std::size_t count) const;
  Status begin_writing(std::vector<std::unique_ptr<batch::RecordStream>> streams);
  // A part of the merge to the file; false: it is written.
  Result<bool> write_some();
  Status run_is_written();
  void begin_merging(std::size_t count);
  void open_sorted();
  std::size_t runs_at_once() const;
  bool has_too_many_runs() const;

  Platform& platform_;
  const std::string spill_directory_;
  const std::size_t buffer_bytes_;  // for reading runs
  const std::size_t arena_bytes_;
  const std::uint32_t most_bucket_records_;
  batch::RecordArena arena_;
  batch::Bucket bucket_;
  std::vector<batch::Bucket> buckets_;              // that are full, of the arena's records at hand
  std::uint64_t records_ = 0;                       // of those
  std::unique_ptr<batch::DividedRecords> divided_;  // while they are put in order
  State state_ = State::taking;
  bool finished_ = false;
  std::vector<batch::SpillFile> runs_;  // in the order in which their records came
  std::size_t merged_first_ = 0;        // of the runs that are merged into one
  std::size_t merged_count_ = 0;
  std::optional<batch::SpillWriter> writer_;
  std::unique_ptr<batch::Merger> merger_;
  std::size_t disk_bytes_ = 0;
  std::uint64_t spills_made_ = 0;
};

}  // namespace hummer
