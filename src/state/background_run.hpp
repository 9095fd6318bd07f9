// BackgroundRun: a run of a spilled store that is written in short steps on the process's
// background executor (Platform::background): what several others become (run_merge.hpp), or what
// leaves memory (leaving_run.hpp).
//
// Between two steps it pauses for as long as the last one took, so that it takes at most half of a
// processor and of the disk from those who have something to do; no longer once it is late (hurry).
// The operator looks once per batch whether it has finished(), and takes the run in then. Who
// cannot wait any longer does steps of it (try_step_here), or what is left of it (finish_here).
// In a simulation the steps come as its seed has it, like those of everybody else.
//
// Lifecycle: begin(), then what the derived class has to take the run with once finished, or
// cancel(): from then on no file is written any more. To let go of it is not enough. Thread: all
// calls by the operator; the steps run elsewhere, one at a time. Errors: come with the result.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "platform/platform.hpp"
#include "platform/task.hpp"
#include "state/run_scans.hpp"

namespace hummer {

// So much is written in a step: about a millisecond.
inline constexpr std::size_t bytes_per_background_step = 256 << 10;

class BackgroundRun {
 public:
  BackgroundRun(const BackgroundRun&) = delete;
  BackgroundRun& operator=(const BackgroundRun&) = delete;
  virtual ~BackgroundRun() = default;

  // What it has in memory so far.
  std::size_t memory_bytes() const { return memory_bytes_.load(std::memory_order_relaxed); }
  bool finished() const { return finished_.load(std::memory_order_acquire); }
  // From now on without pauses.
  void hurry() { hurries_.store(true, std::memory_order_relaxed); }
  // A step of it, now, behind one that is under way elsewhere.
  void step_here();
  // The same; false: none, as one is under way elsewhere. Who waited for that would do nothing
  // meanwhile.
  bool try_step_here();
  // Blocks until it is finished.
  void finish_here();
  // Waits for a step under way. It lets go of all that it was to be made of.
  void cancel();

 protected:
  BackgroundRun() = default;
  static void begin(Platform& platform, std::shared_ptr<BackgroundRun> run);

  // A step. Where it was the last one, `written` gets the run. The mutex is held.
  virtual Status write_some(std::optional<Run>& written) = 0;
  // It is finished, or cancelled, in which case nobody will ask for anything. Likewise.
  virtual void let_go(bool cancelled) = 0;

  void set_memory_bytes(std::size_t bytes) {
    memory_bytes_.store(bytes, std::memory_order_relaxed);
  }
  // REQUIRES: finished(). As often as need be.
  Result<Run> result();
  std::mutex& mutex() { return mutex_; }

 private:
  static Task<void> run(std::shared_ptr<BackgroundRun> self);
  // False: there is nothing left to do.
  bool work();
  // The same. REQUIRES: mutex_ is held.
  bool step();
  // Behind the step under way, if there is one, and ahead of the next.
  std::unique_lock<std::mutex> lock_next();

  std::mutex mutex_;         // of what follows, and of what derived classes have
  bool over_ = false;        // finished, cancelled
  bool taken_over_ = false;  // by who waits for it
  std::optional<Result<Run>> result_;
  std::atomic<std::size_t> memory_bytes_{0};
  std::atomic<bool> hurries_{false};
  std::atomic<int> operators_waiting_{0};
  std::atomic<bool> finished_{false};
};

}  // namespace hummer
