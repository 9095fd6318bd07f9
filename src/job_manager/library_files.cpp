#include "job_manager/library_files.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <hummer/detail/key_hash.hpp>

namespace hummer {

std::string LibraryFiles::name_of(std::uint64_t hash) const {
  return fmt::format("{:016x}.so", hash);
}

Status LibraryFiles::keep(std::uint64_t hash, std::string_view bytes) {
  const std::string path = path_of(hash);
  const Result<FileInformation> known = files_.stat(path);
  // Also then: whoever wrote it may have failed to make its name durable.
  if (known.ok() && known->size_bytes == bytes.size()) return files_.sync_directory(directory_);
  const std::string part = path + ".part";
  Result<std::unique_ptr<WritableFile>> file = files_.open_for_writing(part, WriteMode::truncate);
  if (!file.ok()) return file.status();
  HUMMER_TRY((*file)->append(bytes));
  HUMMER_TRY((*file)->sync());
  HUMMER_TRY((*file)->close());
  HUMMER_TRY(files_.rename(part, path));
  return files_.sync_directory(directory_);
}

Result<std::string> LibraryFiles::read(std::uint64_t hash) const {
  const std::string path = path_of(hash);
  Result<std::unique_ptr<ReadableFile>> file = files_.open_for_reading(path);
  if (!file.ok()) return file.status();
  std::string bytes((*file)->size_bytes(), '\0');
  const Result<std::size_t> got = (*file)->read_at(0, bytes);
  if (!got.ok()) return got.status();
  bytes.resize(*got);
  if (hash_bytes(bytes.data(), bytes.size()) != hash) {
    return Status(ErrorCode::corrupt_file,
                  fmt::format("'{}' is not the job library that was stored: its content has "
                              "changed; submit the job again",
                              path));
  }
  return bytes;
}

Status LibraryFiles::keep_only(const std::set<std::uint64_t>& hashes) {
  const Result<std::vector<std::string>> names = files_.list_directory(directory_);
  if (names.status().code() == ErrorCode::not_found) return {};
  if (!names.ok()) return names.status();
  std::set<std::string> kept;
  for (const std::uint64_t hash : hashes) kept.insert(name_of(hash));
  for (const std::string& name : *names) {
    if (!kept.contains(name)) HUMMER_TRY(files_.remove(directory_ + "/" + name));
  }
  return {};
}

}  // namespace hummer
