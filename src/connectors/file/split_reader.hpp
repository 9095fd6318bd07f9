// SplitReader: one split of one file as blocks of whole lines.
//
// Every line whose first byte lies in [begin, end) is in exactly one block, in
// order, byte for byte: empty lines, '\r', NUL and invalid UTF-8 are data. A
// block is at most `block_bytes` large, unless it is a single longer line. The
// last line of a file may lack its '\n'.
//
// Two forms. The buffered one reads into pooled buffers: one copy by the kernel,
// and what is left of the last line (half a line on average) is copied to the
// next buffer; nothing is done per line. The mapped one hands out the mapping
// itself. Line borders are only looked for at the end of a block.
//
// Errors: limit_exceeded for a line above `max_line_bytes`, file_changed for a
// file that shrank, and those of the input; all name the file and the offset.
//
// Thread: one at a time. Blocks: keep `buffer` (Batch::keep) for as long as the
// block is used; it holds the bytes and the name that `origin` points to.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <hummer/buffer.hpp>
#include <hummer/status.hpp>
#include <hummer/text.hpp>

#include "connectors/file/byte_input.hpp"
#include "connectors/line_buffers.hpp"
#include "platform/files.hpp"

namespace hummer {

struct LineLimits {
  std::size_t block_bytes = 64 << 10;
  std::size_t max_line_bytes = 64 << 20;
  char quote = 0;  // FileSourceOptions::quote
  // A longer block would hide a line that is too long.
  std::size_t step_bytes() const {
    return block_bytes <= max_line_bytes ? block_bytes : max_line_bytes + 1;
  }
};

class SplitReader {
 public:
  struct Run {
    TextBlock block;  // empty: the split is finished
    BufferRef buffer;
  };

  virtual ~SplitReader() = default;
  virtual Result<Run> next() = 0;
  // Offset of the first byte that has not been handed out: always at the start of a line.
  virtual std::uint64_t position() const = 0;
  // For progress: how much of the file was taken.
  virtual std::uint64_t file_bytes() const = 0;
};

// What a reader is asked for. Offsets are those of the decompressed text.
struct LineRange {
  std::shared_ptr<const std::string> origin;
  std::uint64_t begin = 0;
  std::uint64_t end = UINT64_MAX;
  bool at_line_start = false;  // else the line that began before `begin` is left out
};

// `input` stands at range.begin, or one byte before it unless that is the start of a line
// (see first_byte_needed). `pool` outlives the reader.
std::unique_ptr<SplitReader> make_buffered_reader(std::unique_ptr<ByteInput> input, LineRange range,
                                                  LineLimits limits, LineBufferPool& pool);

// Where the reader of `range` begins: it must see whether a line ends right before `begin`.
inline std::uint64_t first_byte_needed(const LineRange& range) {
  return range.at_line_start || range.begin == 0 ? range.begin : range.begin - 1;
}

Status line_too_long(const std::string& origin, std::uint64_t offset, std::size_t max_line_bytes);

}  // namespace hummer
