// SpillFile: what had no room in memory, one segment per partition, in a file that nobody finds by
// a name and that goes when we go, however that comes.
//
//   auto writer = SpillWriter::create(platform, directory, partitions, codec);
//   writer->add(stream) ...                  // partition by partition
//   Result<SpillFile> spill = writer->finish();
//   spill->open(partition, 1 << 20);         // a RecordStream; null: it has no records there
//
// Empty partitions take no bytes.
//
// Thread: the writer one; SpillFile any, also streams of it at once. It outlives its streams.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "batch/segment.hpp"
#include "platform/nameless_file.hpp"

namespace hummer::batch {

struct AppendedRecords {
  std::uint64_t records = 0;
  std::size_t largest_bytes = 0;  // key and value of the largest one
};

// Appends the records of a stream to a segment.
Result<AppendedRecords> append_all(RecordStream& stream, SegmentWriter& writer);

// A file that was opened when it was empty, and has so many bytes since.
std::unique_ptr<ReadableFile> written_file(std::unique_ptr<ReadableFile> file,
                                           std::uint64_t size_bytes);

class SpillFile {
 public:
  SpillFile(std::unique_ptr<ReadableFile> file, Codec codec, std::vector<SegmentPlace> segments,
            std::size_t largest_record_bytes);

  // Reads at most `buffer_bytes` at a time, and no more than the segment has; a record that is
  // larger as a whole.
  std::unique_ptr<RecordStream> open(std::uint32_t partition, std::size_t buffer_bytes) const;
  std::uint64_t size_bytes() const { return size_bytes_; }
  std::size_t largest_record_bytes() const { return largest_record_bytes_; }

 private:
  std::unique_ptr<ReadableFile> file_;
  Codec codec_ = Codec::none;
  std::vector<SegmentPlace> segments_;
  std::size_t largest_record_bytes_ = 0;
  std::uint64_t size_bytes_ = 0;
};

// How many streams of files can be read at once in so much memory, as each holds its next record as
// a whole: two at least, `most` at most.
std::size_t streams_in(std::size_t memory_bytes, std::size_t largest_record_bytes,
                       std::size_t least_buffer_bytes, std::size_t most);
// Those `count` neighbours that have the fewest bytes: the first of them. REQUIRES: there are so
// many.
std::size_t smallest_neighbours(const std::vector<SpillFile>& files, std::size_t count);

class SpillWriter {
 public:
  // In `directory`, which is made where it is missing.
  static Result<SpillWriter> create(Platform& platform, const std::string& directory,
                                    std::uint32_t partitions, Codec codec);

  // The next partition's records; null: it has none.
  Status add(RecordStream* stream);
  // The same in parts: append() as often as there are spans, then end_partition().
  Status append(std::span<const RecordView> records);
  Status end_partition();
  // Partitions that have ended.
  std::uint32_t partitions() const { return static_cast<std::uint32_t>(segments_.size()); }
  std::uint64_t records() const { return appended_.records; }
  Result<SpillFile> finish();

 private:
  SpillWriter(NamelessFile file, std::uint32_t partitions, Codec codec);

  NamelessFile file_;
  Codec codec_;
  std::unique_ptr<SegmentWriter> writer_;
  std::vector<SegmentPlace> segments_;
  AppendedRecords appended_;
  bool has_begun_ = false;  // records of the partition at hand are written
};

}  // namespace hummer::batch
