#include "state/leaving_run.hpp"

#include <utility>

namespace hummer {

std::shared_ptr<LeavingRun> LeavingRun::begin(Platform& platform, std::string directory,
                                              const SpilledStoreOptions& options, RunFile file,
                                              std::shared_ptr<const LeavingEntries> entries) {
  std::shared_ptr<LeavingRun> run(
      new LeavingRun(platform, std::move(directory), options, std::move(file), std::move(entries)));
  BackgroundRun::begin(platform, run);
  return run;
}

LeavingRun::LeavingRun(Platform& platform, std::string directory,
                       const SpilledStoreOptions& options, RunFile file,
                       std::shared_ptr<const LeavingEntries> entries)
    : platform_(platform),
      directory_(std::move(directory)),
      options_(options),
      size_(entries->size()),
      file_(std::move(file)),
      entries_(std::move(entries)) {}

RunFile LeavingRun::take() {
  const std::lock_guard lock(mutex());
  entries_.reset();
  return std::exchange(file_, {});
}

// The entries stay: until the store has the run they are where keys are looked up.
void LeavingRun::let_go(bool cancelled) {
  scan_.reset();
  writer_.reset();
  set_memory_bytes(0);
  if (!cancelled) return;
  file_ = {};
  entries_.reset();
}

Status LeavingRun::open() {
  if (file_.writable == nullptr) {
    Result<RunFile> file = RunFile::open(platform_, directory_);
    if (!file.ok()) return file.status();
    file_ = std::move(*file);
  }
  writer_.emplace(SpilledRunWriter::create(file_, options_, 0, options_.combine ? 0 : size_));
  scan_ = entries_->in_order();
  return {};
}

Status LeavingRun::write_some(std::optional<Run>& written) {
  if (scan_ == nullptr) HUMMER_TRY(open());
  std::uint64_t entries = written_.load(std::memory_order_relaxed);
  for (std::size_t bytes = 0; bytes < bytes_per_background_step; ++entries) {
    const Result<bool> prepared = scan_->prepare();
    if (!prepared.ok()) return prepared.status();
    if (!*prepared) break;
    const Result<bool> found = scan_->next();
    if (!found.ok()) return found.status();
    if (!*found) return end(written);
    const SpilledEntry& entry = scan_->entry();
    bytes += entry.key.size() + entry.value.size() + sizeof(SpilledEntry::hash);
    HUMMER_TRY(writer_->add(entry));
  }
  written_.store(entries, std::memory_order_relaxed);
  set_memory_bytes(writer_->memory_bytes());
  return {};
}

Status LeavingRun::end(std::optional<Run>& written) {
  Result<Run> run = writer_->finish(false);
  if (!run.ok()) return run.status();
  if (file_.writable->size_bytes() >= RunFile::full_bytes) {
    const RunFile file = std::exchange(file_, {});
    HUMMER_TRY(file.writable->close());
  }
  written = std::move(*run);
  written_.store(size_, std::memory_order_relaxed);
  return {};
}

}  // namespace hummer
