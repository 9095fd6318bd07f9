// Which files a source reads, and which parts of them each subtask does.
//
// All files are listed in order (sorted by bytes of the path); a plain file is
// cut into splits of `split_size_bytes`, a compressed one is a single split.
// Splits are numbered through all files, and split k belongs to lane
// k % lanes; subtask s of p reads lane s of p. So all subtasks must have the same
// list: it is made once for all of them (file_listing.hpp).
//
// Pure but for list_input_files. Errors: not_found (missing path, a pattern that
// matches nothing), permission_denied, not_a_file (neither file nor directory).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <hummer/status.hpp>

#include "platform/files.hpp"

namespace hummer {

struct InputFile {
  std::string path;
  std::uint64_t size_bytes = 0;
  bool one_split = false;  // compressed, or with quotes: it can't be entered in the middle
  // What else it is known by, see file_listing.hpp.
  std::int64_t modified_ms = 0;
  std::uint64_t sample = 0;
};

struct FileSplit {
  std::uint32_t file = 0;  // index in the list
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  friend bool operator==(const FileSplit&, const FileSplit&) = default;
};

// `path`: a file, a directory (its files, recursively, without names that begin with '.' or '_')
// or a pattern (see Files::glob). A path that exists is taken literally. Empty directories give
// no files.
Result<std::vector<InputFile>> list_input_files(Files& files, const std::string& path);

// The splits of lane `lane` of `lanes`, in order. Empty files give none.
std::vector<FileSplit> splits_of_lane(std::span<const InputFile> files,
                                      std::uint64_t split_size_bytes, std::uint32_t lane,
                                      std::uint32_t lanes);

// The same for equal lists and split sizes.
std::uint64_t splits_fingerprint(std::span<const InputFile> files, std::uint64_t split_size_bytes);

}  // namespace hummer
