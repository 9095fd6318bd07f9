// The form of a SplitReader for records that are no lines: blocks are whole units of the file's
// framing (hummer/detail/record_framing.hpp), and each unit whose first byte lies in [begin, end)
// is in exactly one block.
//
// Errors: limit_exceeded for a head or unit above `max_line_bytes`; corrupt_file for what is no
// head or unit, one that lacks its mark, and a file that ends inside of one; and those of the
// input.
#pragma once

#include <memory>
#include <string>

#include <hummer/detail/record_framing.hpp>

#include "connectors/file/split_reader.hpp"

namespace hummer {

// The head of a file, as a block. `input` stands at the file's begin.
Result<SplitReader::Run> read_head(ByteInput& input, const RecordFraming& framing,
                                   const std::shared_ptr<const std::string>& origin,
                                   LineLimits limits, LineBufferPool& pool);

// `input` stands at range.begin, or at first_mark_byte(range, mark) where no unit begins there.
// `pool` and `framing` outlive the reader.
std::unique_ptr<SplitReader> make_framed_reader(std::unique_ptr<ByteInput> input, LineRange range,
                                                const RecordFraming& framing, std::string mark,
                                                LineLimits limits, LineBufferPool& pool);

// A mark that ends right at range.begin, or behind it, is one that a unit of the range follows.
inline std::uint64_t first_mark_byte(const LineRange& range, std::size_t mark_bytes) {
  if (range.at_line_start) return range.begin;
  return range.begin - std::min<std::uint64_t>(range.begin, mark_bytes);
}

}  // namespace hummer
