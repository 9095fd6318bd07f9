// LastLines: the last lines of what is read, in order, and no more of it in memory.
//
//   LastLines last(10);
//   last.add(bytes);  …  last.finish();
//   for (const std::string& line : last.lines()) …         // without their line ends
//
// read_last_lines looks at a plain file from its end, and reads a compressed one from its begin.
//
// Thread: one. Memory: the lines, each of them at most `longest_line_bytes`; a longer one is cut
// there. Errors: those of the file; corrupt_file of one that can't be decompressed.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

#include "connectors/file/file_splits.hpp"
#include "platform/files.hpp"

namespace hummer {

class LastLines {
 public:
  static constexpr std::size_t longest_line_bytes = 1 << 20;

  explicit LastLines(std::size_t most) : most_(most) {}

  void add(std::string_view bytes);
  // What has no line end is a line, too.
  void finish();
  const std::deque<std::string>& lines() const { return lines_; }
  bool whole() const { return !dropped_; }  // none was left out

 private:
  void end_line();

  const std::size_t most_;
  std::deque<std::string> lines_;
  std::string open_;  // a line that has not ended
  bool dropped_ = false;
};

struct FileTail {
  std::deque<std::string> lines;
  std::string first_bytes;  // with which the text begins
  std::uint64_t bytes = 0;  // of the file that these lines reach to
  bool whole = false;       // the first of them is the file's
  bool compressed = false;
};

Result<FileTail> read_last_lines(Files& files, const std::string& path, std::size_t most);

}  // namespace hummer
