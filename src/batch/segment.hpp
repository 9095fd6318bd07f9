// Segments: the records of one partition in a spill or an output file, as Hadoop's IFile has them.
//
//   segment   codec( record* end ) crc
//   record    vint key length, vint value length, key, value
//   end       vint -1, vint -1
//   crc       4 bytes, big-endian: CRC-32 (IEEE) of all stored bytes of the segment before it
//
// A file is one segment per partition, in order, without anything between; where they lie says the
// index (segment_index.hpp). Vints are those of Hadoop's WritableUtils.
//
// Writing:
//   SegmentWriter writer(file, Codec::none);       // the file is appended to
//   writer.add(key, value); ...                    // in the order in which they shall be read
//   Result<SegmentPlace> place = writer.finish();  // then the next segment, or the end
//
// Reading:
//   SegmentReader reader(file, place, Codec::none, {.buffer_bytes = 1 << 20});
//   reader.next() ...                              // a RecordStream
//
// Failures of reading name file and offset: corrupt_file where the CRC, a length or the end is wrong.
// The CRC is compared before the last span is handed out, so a stream that ends without a failure was
// whole. A length is believed no further than the segment goes.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <hummer/status.hpp>

#include "batch/codec.hpp"
#include <hummer/batch/record_stream.hpp>
#include "platform/files.hpp"

namespace hummer::batch {

// Where a segment lies, as an index of Hadoop's has it.
struct SegmentPlace {
  std::uint64_t offset = 0;
  std::uint64_t raw_bytes = 0;     // before compression, with the end, without the CRC
  std::uint64_t stored_bytes = 0;  // in the file, with the CRC
};

class SegmentWriter {
 public:
  // `file` outlives it.
  SegmentWriter(WritableFile& file, Codec codec, int level = 0);
  ~SegmentWriter();
  SegmentWriter(const SegmentWriter&) = delete;
  SegmentWriter& operator=(const SegmentWriter&) = delete;

  Status add(std::string_view key, std::string_view value);
  // Ends the segment; the next one begins with the next add.
  Result<SegmentPlace> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class SegmentReader final : public RecordStream {
 public:
  // `buffer_bytes`: read at a time; a record that is longer makes it larger.
  SegmentReader(ReadableFile& file, SegmentPlace place, Codec codec,
                std::size_t buffer_bytes = std::size_t{1} << 20);
  ~SegmentReader() override;
  SegmentReader(const SegmentReader&) = delete;
  SegmentReader& operator=(const SegmentReader&) = delete;

  Result<std::span<const RecordView>> next() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hummer::batch
