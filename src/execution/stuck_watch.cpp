#include "execution/stuck_watch.hpp"

#include <fmt/format.h>

namespace hummer {
namespace {

double in_seconds(Nanoseconds duration) { return static_cast<double>(duration) / 1e9; }

}  // namespace

std::vector<std::string> StuckWatch::look(const Deployment& deployment, Nanoseconds now) {
  std::vector<std::string> stuck;
  if (!deployment.started()) return stuck;
  const std::scoped_lock lock(mutex_);
  for (const auto& task : deployment.tasks()) {
    Seen& seen = seen_[task.get()];
    look_at_call(*task, seen, now, stuck);
    look_at_block(*task, seen, now, stuck);
    look_at_source(*task, seen, now, stuck);
  }
  return stuck;
}

void StuckWatch::look_at_call(const StreamTask& task, Seen& seen, Nanoseconds now,
                              std::vector<std::string>& stuck) const {
  const TaskMetrics& metrics = task.metrics();
  const std::uint64_t calls = metrics.calls.get();
  const TaskState state = metrics.state.load(std::memory_order_acquire);
  const bool has_turn =
      metrics.turn != nullptr && metrics.turn->load(std::memory_order_relaxed) == &metrics;
  if (calls != seen.calls || state != TaskState::running || !has_turn || seen.since == 0) {
    seen.calls = calls;
    seen.since = now;
    return;
  }
  if (now - seen.since < patience_) return;
  stuck.push_back(fmt::format("{} is stuck: {} has been {} for {:.0f} s", metrics.slot,
                              metrics.name, task.describe_state(), in_seconds(now - seen.since)));
}

// Its slot goes on, with other tasks. The task's state is of no use: it runs at every retry.
void StuckWatch::look_at_block(const StreamTask& task, Seen& seen, Nanoseconds now,
                               std::vector<std::string>& stuck) const {
  const TaskMetrics& metrics = task.metrics();
  std::uint64_t handled = 0;
  for (const OperatorMetrics& op : metrics.operators) {
    handled += op.records_in.get() + op.records_out.get() + op.bytes.get();
  }
  const bool finished = metrics.state.load(std::memory_order_acquire) == TaskState::finished;
  if (finished || !metrics.operator_blocks.load(std::memory_order_relaxed) ||
      handled != seen.handled || seen.blocked_since == 0) {
    seen.handled = handled;
    seen.blocked_since = now;
    return;
  }
  if (now - seen.blocked_since < patience_) return;
  const std::uint32_t index = metrics.current_operator.load(std::memory_order_relaxed);
  stuck.push_back(fmt::format("{}: {} is blocked: operator '{}' has taken nothing for {:.0f} s",
                              metrics.slot, metrics.name, metrics.operators[index].name,
                              in_seconds(now - seen.blocked_since)));
}

// One that is woken, or has asked for a call, may be quiet for as long as it likes.
void StuckWatch::look_at_source(const StreamTask& task, Seen& seen, Nanoseconds now,
                                std::vector<std::string>& stuck) const {
  const TaskMetrics& metrics = task.metrics();
  const bool finished = metrics.state.load(std::memory_order_acquire) == TaskState::finished;
  const std::uint64_t given = metrics.operators.front().records_out.get();
  if (finished || !metrics.source_waits.load(std::memory_order_relaxed) || given != seen.given ||
      seen.source_waits_since == 0) {
    seen.given = given;
    seen.source_waits_since = now;
    return;
  }
  if (now - seen.source_waits_since < patience_) return;
  stuck.push_back(fmt::format(
      "{}: {} stands still: source '{}' has given nothing for {:.0f} s; it answers blocked, has "
      "asked for no call and is woken by nobody",
      metrics.slot, metrics.name, metrics.operators.front().name,
      in_seconds(now - seen.source_waits_since)));
}

}  // namespace hummer
