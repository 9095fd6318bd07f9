#include "shuffle/shuffle_store.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace hummer {
namespace {

constexpr std::string_view directory_prefix = "hummer-shuffle-";
constexpr std::string_view lock_name = "lock";
constexpr std::string_view draft_suffix = ".part";

std::string name_of(const ShuffleKey& key) {
  return fmt::format("{:016x}-attempt{}-region{}-edge{}-subtask{}", key.job, key.attempt,
                     key.region, key.edge, key.subtask);
}

}  // namespace

ShuffleStore::Draft::Draft(Files& files, ShuffleKey key, std::string path,
                           std::unique_ptr<WritableFile> file, std::uint32_t partitions)
    : files_(files), key_(key), path_(std::move(path)), writer_(std::move(file), partitions) {}

ShuffleStore::Draft::~Draft() {
  if (!published_) (void)files_.remove(path_ + std::string(draft_suffix));
}

ShuffleStore::ShuffleStore(Platform& platform, std::string directory, Logger log)
    : platform_(platform), spill_directory_(std::move(directory)), log_(log) {}

ShuffleStore::~ShuffleStore() {
  if (directory_.empty()) return;
  remove_all_in(directory_);
  lock_.reset();
  (void)platform_.files().remove(directory_ + "/" + std::string(lock_name));
  (void)platform_.files().remove(directory_);
}

Result<std::unique_ptr<ShuffleStore::Draft>> ShuffleStore::create(const ShuffleKey& key,
                                                                  std::uint32_t partitions) {
  const Result<std::string> directory = own_directory();
  if (!directory.ok()) return directory.status();
  const std::string path = *directory + "/" + name_of(key);
  Result<std::unique_ptr<WritableFile>> file =
      platform_.files().open_for_writing(path + std::string(draft_suffix), WriteMode::truncate);
  if (!file.ok()) return file.status();
  return std::make_unique<Draft>(platform_.files(), key, path, std::move(*file), partitions);
}

Status ShuffleStore::publish(Draft& draft) {
  HUMMER_TRY(draft.writer_.finish());
  HUMMER_TRY(platform_.files().rename(draft.path_ + std::string(draft_suffix), draft.path_));
  draft.published_ = true;
  const std::lock_guard lock(mutex_);
  published_[draft.key_] = {draft.path_, draft.writer_.bytes(), {}};
  return {};
}

Result<std::shared_ptr<const ShuffleFile>> ShuffleStore::open(const ShuffleKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = published_.find(key);
  if (found == published_.end()) {
    return Status(ErrorCode::not_found, fmt::format("there is no {} here", to_string(key)));
  }
  if (std::shared_ptr<const ShuffleFile> open = found->second.file.lock()) return open;
  Result<std::unique_ptr<ReadableFile>> file =
      platform_.files().open_for_reading(found->second.path);
  if (!file.ok()) return file.status();
  Result<std::shared_ptr<const ShuffleFile>> opened = ShuffleFile::open(std::move(*file));
  if (opened.ok()) found->second.file = *opened;
  return opened;
}

void ShuffleStore::keep_only(const std::set<ShuffleAttempt>& attempts) {
  const std::lock_guard lock(mutex_);
  std::erase_if(published_, [&](const auto& entry) {
    const ShuffleKey& key = entry.first;
    if (attempts.contains({key.job, key.attempt, key.region})) return false;
    const Status removed = platform_.files().remove(entry.second.path);
    if (!removed.ok()) log_.warning("a shuffle file stays behind: " + removed.message());
    return true;
  });
}

std::map<std::uint32_t, std::uint64_t> ShuffleStore::written(const ShuffleAttempt& attempt) const {
  const std::lock_guard lock(mutex_);
  std::map<std::uint32_t, std::uint64_t> bytes;
  for (const auto& [key, file] : published_) {
    if (attempt == ShuffleAttempt{key.job, key.attempt, key.region}) bytes[key.edge] += file.bytes;
  }
  return bytes;
}

ShuffleStore::Usage ShuffleStore::usage() const {
  const std::lock_guard lock(mutex_);
  Usage usage{published_.size(), 0};
  for (const auto& [key, file] : published_) usage.bytes += file.bytes;
  return usage;
}

// ---- the directory ----

Result<std::string> ShuffleStore::own_directory() {
  const std::lock_guard lock(mutex_);
  if (directory_.empty()) {
    const Status made = make_directory();
    if (!made.ok()) return made.with_context("a directory for shuffle files");
  }
  return directory_;
}

Status ShuffleStore::make_directory() {
  Files& files = platform_.files();
  HUMMER_TRY(files.create_directories(spill_directory_));
  remove_left_overs();
  for (int tries = 0; tries < 8; ++tries) {
    const std::string path =
        fmt::format("{}/{}{:016x}", spill_directory_, directory_prefix, platform_.random().next());
    const Result<bool> made = files.make_directory(path);
    if (!made.ok()) return made.status();
    if (!*made) continue;
    Result<std::unique_ptr<FileLock>> lock = files.lock(path + "/" + std::string(lock_name));
    const bool no_locks = lock.status().code() == ErrorCode::invalid_configuration;
    // Who removes left-overs may have been faster than the lock.
    if (!no_locks && (!lock.ok() || *lock == nullptr)) continue;
    if (lock.ok()) lock_ = std::move(*lock);
    directory_ = path;
    return {};
  }
  return {ErrorCode::io_error, fmt::format("'{}' takes none", spill_directory_)};
}

// What can't be removed is another user's.
void ShuffleStore::remove_left_overs() {
  Files& files = platform_.files();
  const Result<std::vector<std::string>> names = files.list_directory(spill_directory_);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (!name.starts_with(directory_prefix)) continue;
    const std::string path = spill_directory_ + "/" + name;
    Result<std::unique_ptr<FileLock>> lock = files.lock(path + "/" + std::string(lock_name));
    if (!lock.ok() || *lock == nullptr) continue;
    remove_all_in(path);
    (void)files.remove(path + "/" + std::string(lock_name));
    lock->reset();
    if (files.remove(path).ok()) {
      log_.info(fmt::format("removed '{}', which a process that is gone has left", path));
    }
  }
}

void ShuffleStore::remove_all_in(const std::string& directory) {
  Files& files = platform_.files();
  const Result<std::vector<std::string>> names = files.list_directory(directory);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (name != lock_name) (void)files.remove(directory + "/" + name);
  }
}

}  // namespace hummer
