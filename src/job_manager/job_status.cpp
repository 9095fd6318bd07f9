// A Job as clients see it.
#include <fmt/format.h>

#include "job_manager/job.hpp"
#include "protocol/graph_messages.hpp"
#include "protocol/metric_messages.hpp"

namespace hummer {
namespace {

constexpr int max_stuck_in_all = 64;

std::string explanation(const Job& job) {
  std::string text = fmt::format("job graph of \"{}\"\n", job.graph.job_name);
  for (const JobVertex& vertex : job.graph.vertices) {
    const auto id = static_cast<std::size_t>(vertex.id);
    std::string width = "not placed yet";
    if (!job.parallelism.empty()) width = fmt::format("x{}", job.parallelism[id]);
    if (!job.parallelism.empty() && job.parallelism[id] < job.planned[id]) {
      width += fmt::format(" of {}, as it reads {} bytes of shuffle files", job.planned[id],
                           job.shuffle_bytes[id]);
    }
    text += fmt::format("  vertex {}: {} ({})\n", vertex.id, vertex.name, width);
  }
  for (const JobEdge& edge : job.graph.edges) {
    text += fmt::format("  edge {} → {}: {}, {}\n", edge.from, edge.to, to_string(edge.routing),
                        to_string(edge.network));
  }
  const PlacedAttempt* placed = job.placed();
  if (placed == nullptr) return text;
  for (const JobPart& part : placed->parts) {
    const std::string region =
        placed->regions.size() > 1 ? fmt::format(", region {}", part.region + 1) : "";
    text += fmt::format("  on '{}'{}\n", part.task_manager, region);
  }
  return text;
}

void add_failures(const Job& job, wire::JobStatus& into) {
  for (const AttemptFailure& each : job.failures) {
    wire::AttemptFailure& out = *into.add_failures();
    out.set_attempt(each.attempt);
    out.set_wall_time_ms(each.wall_ms);
    out.set_task_manager(each.task_manager);
    to_message(each.status, *out.mutable_failure());
  }
}

void add_placed(const PlacedAttempt& placed, bool with_task_managers, wire::JobStatus& into) {
  if (placed.checkpoints) {
    into.set_checkpoints_failed(into.checkpoints_failed() + placed.checkpoints->failed());
  }
  for (const JobRegion& region : placed.regions) {
    if (placed.regions.size() > 1) into.add_region_attempts(region.attempt);
  }
  for (const JobPart& part : placed.parts) {
    if (with_task_managers) into.add_task_managers(part.task_manager);
    for (const std::string& line : part.stuck) {
      if (into.stuck_size() == max_stuck_in_all) break;
      into.add_stuck(fmt::format("{}: {}", part.task_manager, line));
    }
  }
}

void add_vertices(const Job& job, wire::JobStatus& into) {
  const JobUserMetrics user_metrics = user_metrics_of(job);
  std::size_t at = 0;
  const auto metric = [&] { return job.metrics.empty() ? 0 : job.metrics[at++]; };
  std::size_t task = 0;
  for (const JobVertex& vertex : job.graph.vertices) {
    wire::VertexStatus& out = *into.add_vertices();
    out.set_name(vertex.name);
    if (!job.parallelism.empty()) {
      const auto id = static_cast<std::size_t>(vertex.id);
      const int parallelism = job.parallelism[id];
      out.set_parallelism(static_cast<std::uint32_t>(parallelism));
      for (int i = 0; i < parallelism; ++i) {
        out.add_subtask_starts(job.starts[task + static_cast<std::size_t>(i)]);
      }
      task += static_cast<std::size_t>(job.planned[id]);
      if (parallelism < job.planned[id]) {
        out.set_planned_parallelism(static_cast<std::uint32_t>(job.planned[id]));
        out.set_shuffle_bytes(job.shuffle_bytes[id]);
      }
    }
    wire::VertexMetrics& metrics = *out.mutable_metrics();
    metrics.set_vertex(static_cast<std::uint32_t>(vertex.id));
    metrics.set_tasks_running(static_cast<std::uint32_t>(metric()));
    metrics.set_tasks_finished(static_cast<std::uint32_t>(metric()));
    metrics.set_busy_percent(static_cast<std::uint32_t>(metric()));
    metrics.set_back_pressured_percent(static_cast<std::uint32_t>(metric()));
    for (const ChainedOperator& op : vertex.chain) {
      out.add_operators(op.name);
      out.add_kinds(std::string(to_string(op.kind)));
      wire::OperatorMetrics& counts = *metrics.add_operators();
      counts.set_records_in(metric());
      counts.set_records_out(metric());
      counts.set_bytes(metric());
      counts.set_records_late(metric());
      counts.set_records_skipped(metric());
      counts.set_bytes_expected(metric());
      const auto place = static_cast<std::uint32_t>(metrics.operators_size() - 1);
      const auto user = user_metrics.find({metrics.vertex(), place});
      if (user != user_metrics.end()) to_message(user->second, counts);
    }
  }
}

}  // namespace

void describe(const Job& job, bool with_vertices, bool with_graph, wire::JobStatus& into) {
  into.Clear();
  into.set_job(job.id);
  into.set_attempt(job.attempt);
  into.set_name(job.graph.job_name);
  into.set_state(job.told_state());
  const bool end_is_secret = job.ended() && !job.told_ended();
  if (const Status failure = job.failure(); !failure.ok() && !end_is_secret) {
    to_message(failure, *into.mutable_failure());
  }
  into.set_submitted_ms(job.submitted_ms);
  into.set_started_ms(job.started_ms);
  if (job.told_ended()) into.set_ended_ms(job.as<Job::Ended>()->wall_ms);
  into.set_slots(job.slots);
  into.set_version(job.version);
  into.set_checkpoints_completed(job.checkpoints_completed);
  into.set_checkpoints_failed(job.checkpoints_failed);
  into.set_last_checkpoint(job.newest_checkpoint);
  into.set_last_checkpoint_duration_ms(
      static_cast<std::uint64_t>(job.newest_duration / milliseconds(1)));
  into.set_last_checkpoint_written_bytes(job.newest_written_bytes);
  into.set_last_checkpoint_path(job.newest_path);
  into.set_restarts(job.restarts.restarts());
  if (const PlacedAttempt* placed = job.placed()) add_placed(*placed, with_graph, into);
  if (with_vertices) {
    add_vertices(job, into);
    if (!end_is_secret) add_failures(job, into);
  }
  if (with_graph) {
    into.set_explanation(explanation(job));
    to_message(job.graph, *into.mutable_graph());
  }
}

}  // namespace hummer
