// ShuffleMerge: the outputs of all map tasks for one reduce task, merged in bounded memory.
//
//   auto merge = ShuffleMerge::create(platform, options);
//   auto id = (*merge)->reserve(raw_bytes);            // 0: there is no room now
//   (*merge)->begin(*id, place);
//   (*merge)->receive(*id, bytes);                     // as often as some come
//   (*merge)->check(*id);                              // all has come, and its CRC is right
//   (*merge)->commit(*id);                             // it counts; or abort(id)
//   (*merge)->finish();
//   (*merge)->merged()                                 // a RecordStream
//
// What is in memory is merged into a spill file when two thirds of the memory are full, and when an
// output that is coming has no room. An output that is larger than a quarter of the memory goes to
// a file at once. Files have no names. With more than twice as many files as are merged at once,
// the first ones become one.
//
// A failure of commit(), reserve() or finish() is that of the disk, or a damaged output's. What has
// come can't be had again then, so all of them fail from there on.
//
// Memory: `memory_bytes` for outputs, by what they are before compression, and a quarter of that
// for buffers. Errors: those of outputs and of the disk.
//
// Thread: reserve() to commit() any, an output one at a time; the rest one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/batch/key_order.hpp>

#include "batch/codec.hpp"
#include "batch/spill_file.hpp"
#include "fetched_output.hpp"
#include "platform/platform.hpp"

namespace hummer::hadoop {

struct ShuffleMergeOptions {
  std::size_t memory_bytes = std::size_t{64} << 20;
  batch::KeyOrder order = {};
  batch::Codec codec = batch::Codec::none;
  std::string spill_directory = {};
  std::size_t merge_factor = 100;  // streams that are merged at once
};

struct ShuffleMergeMetrics {
  std::uint64_t outputs = 0;
  std::uint64_t spills = 0;
  std::uint64_t spilled_records = 0;
  std::uint64_t all_bytes = 0;  // of what is merged at the end, as it is stored
};

class ShuffleMerge {
 public:
  using Id = std::uint64_t;

  ShuffleMerge(Platform& platform, ShuffleMergeOptions options);
  ShuffleMerge(const ShuffleMerge&) = delete;
  ShuffleMerge& operator=(const ShuffleMerge&) = delete;

  Result<Id> reserve(std::uint64_t raw_bytes);
  Status begin(Id id, batch::SegmentPlace place);
  Status receive(Id id, std::string_view bytes);
  Status check(Id id);
  Status commit(Id id);
  void abort(Id id);

  Status finish();
  // After finish().
  batch::RecordStream& merged() { return *merged_; }
  ShuffleMergeMetrics metrics() const { return metrics_; }

 private:
  struct Coming {
    std::uint64_t reserved_bytes = 0;  // 0: it goes to a file
    std::unique_ptr<FetchedOutput> output;
  };
  Coming& coming(Id id);
  // Kept as the failure of all that follows.
  Status keep(Status status);
  Status add(Coming one);
  Status open_merged();
  // All outputs in memory to a spill file.
  Status spill_memory();
  Status write_spill(std::vector<std::unique_ptr<batch::RecordStream>> streams);
  // The first files become one, so that there are no more than that many less one.
  Status merge_files(std::size_t count);
  // Of each of so many streams.
  std::size_t buffer_bytes(std::size_t streams) const;
  std::unique_ptr<batch::RecordStream> open_file(std::size_t at, std::size_t streams) const;

  Platform& platform_;
  const ShuffleMergeOptions options_;
  std::mutex mutex_;  // of all that follows
  std::map<Id, Coming> coming_;
  Id last_id_ = 0;
  std::uint64_t reserved_bytes_ = 0;   // by what comes and what is in memory
  std::uint64_t in_memory_bytes_ = 0;  // of that, what has come
  std::vector<std::unique_ptr<FetchedOutput>> in_memory_;
  // Large outputs and spill files, in the order in which they came.
  struct File {
    std::unique_ptr<FetchedOutput> output;
    std::unique_ptr<batch::SpillFile> spill;
  };
  std::vector<File> files_;
  std::unique_ptr<batch::RecordStream> merged_;
  Status failure_;
  ShuffleMergeMetrics metrics_;
};

}  // namespace hummer::hadoop
