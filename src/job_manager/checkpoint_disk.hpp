// CheckpointDisk: carries out checkpoint orders on executors of its own, so that a slow disk never
// keeps the JobManager from answering, nor that of one job the other jobs from going on.
//
// The orders of one job are carried out in the order in which they were given; those of different
// jobs side by side, on a few lanes. A look for the "latest" checkpoint reads other jobs'
// directories: it comes after the clearing of those that was ordered before it. A lane whose disk
// does not answer for a second is not counted among the few any more: look() makes another in its
// place, and names what has hung for longer.
//
// Lifecycle: destroyed before what `on_outcome` uses; stop() waits for orders under way. Thread:
// give, look, next_look and take_outcomes from one; `on_outcome` says from the lanes' executors
// that there is something to take.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint_order.hpp"
#include "platform/platform.hpp"
#include "platform/task.hpp"
#include "platform/wake_event.hpp"

namespace hummer {

class CheckpointDisk {
 public:
  struct Patience {
    Nanoseconds lane = seconds(1);    // then another lane takes its place
    Nanoseconds naming = seconds(5);  // then it is named
  };
  CheckpointDisk(Platform& platform, std::function<void()> on_outcome)
      : CheckpointDisk(platform, std::move(on_outcome), Patience()) {}
  CheckpointDisk(Platform& platform, std::function<void()> on_outcome, Patience patience)
      : platform_(platform), on_outcome_(std::move(on_outcome)), patience_(patience) {}
  ~CheckpointDisk() { stop(); }
  CheckpointDisk(const CheckpointDisk&) = delete;
  CheckpointDisk& operator=(const CheckpointDisk&) = delete;

  void give(std::vector<CheckpointOrder> orders);
  bool has_outcomes();
  std::vector<CheckpointOutcome> take_outcomes();
  // No order is waiting or under way, and no outcome has not been taken.
  bool idle();
  // Those that have been under way for long.
  std::vector<HungOrder> look();
  // When to look again, by then.
  Nanoseconds next_look();
  void stop();

 private:
  struct Lane {
    WakeEvent event;
    std::optional<CheckpointOrder> order;  // that it is at
    Nanoseconds since = 0;
    std::unique_ptr<Executor> executor;  // last: stopped before anything it uses goes away
  };

  static Task<void> run(CheckpointDisk& self, Lane& lane);
  // Moves the next one that may begin into the lane. False: there is none.
  bool take_order(Lane& lane);
  void carried_out(Lane& lane, CheckpointOutcome outcome);
  // Of waiting_, those that need not wait for others, in their order. REQUIRES: mutex_ is held.
  std::vector<std::list<CheckpointOrder>::iterator> ready();
  bool at_work() const;  // REQUIRES: mutex_ is held.
  void add_lanes();
  void wake_idle_lanes();

  Platform& platform_;
  const std::function<void()> on_outcome_;
  const Patience patience_;
  std::mutex mutex_;
  std::list<CheckpointOrder> waiting_;
  std::vector<CheckpointOutcome> outcomes_;
  std::list<Lane> lanes_;  // only added to
};

}  // namespace hummer
