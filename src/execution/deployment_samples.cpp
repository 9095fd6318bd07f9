// What a deployment shows of itself while it runs.
#include <algorithm>

#include "execution/deployment_slot.hpp"
#include "net/network_emitter.hpp"

namespace hummer {
namespace {

TimeShares shares(WaitTimes::Spent waited, Nanoseconds alive_ns) {
  TimeShares time;
  time.idle_ns = waited.idle_ns;
  time.stalled_ns = waited.stalled_ns;
  time.busy_ns = std::max<Nanoseconds>(0, alive_ns - waited.idle_ns - waited.stalled_ns);
  return time;
}

TimeShares time_of(const StreamTask& task, Nanoseconds now) {
  const auto began = static_cast<Nanoseconds>(task.metrics().began_ns.get());
  if (began == 0) return {};
  return shares(task.metrics().waits.spent(now), now - began);
}

}  // namespace

TaskSamples Deployment::samples(Nanoseconds now) const {
  TaskSamples samples;
  if (!started()) return samples;
  for (const ExecutionTask& execution : execution_graph_.tasks) {
    const StreamTask* task = tasks_by_id_[static_cast<std::size_t>(execution.id)];
    if (task == nullptr) continue;
    const TaskMetrics& metrics = task->metrics();
    TaskSample& sample = samples.tasks.emplace_back();
    sample.name = metrics.name;
    sample.slot = execution.slot;
    if (execution.kind == TaskKind::chain) sample.vertex = execution.vertex;
    sample.records_in = metrics.operators.front().records_in.get();
    sample.records_out = metrics.operators.back().records_out.get();
    for (const OperatorMetrics& op : metrics.operators) {
      const bool reads = &op == &metrics.operators.front() && task->has_source();
      (reads ? sample.bytes_in : sample.bytes_out) += op.bytes.get();
    }
    const auto sender = network_emitters_.find(execution.id);
    if (sender != network_emitters_.end()) sample.bytes_out += sender->second->bytes_sent();
    sample.time = time_of(*task, now);
    for (const OperatorMetrics& op : metrics.operators) {
      std::vector<MetricSample> user = op.user->sample();
      if (!user.empty()) sample.user.push_back({op.name, std::move(user)});
    }
  }
  for (const ExecutionChannel& channel : execution_graph_.channels) {
    const RingChannel* ring = channels_[static_cast<std::size_t>(channel.id)].get();
    if (ring == nullptr) continue;
    const auto name = [&](int id) {
      return tasks_by_id_[static_cast<std::size_t>(id)]->metrics().name;
    };
    samples.channels.push_back(
        {name(channel.from_task), name(channel.to_task), ring->occupancy(), ring->credits()});
  }
  if (finished()) return samples;
  for (const auto& slot : slots_) {
    samples.slots.push_back({slot->number, shares(slot->executor->waited(), now - slot->began_ns)});
  }
  return samples;
}

std::vector<MetricSample> Deployment::user_metrics(int vertex, std::size_t op) const {
  std::vector<MetricSample> all;
  if (!started()) return all;
  for (const ExecutionTask& execution : execution_graph_.tasks) {
    if (execution.vertex != vertex || execution.kind != TaskKind::chain) continue;
    const StreamTask* task = tasks_by_id_[static_cast<std::size_t>(execution.id)];
    if (task != nullptr) merge(all, task->metrics().operators[op].user->sample());
  }
  return all;
}

TimeShares Deployment::vertex_time(int vertex, Nanoseconds now) const {
  TimeShares sum;
  if (!started()) return sum;
  for (const ExecutionTask& execution : execution_graph_.tasks) {
    if (execution.vertex != vertex || execution.kind != TaskKind::chain) continue;
    const StreamTask* task = tasks_by_id_[static_cast<std::size_t>(execution.id)];
    if (task != nullptr) sum += time_of(*task, now);
  }
  return sum;
}

}  // namespace hummer
