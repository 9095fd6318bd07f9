// CheckpointDisk: carries out checkpoint orders on an executor of its own, so that a slow disk
// never keeps the JobManager from answering.
//
// One after the other, in the order in which they were given. Lifecycle: destroyed before what
// `on_outcome` uses. Thread: give and take_outcomes from one; `on_outcome` says from the own
// executor that there is something to take.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "control/checkpoint/checkpoint_order.hpp"
#include "platform/platform.hpp"
#include "platform/task.hpp"
#include "platform/wake_event.hpp"

namespace hummer {

class CheckpointDisk {
 public:
  CheckpointDisk(Platform& platform, std::function<void()> on_outcome);
  ~CheckpointDisk() { stop(); }
  CheckpointDisk(const CheckpointDisk&) = delete;
  CheckpointDisk& operator=(const CheckpointDisk&) = delete;

  void give(std::vector<CheckpointOrder> orders);
  bool has_outcomes();
  std::vector<CheckpointOutcome> take_outcomes();
  void stop() { executor_->stop(); }

 private:
  static Task<void> run(CheckpointDisk& self);
  std::vector<CheckpointOrder> take_orders();

  Platform& platform_;
  const std::function<void()> on_outcome_;
  WakeEvent event_;
  std::mutex mutex_;
  std::vector<CheckpointOrder> orders_;
  std::vector<CheckpointOutcome> outcomes_;
  std::unique_ptr<Executor> executor_;  // last: stopped before anything it uses goes away
};

}  // namespace hummer
