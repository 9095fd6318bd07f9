// SimulatedExecutor: an executor that the simulation steps. (Simulated form only.)
//
// is_current() is true while the simulation resumes one of its coroutines or
// fires one of its timers. Spinning and pinning mean nothing here; pollers are
// called when nothing is runnable.
#pragma once

#include <algorithm>

#include "platform/executor.hpp"
#include "platform/simulation.hpp"

namespace hummer {

class SimulatedExecutor final : public Executor {
 public:
  SimulatedExecutor(ExecutorOptions options, Simulation& simulation, SimulatedPlatform& node,
                    std::uint64_t number);
  ~SimulatedExecutor() override;

  Nanoseconds now() const override { return simulation_.now(); }
  std::int64_t wall_time_ms() const override { return node_.wall_time_ms(); }
  bool is_current() const override { return simulation_.current_ == this; }
  void stop() override;

  // Killed and paused nodes have no runnable executors.
  bool runnable() const { return has_work() && !paused(); }
  void run_one();
  // When it has something to do next.
  Nanoseconds next_timer() const {
    if (!node_.alive()) return never;
    const Nanoseconds next = paused() && has_work() ? 0 : timers_.next();
    return next == never ? never : std::max(next, node_.paused_until());
  }
  void fire_timers(Nanoseconds now) {
    if (timers_.next() <= now) fire_due(now);
  }
  bool poll();
  std::uint64_t number() const { return number_; }

 private:
  void wake() override {}
  void fire_due(Nanoseconds now);
  bool has_work() const { return node_.alive() && (!ready_.empty() || !inbox_.empty()); }
  bool paused() const { return simulation_.now() < node_.paused_until(); }

  Simulation& simulation_;
  SimulatedPlatform& node_;
  std::uint64_t number_;
  bool stopped_ = false;
};

}  // namespace hummer
