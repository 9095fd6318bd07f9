// OutputCollector: takes the records that a map task gives out, and hands them over sorted,
// partition by partition. (Design: docs/design/0018-batch-core.md.)
//
//   auto collector = OutputCollector::create(platform, {.partitions = 8,
//                                                       .memory_bytes = 256 << 20,
//                                                       .order = *key_order_of("text"),
//                                                       .spill_directory = "/data/spills"});
//   HUMMER_TRY((*collector)->collect(partition, key, value));   // as often as there are records
//   then either, for reducers elsewhere:
//   HUMMER_TRY((*collector)->finish_to_file("/data/file.out")); // and "/data/file.out.index"
//   or, for reducers in this process:
//   HUMMER_TRY((*collector)->finish());
//   auto streams = (*collector)->take(partition);               // sorted; Merger makes them one
//
// Several threads have a collector each. Where these share the pages that their memory is in, what
// they have in memory of a partition is sorted as one, instead of being merged:
//
//   auto pages = std::make_shared<ZeroedPages>(threads * memory_bytes);
//   OutputCollector::create(platform, {.memory_bytes = memory_bytes,
//                                      .memory = {pages, thread * memory_bytes}, ...});
//   auto streams = take_of_all(collectors, partition);           // all of them are finished
//
// Records are copied into an arena. When it is full they are sorted, combined and written to a
// spill file, and it begins anew. Records with equal keys keep the order in which they came, also
// across spills: the streams of take() are numbered that way.
//
// Memory: `memory_bytes` for everything that grows with the records: the arena, where a record
// takes 16 to 23 bytes beside its own, the index of the bucket that is being sorted, buffers of
// spill files. It is touched as records come. Beside it are 32 bytes per partition, 24 per
// partition and spill file, and what a codec takes. A stream of take() has an index of its own, 8
// bytes per record of its partition that is in memory (16 while it is made), and buffers of a
// sixteenth of the memory at most. A stream of a spill file holds its next record as a whole: where
// the buffers' part has no room for one of the largest records per stream, nothing stays in the
// arena, its memory is theirs, and fewer are merged at once; so the limit holds, but for two of the
// largest records that each merge needs.
//
// Spill files have no names, and are gone when the collector is, or the process.
//
// Errors: limit_exceeded, a record that does not fit into the empty arena; invalid_argument, a
// partition that is not there; those of the disk. After one the collector is only destroyed. The
// file of finish_to_file() is removed then.
//
// Thread: one, but for take() and take_of_all(): any, at once. The collector outlives the streams.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/status.hpp>

#include <hummer/batch/combiner.hpp>
#include <hummer/batch/key_order.hpp>
#include <hummer/batch/record_stream.hpp>
#include "batch/codec.hpp"
#include "batch/record_arena.hpp"
#include "batch/spill_file.hpp"
#include "batch/stream_combiner.hpp"
#include "platform/platform.hpp"

namespace hummer::batch {

struct CollectorOptions {
  std::uint32_t partitions = 1;
  std::size_t memory_bytes = std::size_t{256} << 20;  // 64 KiB or more
  ArenaMemory memory = {};  // shared with other collectors; without pages: its own
  KeyOrder order = {};
  Codec codec = Codec::none;         // of spill files and of the file at the end
  std::string spill_directory = {};  // made when the first spill file is
  Combiner* combiner = nullptr;  // for what is spilled, and for merges of three streams and more
  StreamCombiner* stream_combiner = nullptr;  // instead of it, where groups are found elsewhere
  std::size_t merge_factor = 100;  // streams that are merged at once, as far as memory has buffers
  std::size_t takes_at_once = 1;   // partitions of which streams are read at the same time
};

struct CollectorMetrics {
  std::uint64_t records = 0;  // collected
  std::uint64_t bytes = 0;    // of their keys and values
  std::uint64_t spills = 0;
  std::uint64_t spilled_records = 0;     // after combining
  std::uint64_t spilled_bytes = 0;       // in spill files
  std::uint64_t merges = 0;              // of spill files into larger ones
  std::uint64_t written_records = 0;     // by finish_to_file(), after combining
  std::size_t largest_record_bytes = 0;  // key and value, of those in files
  std::uint64_t sort_nanoseconds = 0;
  std::uint64_t spill_nanoseconds = 0;  // without sorting
  std::uint64_t merge_nanoseconds = 0;  // of merges, and of writing the file at the end
};

class OutputCollector {
 public:
  static constexpr std::size_t least_memory_bytes = std::size_t{64} << 10;

  // invalid_argument where the options can't be.
  static Result<std::unique_ptr<OutputCollector>> create(Platform& platform,
                                                         CollectorOptions options);
  OutputCollector(const OutputCollector&) = delete;
  OutputCollector& operator=(const OutputCollector&) = delete;

  // The bytes are copied.
  Status collect(std::uint32_t partition, std::string_view key, std::string_view value) {
    if (partition >= buckets_.size() ||
        !arena_.add(buckets_[partition], options_.order.prefix(key), key, value)) [[unlikely]] {
      return collect_slowly(partition, key, value);
    }
    collected_bytes_ += key.size() + value.size();
    return Status();
  }

  // Writes all partitions to `path`, in Hadoop's IFile, and their index to `path`.index. Replaces
  // what is there. Once, instead of finish().
  Status finish_to_file(const std::string& path);

  // There are no more records. Once.
  Status finish();
  // After finish(): sorted streams, none that is empty, in the order in which their records came.
  Result<std::vector<std::unique_ptr<RecordStream>>> take(std::uint32_t partition);

  std::uint32_t partitions() const { return static_cast<std::uint32_t>(buckets_.size()); }
  // Not while take() runs.
  CollectorMetrics metrics() const;

 private:
  OutputCollector(Platform& platform, CollectorOptions options, std::size_t buffer_bytes);

  Status collect_slowly(std::uint32_t partition, std::string_view key, std::string_view value);
  friend Result<std::vector<std::unique_ptr<RecordStream>>> take_of_all(
      std::span<OutputCollector* const> collectors, std::uint32_t partition);

  // Of a partition in memory, of all these together, whose arenas share their places.
  static std::unique_ptr<RecordStream> take_memory(std::span<OutputCollector* const> collectors,
                                                   std::uint32_t partition);
  std::span<const IndexEntry> sort(const Bucket& bucket, std::span<IndexEntry> room);
  // All buckets to a spill file; they are empty then.
  Status spill();
  // Replaces `count` neighbours by one.
  Status merge_spills(std::size_t first, std::size_t count);
  // Until there are no more spill files than that, in so much memory.
  Status merge_spills_to(std::size_t most, std::size_t memory_bytes);
  // How many streams of spill files may be read at once in so much memory, as each holds a record.
  std::size_t streams_in(std::size_t memory_bytes) const;
  // Of a partition in spill files, in their order; null streams are left out.
  std::vector<std::unique_ptr<RecordStream>> open_spills(std::uint32_t partition, std::size_t first,
                                                         std::size_t count,
                                                         std::size_t streams) const;
  Status write_output(const std::string& path, const std::string& index_path);
  // Writes a partition's segment: what is spilled and what is in memory, as one.
  Result<SegmentPlace> write_partition(std::uint32_t partition, SegmentWriter& writer);

  Platform& platform_;
  const CollectorOptions options_;
  const std::size_t buffer_bytes_;  // of the memory, for all buffers of spill files
  const std::size_t merge_factor_;
  RecordArena arena_;
  std::vector<Bucket> buckets_;
  std::vector<SpillFile> spills_;
  std::uint64_t collected_bytes_ = 0;
  CollectorMetrics metrics_;  // what happened until the last spill
  std::atomic<std::uint64_t> sort_nanoseconds_{0};
  bool is_finished_ = false;
};

// As take(), of all collectors as one. They have one order. Records of equal keys that came to one
// collector go out as they came; those of two, in any order.
Result<std::vector<std::unique_ptr<RecordStream>>> take_of_all(
    std::span<OutputCollector* const> collectors, std::uint32_t partition);

}  // namespace hummer::batch
