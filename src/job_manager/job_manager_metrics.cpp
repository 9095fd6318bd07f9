#include "job_manager/job_manager_metrics.hpp"

#include <map>

#include "observability/metrics_text.hpp"
#include "protocol/job_status.hpp"
#include "protocol/metric_messages.hpp"

namespace hummer {
namespace {

void write_job(MetricsText& text, const Job& job, std::int64_t wall_ms) {
  wire::JobStatus status;
  describe(job, true, false, status);
  const std::string id = std::to_string(status.job());
  const std::string_view name = status.name();
  text.sample("hummer_job_state",
              {{"job", id}, {"name", name}, {"state", job_state_name(status.state())}},
              std::uint64_t{1});
  const auto of_job = [&](std::string_view metric, auto value) {
    text.sample(metric, {{"job", id}, {"name", name}}, value);
  };
  of_job("hummer_job_attempt", std::uint64_t{status.attempt()});
  of_job("hummer_job_slots", std::uint64_t{status.slots()});
  of_job("hummer_job_stuck_slots", static_cast<std::uint64_t>(status.stuck_size()));
  of_job("hummer_job_running_seconds", job_result(status, wall_ms).seconds);
  of_job("hummer_job_restarts_total", std::uint64_t{status.restarts()});
  of_job("hummer_checkpoints_completed_total", std::uint64_t{status.checkpoints_completed()});
  of_job("hummer_checkpoints_failed_total", std::uint64_t{status.checkpoints_failed()});
  of_job("hummer_checkpoint_disk_hangs_seconds", static_cast<double>(job.disk_hangs_for) / 1e9);
  of_job("hummer_checkpoint_last_number", std::uint64_t{status.last_checkpoint()});
  of_job("hummer_checkpoint_last_duration_seconds",
         static_cast<double>(status.last_checkpoint_duration_ms()) / 1e3);
  of_job("hummer_checkpoint_last_written_bytes",
         std::uint64_t{status.last_checkpoint_written_bytes()});
  for (const wire::VertexStatus& vertex : status.vertices()) {
    const VertexShares shares = vertex_shares(vertex.metrics());
    const auto of_vertex = [&](std::string_view metric, std::uint64_t value) {
      text.sample(metric, {{"job", id}, {"name", name}, {"vertex", vertex.name()}}, value);
    };
    of_vertex("hummer_vertex_busy_percent", shares.busy_percent);
    of_vertex("hummer_vertex_back_pressured_percent", shares.back_pressured_percent);
    of_vertex("hummer_vertex_tasks_running", vertex.metrics().tasks_running());
    of_vertex("hummer_vertex_tasks_finished", vertex.metrics().tasks_finished());
    for (int i = 0; i < vertex.operators_size(); ++i) {
      const wire::OperatorMetrics& metrics = vertex.metrics().operators(i);
      const auto sample = [&](std::string_view metric, std::uint64_t value) {
        text.sample(metric,
                    {{"job", id},
                     {"name", name},
                     {"vertex", vertex.name()},
                     {"operator", vertex.operators(i)}},
                    value);
      };
      sample("hummer_operator_records_in_total", metrics.records_in());
      sample("hummer_operator_records_out_total", metrics.records_out());
      sample("hummer_operator_bytes_total", metrics.bytes());
      sample("hummer_operator_records_late_total", metrics.records_late());
      sample("hummer_operator_records_skipped_total", metrics.records_skipped());
      for (const MetricSample& metric : user_metrics_from(metrics)) {
        text.user_metric("hummer_user_",
                         {{"job", id},
                          {"name", name},
                          {"vertex", vertex.name()},
                          {"operator", vertex.operators(i)}},
                         metric, MetricsText::Of::all_subtasks);
      }
    }
  }
}

}  // namespace

std::string job_manager_metrics(ClusterState& cluster, const JobManagerCounts& counts, Moment at,
                                const JobManagerOptions& options) {
  MetricsText text;
  text.log_lines(options.process_log);
  text.sample("hummer_connections", {}, counts.connections);
  text.sample("hummer_garbage_connections_total", {}, counts.garbage);
  text.sample("hummer_heartbeats_total", {}, counts.heartbeats);
  text.sample("hummer_refused_connections_total", {}, counts.refused);
  text.sample("hummer_stale_states_total", {}, counts.stale_states);
  text.sample("hummer_task_managers", {}, counts.task_managers);
  text.sample("hummer_task_managers_lost_total", {}, counts.task_managers_lost);
  for (const auto& [session, worker] : cluster.workers().live()) {
    text.sample("hummer_slots", {{"task_manager", worker->id()}},
                std::uint64_t{worker->registration.slots()});
    text.sample("hummer_slots_free", {{"task_manager", worker->id()}},
                std::uint64_t{worker->free_slots});
    text.sample("hummer_task_manager_heartbeat_age_seconds", {{"task_manager", worker->id()}},
                static_cast<double>(at.now - worker->last_heard) / 1e9);
  }
  std::map<std::string_view, std::uint64_t> by_state;
  for (const auto& [id, job] : cluster.jobs().all()) {
    ++by_state[job_state_name(job->state())];
    // Of ended jobs only the state is kept in the metrics: they do not change any more.
    write_job(text, *job, at.wall_ms);
  }
  for (const auto& [state, count] : by_state) text.sample("hummer_jobs", {{"state", state}}, count);
  if (options.local != nullptr) options.local->write_metrics(text);
  return std::move(text).finish();
}

}  // namespace hummer
