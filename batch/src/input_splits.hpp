// Splits: which parts of a job's inputs its map tasks read, and their files opened.
//
// Paths are files, directories (all files below them but those whose names begin with '.' or '_')
// or patterns. A plain file is cut into splits of about one size, and a compressed one, or one of
// a format that can't be entered in the middle, is one split. Empty files have none.
//
// Errors name the path: not_found, permission_denied, not_a_file, and those of a disk.
//
// Thread: any; a SplitInput one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <hummer/batch/record_reader.hpp>

#include "connectors/file/decompress.hpp"
#include "platform/files.hpp"

namespace hummer::batch {

struct InputSplit {
  std::uint32_t input = 0;  // which of the job's paths it is of
  std::string path;         // empty: a range of rows
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t file_bytes = 0;
  CompressionFormat compression = CompressionFormat::none;
};

// `split_bytes` 0: by the size of all, so that `threads` get several each.
Result<std::vector<InputSplit>> plan_splits(Files& files, const std::vector<std::string>& paths,
                                            const InputFormat& format, std::uint64_t split_bytes,
                                            std::uint32_t threads);

Result<std::unique_ptr<SplitInput>> open_split(Files& files, const InputSplit& split);

}  // namespace hummer::batch
