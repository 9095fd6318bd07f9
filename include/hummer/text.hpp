// Text moves as views. TextBlock: a run of whole lines of one input.
//
// `from_file` hands out blocks, not lines: a function that takes a block sees tens of kilobytes at
// a time and may use vector instructions across lines; one that takes a `std::string_view` is
// called per line. Line borders are searched for only when somebody asks for lines.
//
// A block ends after a '\n', or at the end of its input (the last line may lack one). Bytes are
// data: NUL and invalid UTF-8 pass through. The bytes belong to buffers that the batch keeps; 64
// bytes past the end may be read (`read_slack_bytes`).
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace hummer {

struct TextBlock {
  static constexpr std::uint64_t no_lines = UINT64_MAX;  // the offset of what is written as it is
  const char* data = nullptr;
  std::size_t size = 0;
  std::uint64_t offset = 0;             // of `data` in the (decompressed) input, in bytes
  const std::string* origin = nullptr;  // name of the file; null when there is none

  std::string_view view() const { return {data, size}; }
  // What remains after the first `consumed` bytes.
  TextBlock rest(std::size_t consumed) const {
    return {data + consumed, size - consumed, offset + consumed, origin};
  }
};

// Calls `function(line)` for every line of `block` from `from` on, without its '\n', until
// `function` answers false. Returns the bytes consumed, from the block's start.
template <typename Function>
std::size_t for_each_line(const TextBlock& block, std::size_t from, Function&& function) {
  const char* at = block.data + from;
  const char* const end = block.data + block.size;
  while (at < end) {
    const auto* newline =
        static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    const char* line_end = newline ? newline : end;
    const bool go_on = function(std::string_view(at, static_cast<std::size_t>(line_end - at)));
    at = newline ? newline + 1 : end;
    if (!go_on) break;
  }
  return static_cast<std::size_t>(at - block.data);
}

}  // namespace hummer
