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
#include <string>
#include <vector>

#include "batch/segment.hpp"
#include "platform/nameless_file.hpp"

namespace hummer::batch {

// Appends the records of a stream to a segment: how many there were.
Result<std::uint64_t> append_all(RecordStream& stream, SegmentWriter& writer);

// A file that was opened when it was empty, and has so many bytes since.
std::unique_ptr<ReadableFile> written_file(std::unique_ptr<ReadableFile> file,
                                           std::uint64_t size_bytes);

class SpillFile {
 public:
  SpillFile(std::unique_ptr<ReadableFile> file, Codec codec, std::vector<SegmentPlace> segments);

  // Reads at most `buffer_bytes` at a time, and no more than the segment has.
  std::unique_ptr<RecordStream> open(std::uint32_t partition, std::size_t buffer_bytes) const;
  std::uint64_t size_bytes() const { return size_bytes_; }

 private:
  std::unique_ptr<ReadableFile> file_;
  Codec codec_ = Codec::none;
  std::vector<SegmentPlace> segments_;
  std::uint64_t size_bytes_ = 0;
};

class SpillWriter {
 public:
  // In `directory`, which is made where it is missing.
  static Result<SpillWriter> create(Platform& platform, const std::string& directory,
                                    std::uint32_t partitions, Codec codec);

  // The next partition's records; null: it has none.
  Status add(RecordStream* stream);
  std::uint64_t records() const { return records_; }
  Result<SpillFile> finish();

 private:
  SpillWriter(NamelessFile file, std::uint32_t partitions, Codec codec);

  NamelessFile file_;
  Codec codec_;
  std::unique_ptr<SegmentWriter> writer_;
  std::vector<SegmentPlace> segments_;
  std::uint64_t records_ = 0;
};

}  // namespace hummer::batch
