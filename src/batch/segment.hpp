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
//   HUMMER_TRY(writer.add(key, value)); ...        // in the order in which they shall be read
//   Result<SegmentPlace> place = writer.finish();  // then the next segment, or the end
//
// Reading:
//   SegmentReader reader(file, place, Codec::none);
//   reader.next() ...                              // a RecordStream
//
// Writing goes through a buffer of some 256 KiB, and what finish() has answered for is with the
// file. add() copies, and calls nothing but where the buffer is full. From the first add() of a
// segment to its finish() nobody else appends to the file. Failures: those of the file;
// invalid_argument for a key or value of more than 2^31 − 1 bytes, which changes nothing. After any
// other failure every call fails, and a part of the segment may be in the file.
//
// Reading is by pieces of `buffer_bytes`, from where the segment begins to where it ends; spans
// have up to 512 records. A span's views point into the reader's buffer. A record that has no room
// in it makes it larger, as far as its bytes have come; where there is no codec, at once, as the
// segment lies in the file. A key and a value have 2^31 − 1 bytes at most.
//
// Failures of reading name file and offset: corrupt_file where the CRC, a length or the end is
// wrong, where bytes are behind the end, or where the file is too short; limit_exceeded where a
// codec asks for more than is given (codec.hpp); file_changed where the file became shorter since
// it was opened; else those of the file. The CRC is compared before the last span is handed out, so
// a stream that ends without a failure was whole. A length is believed no further than the segment
// goes.
//
// Thread: one each; several readers may share a file. Memory of a reader: its buffer, no larger
// than the segment, and with a codec as much again (at most 256 KiB) and what the codec takes.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <hummer/status.hpp>

#include <hummer/batch/record_stream.hpp>
#include "batch/codec.hpp"
#include "platform/files.hpp"

namespace hummer::batch {

// What the end has for a key's and a value's length.
inline constexpr std::int64_t segment_end_mark = -1;
inline constexpr std::size_t segment_end_bytes = 2;
inline constexpr std::size_t segment_crc_bytes = 4;

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
  // `file` outlives it. `buffer_bytes`: read at a time.
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
