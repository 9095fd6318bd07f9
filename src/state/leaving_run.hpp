// LeavingRun: entries that have left memory (leaving_entries.hpp) become a run, in the background
// (background_run.hpp).
//
// Lifecycle: begin(), then take() once finished, or cancel(). Scans and snapshots that began
// meanwhile hold on to it, and have run() from then on. Thread: all calls by the operator. Errors:
// with the run, those of the disk.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include <hummer/detail/state/spilled_store.hpp>

#include "state/background_run.hpp"
#include "state/spilled_run.hpp"

namespace hummer {

class LeavingRun final : public BackgroundRun {
 public:
  // To the end of `file`, where that is open, else a new one.
  static std::shared_ptr<LeavingRun> begin(Platform& platform, std::string directory,
                                           const SpilledStoreOptions& options, RunFile file,
                                           std::shared_ptr<const LeavingEntries> entries);

  // REQUIRES: not taken.
  const LeavingEntries& entries() const { return *entries_; }
  // Bytes of the entries, and what sorting them takes.
  std::size_t all_memory_bytes() const { return entries_->memory_bytes() + memory_bytes(); }
  std::uint64_t size() const { return size_; }
  // Of those.
  std::uint64_t written() const { return written_.load(std::memory_order_relaxed); }

  // A scan or a snapshot will ask for the run, as long as it holds this.
  std::shared_ptr<const void> want() const { return wanted_; }
  bool is_wanted() const { return wanted_.use_count() > 1; }
  // REQUIRES: finished().
  Result<Run> run() { return result(); }
  // Once, and finished(): where the next run may go, if it is open. The entries go.
  RunFile take();

 private:
  LeavingRun(Platform& platform, std::string directory, const SpilledStoreOptions& options,
             RunFile file, std::shared_ptr<const LeavingEntries> entries);

  Status write_some(std::optional<Run>& written) override;
  void let_go(bool cancelled) override;
  Status open();
  Status end(std::optional<Run>& written);

  Platform& platform_;
  const std::string directory_;
  const SpilledStoreOptions options_;
  const std::uint64_t size_;
  RunFile file_;
  std::shared_ptr<const LeavingEntries> entries_;
  std::unique_ptr<SpilledScan> scan_;
  std::optional<SpilledRunWriter> writer_;
  std::atomic<std::uint64_t> written_{0};
  const std::shared_ptr<const void> wanted_ = std::make_shared<int>();
};

}  // namespace hummer
