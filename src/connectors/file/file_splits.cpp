#include "connectors/file/file_splits.hpp"

#include <algorithm>
#include <utility>

#include <hummer/detail/key_hash.hpp>

namespace hummer {
namespace {

// Deeper than any sane tree; a symbolic link to a directory above ends here.
constexpr int maximum_depth = 100;

Status add_path(Files& files, const std::string& path, int depth, std::vector<InputFile>& found);

Status add_directory(Files& files, const std::string& path, int depth,
                     std::vector<InputFile>& found) {
  if (depth == maximum_depth) {
    return {ErrorCode::limit_exceeded,
            "directories more than " + std::to_string(maximum_depth) + " deep at '" + path +
                "': does a symbolic link point to a directory above it?"};
  }
  const Result<std::vector<std::string>> names = files.list_directory(path);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (name.starts_with('.') || name.starts_with('_')) continue;
    HUMMER_TRY(
        add_path(files, path.ends_with('/') ? path + name : path + "/" + name, depth + 1, found));
  }
  return {};
}

Status add_path(Files& files, const std::string& path, int depth, std::vector<InputFile>& found) {
  const Result<FileInformation> information = files.stat(path);
  if (!information.ok()) return information.status();
  if (information->is_directory) return add_directory(files, path, depth, found);
  if (!information->is_regular) {
    return {ErrorCode::not_a_file,
            "'" + path + "' is neither a file nor a directory (a pipe or device can't be split)"};
  }
  found.push_back({path, information->size_bytes, false, information->modified_ms, 0});
  return {};
}

}  // namespace

Result<std::vector<InputFile>> list_input_files(Files& files, const std::string& path) {
  std::vector<InputFile> found;
  if (!has_wildcard(path) || files.stat(path).ok()) {
    if (Status status = add_path(files, path, 0, found); !status.ok()) return status;
  } else {
    const Result<std::vector<std::string>> matches = files.glob(path);
    if (!matches.ok()) return matches.status();
    if (matches->empty()) {
      return Status(ErrorCode::not_found, "no file matches the pattern '" + path + "'");
    }
    for (const std::string& match : *matches) {
      if (Status status = add_path(files, match, 0, found); !status.ok()) return status;
    }
  }
  std::sort(found.begin(), found.end(),
            [](const InputFile& a, const InputFile& b) { return a.path < b.path; });
  return found;
}

std::vector<FileSplit> splits_of_lane(std::span<const InputFile> files,
                                      std::uint64_t split_size_bytes, std::uint32_t lane,
                                      std::uint32_t lanes) {
  HUMMER_ASSERT(split_size_bytes > 0 && lane < lanes);
  std::vector<FileSplit> splits;
  std::uint64_t number = 0;  // of the next split, through all files
  for (std::uint32_t i = 0; i < files.size(); ++i) {
    const std::uint64_t size = files[i].size_bytes;
    if (size == 0) continue;
    const std::uint64_t step = files[i].one_split ? size : std::min(split_size_bytes, size);
    const std::uint64_t count = (size - 1) / step + 1;
    // The first split of this file in the lane, then every `lanes`-th.
    for (std::uint64_t k = (lane + lanes - number % lanes) % lanes; k < count; k += lanes) {
      splits.push_back({i, k * step, std::min(size - k * step, step) + k * step});
    }
    number += count;
  }
  return splits;
}

std::uint64_t splits_fingerprint(std::span<const InputFile> files, std::uint64_t split_size_bytes) {
  std::uint64_t fingerprint = hash_u64(split_size_bytes);
  for (const InputFile& file : files) {
    const std::uint64_t parts[] = {fingerprint, hash_bytes(file.path.data(), file.path.size()),
                                   file.size_bytes, std::uint64_t{file.one_split}};
    fingerprint = hash_bytes(parts, sizeof parts);
  }
  return fingerprint;
}

}  // namespace hummer
