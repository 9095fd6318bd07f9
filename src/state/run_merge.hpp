// RunMerge: several runs of a spilled store become one, in short steps on the process's background
// executor (Platform::background).
//
// Between two steps it pauses for as long as the last one took, so that merging takes at most half
// of a processor and of the disk from those who have something to do; no longer once so many runs
// wait that look-ups suffer (hurry). The operator looks once per batch whether it has finished(),
// and takes the new run in then; until that it goes on with the old ones, which never change. Who
// cannot wait any longer does what is left itself (finish_here). In a simulation the steps come as
// its seed has it, like those of everybody else.
//
// Lifecycle: begin(), then take() once finished, or cancel(): from then on nothing of the options
// is called and no file is written any more. To let go of it is not enough. Thread: all calls by
// the operator; the steps run elsewhere. Errors: take(), those of the disk, and of values that
// cannot be put together.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <hummer/detail/state/spilled_store.hpp>

#include "platform/platform.hpp"
#include "platform/task.hpp"
#include "state/run_scans.hpp"
#include "state/spilled_run.hpp"

namespace hummer {

class RunMerge {
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
  // What the new run has in memory so far.
  std::size_t memory_bytes() const { return memory_bytes_.load(std::memory_order_relaxed); }
  bool finished() const { return finished_.load(std::memory_order_acquire); }
  // From now on without pauses.
  void hurry() { hurries_.store(true, std::memory_order_relaxed); }
  // A step of it, now; none where one is under way elsewhere: who waited for that would do nothing
  // meanwhile.
  void step_here();
  // Blocks until it is finished.
  void finish_here();
  struct Merged {
    std::vector<Run> old;
    Run run;  // without entries where nothing is left of them
  };
  // REQUIRES: finished(). Once.
  Result<Merged> take();
  // Waits for a step under way. It lets go of its runs.
  void cancel();

 private:
  RunMerge(Platform& platform, std::string directory, std::string name,
           const SpilledStoreOptions& options, Plan plan);

  static Task<void> run(std::shared_ptr<RunMerge> self);
  // False: there is nothing left to do.
  bool work();
  // The same. REQUIRES: mutex_ is held.
  bool step();
  Status merge_some(bool& finished);
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
  std::mutex mutex_;  // of what follows
  Plan plan_;
  bool over_ = false;                // finished, cancelled
  bool taken_over_ = false;          // by who waits for it
  std::optional<MergingScan> scan_;  // none: it has not begun
  std::optional<SpilledRunWriter> writer_;
  std::optional<Result<Run>> result_;
  std::atomic<std::size_t> memory_bytes_{0};
  std::atomic<bool> hurries_{false};
  std::atomic<bool> finished_{false};
};

}  // namespace hummer
