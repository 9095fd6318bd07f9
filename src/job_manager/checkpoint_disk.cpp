#include "job_manager/checkpoint_disk.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace hummer {
namespace {

constexpr std::size_t most_lanes = 8;  // that are not hung

using Kind = CheckpointOrder::Kind;

bool reads_others(const CheckpointOrder& order) {
  return order.kind == Kind::find && order.restore == "latest";
}

std::string path_of(const CheckpointOrder& order) {
  if (!order.path.empty()) return order.path;
  if (order.kind != Kind::find || order.restore.empty()) return order.directory;
  return reads_others(order) ? order.latest_in : order.restore;
}

const char* doing(Kind kind) {
  switch (kind) {
    case Kind::begin: return "making the directory of a checkpoint";
    case Kind::complete: return "completing a checkpoint";
    case Kind::drop: return "removing a checkpoint that was given up";
    case Kind::find: return "looking for the checkpoint to begin with";
    case Kind::clear: return "removing the checkpoints of a job that has finished";
  }
  return "";
}

}  // namespace

void CheckpointDisk::give(std::vector<CheckpointOrder> orders) {
  if (orders.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    waiting_.insert(waiting_.end(), std::make_move_iterator(orders.begin()),
                    std::make_move_iterator(orders.end()));
  }
  add_lanes();
  wake_idle_lanes();
}

std::vector<CheckpointOutcome> CheckpointDisk::take_outcomes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(outcomes_, {});
}

bool CheckpointDisk::has_outcomes() {
  const std::lock_guard lock(mutex_);
  return !outcomes_.empty();
}

std::vector<HungOrder> CheckpointDisk::look() {
  add_lanes();
  const Nanoseconds now = platform_.now();
  std::vector<HungOrder> hung;
  const std::lock_guard lock(mutex_);
  for (const Lane& lane : lanes_) {
    if (!lane.order || now - lane.since < patience_.naming) continue;
    hung.push_back(
        {lane.order->job, path_of(*lane.order), doing(lane.order->kind), now - lane.since});
  }
  return hung;
}

Nanoseconds CheckpointDisk::next_look() {
  const std::lock_guard lock(mutex_);
  return at_work() ? platform_.now() + patience_.lane : never;
}

bool CheckpointDisk::idle() {
  const std::lock_guard lock(mutex_);
  return !at_work() && outcomes_.empty();
}

bool CheckpointDisk::at_work() const {
  return !waiting_.empty() ||
         std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return !!lane.order; });
}

void CheckpointDisk::stop() {
  for (Lane& lane : lanes_) lane.executor->stop();
}

std::vector<std::list<CheckpointOrder>::iterator> CheckpointDisk::ready() {
  std::set<std::uint64_t> jobs;         // that have an earlier one
  std::set<std::string> being_cleared;  // configured directories
  const auto comes_first = [&](const CheckpointOrder& order) {
    jobs.insert(order.job);
    if (order.kind == Kind::clear) being_cleared.insert(order.latest_in);
  };
  for (const Lane& lane : lanes_) {
    if (lane.order) comes_first(*lane.order);
  }
  std::vector<std::list<CheckpointOrder>::iterator> found;
  for (auto order = waiting_.begin(); order != waiting_.end(); ++order) {
    const bool waits = jobs.contains(order->job) ||
                       (reads_others(*order) && being_cleared.contains(order->latest_in));
    if (!waits) found.push_back(order);
    comes_first(*order);
  }
  return found;
}

// Only here: lanes_ grows on the giver's thread alone.
void CheckpointDisk::add_lanes() {
  std::size_t missing = 0;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return;
    const Nanoseconds now = platform_.now();
    std::size_t idle = 0, at_work = 0;
    for (const Lane& lane : lanes_) {
      if (!lane.order)
        ++idle;
      else if (now - lane.since < patience_.lane)
        ++at_work;
    }
    const std::size_t wanted = std::min(ready().size(), most_lanes - std::min(most_lanes, at_work));
    missing = wanted - std::min(wanted, idle);
  }
  for (; missing > 0; --missing) {
    std::unique_ptr<Executor> executor = platform_.make_executor({.name = "checkpoints"});
    Lane* lane = nullptr;
    {
      const std::lock_guard lock(mutex_);
      lane = &lanes_.emplace_back();
      lane->executor = std::move(executor);
    }
    lane->executor->spawn(run(*this, *lane));
  }
}

void CheckpointDisk::wake_idle_lanes() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return;
  for (Lane& lane : lanes_) {
    if (!lane.order) lane.event.notify();
  }
}

bool CheckpointDisk::take_order(Lane& lane) {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return false;
  const auto next = ready();
  if (next.empty()) return false;
  lane.order = std::move(*next.front());
  lane.since = platform_.now();
  waiting_.erase(next.front());
  return true;
}

void CheckpointDisk::carried_out(Lane& lane, CheckpointOutcome outcome) {
  {
    const std::lock_guard lock(mutex_);
    lane.order.reset();
    outcomes_.push_back(std::move(outcome));
  }
  // What waited for this one may be more than this lane can do at once.
  wake_idle_lanes();
}

Task<void> CheckpointDisk::run(CheckpointDisk& self, Lane& lane) {
  for (;;) {
    lane.event.prepare_wait();
    if (!self.take_order(lane)) {
      co_await lane.event.wait();
      continue;
    }
    lane.event.cancel_wait();
    lane.order->wall_ms = self.platform_.wall_time_ms();
    CheckpointOutcome outcome = execute(self.platform_.files(), *lane.order);
    self.carried_out(lane, std::move(outcome));
    self.on_outcome_();
  }
}

}  // namespace hummer
