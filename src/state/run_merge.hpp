// RunMerge: several runs of a spilled store become one, in the background (background_run.hpp).
//
// Until the store takes the new run in it goes on with the old ones, which never change.
//
// Lifecycle: begin(), then take() once finished, or cancel(): from then on nothing of the options
// is called. Thread: all calls by the operator. Errors: take(), those of the disk, and of values
// that cannot be put together.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <hummer/detail/state/spilled_store.hpp>

#include "platform/platform.hpp"
#include "state/background_run.hpp"
#include "state/run_scans.hpp"
#include "state/spilled_run.hpp"

namespace hummer {

class RunMerge final : public BackgroundRun {
 public:
  struct Plan {
    std::vector<Run> runs;         // oldest first
    std::vector<Run> older;        // all that there are: what is removed may be in those
    int level = 0;                 // of what they become
    bool with_filter = false;      // what they become has one
    std::uint64_t first_hash = 0;  // nobody asks for what comes before it
    std::int64_t as_of = 0;        // what options.now says
  };

  static std::shared_ptr<RunMerge> begin(Platform& platform, std::string directory,
                                         std::string name, const SpilledStoreOptions& options,
                                         Plan plan);

  // Whether this is one of its runs.
  bool merges(const SpilledRun& run) const;
  // Of what they become.
  int level() const { return level_; }
  struct Merged {
    std::vector<Run> old;
    Run run;  // without entries where nothing is left of them
  };
  // REQUIRES: finished(). Once.
  Result<Merged> take();

 private:
  RunMerge(Platform& platform, std::string directory, std::string name,
           const SpilledStoreOptions& options, Plan plan);

  Status write_some(std::optional<Run>& written) override;
  void let_go(bool cancelled) override;
  Status open();
  Result<std::uint64_t> entries_together() const;
  // Whether older runs may have something below this entry, which is removed.
  bool hides_something(const SpilledEntry& entry) const;

  Platform& platform_;
  const std::string directory_;
  const std::string name_;
  const SpilledStoreOptions options_;
  const std::vector<const SpilledRun*> merged_;
  const int level_;
  Plan plan_;
  std::optional<MergingScan> scan_;  // none: it has not begun
  std::optional<SpilledRunWriter> writer_;
};

}  // namespace hummer
