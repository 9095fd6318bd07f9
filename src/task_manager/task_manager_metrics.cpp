#include "task_manager/task_manager_metrics.hpp"

#include "observability/metrics_text.hpp"

namespace hummer {
namespace {

// Process, jobs, tasks and channels; not the single operators.
constexpr int deepest_account = 2;

double in_seconds(Nanoseconds duration) { return static_cast<double>(duration) / 1e9; }

void write_attempt(MetricsText& text, const AttemptHost::Sampled& attempt) {
  const std::string job = std::to_string(attempt.id.job);
  const std::string_view name = attempt.job_name;
  for (const TaskSample& task : attempt.samples.tasks) {
    const auto sample = [&](std::string_view metric, auto value) {
      text.sample(metric, {{"job", job}, {"name", name}, {"task", task.name}}, value);
    };
    sample("hummer_task_records_in_total", task.records_in);
    sample("hummer_task_records_out_total", task.records_out);
    sample("hummer_task_bytes_in_total", task.bytes_in);
    sample("hummer_task_bytes_out_total", task.bytes_out);
    sample("hummer_task_busy_seconds_total", in_seconds(task.time.busy_ns));
    sample("hummer_task_idle_seconds_total", in_seconds(task.time.idle_ns));
    sample("hummer_task_back_pressured_seconds_total", in_seconds(task.time.stalled_ns));
    for (const UserMetricsSample& op : task.user) {
      for (const MetricSample& metric : op.metrics) {
        text.user_metric(
            "hummer_task_user_",
            {{"job", job}, {"name", name}, {"task", task.name}, {"operator", op.operator_name}},
            metric, MetricsText::Of::one_subtask);
      }
    }
  }
  for (const ChannelSample& channel : attempt.samples.channels) {
    const auto sample = [&](std::string_view metric, std::uint64_t value) {
      text.sample(metric,
                  {{"job", job}, {"name", name}, {"from", channel.from}, {"to", channel.to}},
                  value);
    };
    sample("hummer_channel_occupancy", channel.occupancy);
    sample("hummer_channel_credits", channel.credits);
  }
  for (const SlotSample& slot : attempt.samples.slots) {
    const std::string number = std::to_string(slot.number);
    const auto sample = [&](std::string_view metric, Nanoseconds value) {
      text.sample(metric, {{"job", job}, {"name", name}, {"slot", number}}, in_seconds(value));
    };
    sample("hummer_slot_busy_seconds_total", slot.time.busy_ns);
    sample("hummer_slot_idle_seconds_total", slot.time.idle_ns);
    sample("hummer_slot_back_pressured_seconds_total", slot.time.stalled_ns);
  }
}

// "this worker/WordCount/count[1]"
void write_memory(MetricsText& text, const std::vector<MemoryAccount::Metric>& metrics) {
  std::vector<std::string> path;
  for (const MemoryAccount::Metric& metric : metrics) {
    if (metric.depth > deepest_account) continue;
    path.resize(static_cast<std::size_t>(metric.depth));
    path.push_back(path.empty() ? metric.name : path.back() + "/" + metric.name);
    text.sample("hummer_memory_used_bytes", {{"account", path.back()}},
                std::uint64_t{metric.used_bytes});
    text.sample("hummer_spilled_bytes", {{"account", path.back()}},
                std::uint64_t{metric.disk_bytes});
  }
}

}  // namespace

void write_process_metrics(MetricsText& text, const ProcessMetrics& metrics) {
  text.sample("hummer_stuck", {}, std::uint64_t{metrics.stuck.size()});
  text.sample("hummer_memory_limit_bytes", {}, std::uint64_t{metrics.memory_limit_bytes});
  text.sample("hummer_resident_bytes", {}, std::uint64_t{metrics.resident_bytes});
  write_memory(text, metrics.memory);
  text.sample("hummer_shuffle_files", {}, metrics.shuffle.files);
  text.sample("hummer_shuffle_bytes", {}, metrics.shuffle.bytes);
  for (const AttemptHost::Sampled& attempt : metrics.attempts) write_attempt(text, attempt);
}

std::string task_manager_metrics(const TaskManagerMetrics& metrics) {
  MetricsText text;
  text.sample("hummer_registered", {}, std::uint64_t{metrics.registered ? 1u : 0u});
  text.sample("hummer_job_manager_heartbeat_age_seconds", {}, in_seconds(metrics.unheard_ns));
  text.sample("hummer_buffer_bytes", {{"state", "used"}}, metrics.data_plane.buffer_bytes_used);
  text.sample("hummer_buffer_bytes", {{"state", "total"}}, metrics.data_plane.buffer_bytes);
  text.sample("hummer_channels_received_total", {{"transport", "shm"}}, metrics.data_plane.rings);
  text.sample("hummer_channels_received_total", {{"transport", "rdma"}},
              metrics.data_plane.remote_rings);
  text.sample(
      "hummer_channels_received_total", {{"transport", "tcp"}},
      metrics.data_plane.handed_over - metrics.data_plane.rings - metrics.data_plane.remote_rings);
  text.sample("hummer_shuffle_sent_bytes_total", {}, metrics.shuffle_sent_bytes);
  text.sample("hummer_garbage_connections_total", {}, metrics.data_plane.garbage);
  text.sample("hummer_refused_connections_total", {}, metrics.data_plane.refused);
  write_process_metrics(text, metrics);
  text.log_lines(metrics.process_log);
  return std::move(text).finish();
}

}  // namespace hummer
