#include "control/job_manager/checkpoint_disk.hpp"

#include <iterator>
#include <utility>

namespace hummer {

CheckpointDisk::CheckpointDisk(Platform& platform, std::function<void()> on_outcome)
    : platform_(platform),
      on_outcome_(std::move(on_outcome)),
      executor_(platform.make_executor({.name = "checkpoints"})) {
  executor_->spawn(run(*this));
}

void CheckpointDisk::give(std::vector<CheckpointOrder> orders) {
  if (orders.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    orders_.insert(orders_.end(), std::make_move_iterator(orders.begin()),
                   std::make_move_iterator(orders.end()));
  }
  event_.notify();
}

std::vector<CheckpointOutcome> CheckpointDisk::take_outcomes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(outcomes_, {});
}

bool CheckpointDisk::has_outcomes() {
  const std::lock_guard lock(mutex_);
  return !outcomes_.empty();
}

std::vector<CheckpointOrder> CheckpointDisk::take_orders() {
  const std::lock_guard lock(mutex_);
  return std::exchange(orders_, {});
}

Task<void> CheckpointDisk::run(CheckpointDisk& self) {
  for (;;) {
    self.event_.prepare_wait();
    std::vector<CheckpointOrder> orders = self.take_orders();
    if (orders.empty()) {
      co_await self.event_.wait();
      continue;
    }
    self.event_.cancel_wait();
    for (CheckpointOrder& order : orders) {
      CheckpointOutcome outcome = carry_out(self.platform_.files(), std::move(order));
      {
        const std::lock_guard lock(self.mutex_);
        self.outcomes_.push_back(std::move(outcome));
      }
      self.on_outcome_();
    }
  }
}

}  // namespace hummer
