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
void write_memory(MetricsText& text, const std::vector<MemoryAccount::Figure>& figures) {
  std::vector<std::string> path;
  for (const MemoryAccount::Figure& figure : figures) {
    if (figure.depth > deepest_account) continue;
    path.resize(static_cast<std::size_t>(figure.depth));
    path.push_back(path.empty() ? figure.name : path.back() + "/" + figure.name);
    text.sample("hummer_memory_used_bytes", {{"account", path.back()}},
                std::uint64_t{figure.used_bytes});
    text.sample("hummer_spilled_bytes", {{"account", path.back()}},
                std::uint64_t{figure.disk_bytes});
  }
}

}  // namespace

void write_process_figures(MetricsText& text, const ProcessFigures& figures) {
  text.sample("hummer_stuck", {}, std::uint64_t{figures.stuck.size()});
  text.sample("hummer_memory_limit_bytes", {}, std::uint64_t{figures.memory_limit_bytes});
  text.sample("hummer_resident_bytes", {}, std::uint64_t{figures.resident_bytes});
  write_memory(text, figures.memory);
  for (const AttemptHost::Sampled& attempt : figures.attempts) write_attempt(text, attempt);
}

std::string task_manager_metrics(const TaskManagerFigures& figures) {
  MetricsText text;
  text.sample("hummer_registered", {}, std::uint64_t{figures.registered ? 1u : 0u});
  text.sample("hummer_job_manager_heartbeat_age_seconds", {}, in_seconds(figures.unheard_ns));
  text.sample("hummer_buffer_bytes", {{"state", "used"}}, figures.data_plane.buffer_bytes_used);
  text.sample("hummer_buffer_bytes", {{"state", "total"}}, figures.data_plane.buffer_bytes);
  text.sample("hummer_garbage_connections_total", {}, figures.data_plane.garbage);
  text.sample("hummer_refused_connections_total", {}, figures.data_plane.refused);
  write_process_figures(text, figures);
  text.log_lines(figures.process_log);
  return std::move(text).finish();
}

}  // namespace hummer
