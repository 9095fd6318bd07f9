#include "cli/job_text.hpp"

#include <fmt/format.h>

#include "base/metric_sample.hpp"
#include "cli/table.hpp"
#include "client/progress.hpp"
#include "protocol/graph_messages.hpp"
#include "protocol/job_status.hpp"

namespace hummer {
namespace {

std::string in_six_digits(double value) { return fmt::format("{:.6g}", value); }

// Those of the author's functions; nothing where they have none.
std::string describe_user_metrics(const JobResult& result) {
  Table table({"operator", "metric", "kind", "value", "min", "p50", "p99", "max"});
  bool any = false;
  for (const VertexSummary& vertex : result.vertices) {
    for (const OperatorSummary& op : vertex.operators) {
      for (const MetricSummary& metric : op.metrics) {
        any = true;
        const bool gauge = metric.kind == MetricKind::gauge;
        const bool histogram = metric.kind == MetricKind::histogram;
        table.add({op.name, metric.name, std::string(to_string(metric.kind)),
                   gauge ? in_six_digits(metric.sum) : std::to_string(metric.count),
                   gauge ? in_six_digits(metric.min) : "",
                   histogram ? in_six_digits(metric.p50) : "",
                   histogram ? in_six_digits(metric.p99) : "",
                   gauge || histogram ? in_six_digits(metric.max) : ""});
      }
    }
  }
  return any ? "\n" + table.text(true) : "";
}

}  // namespace

std::string remark_of(const wire::JobStatus& job) {
  const JobResult result = job_result(job, 0);
  if (job.state() == wire::JOB_FAILED) return result.status.to_string();
  return job.reason();
}

std::string running_time(const wire::JobStatus& job, std::int64_t wall_time_ms) {
  if (job.started_ms() == 0) return "-";
  return format_duration(job_result(job, wall_time_ms).seconds);
}

std::string describe_job(const wire::JobStatus& job, std::int64_t wall_time_ms) {
  const JobResult result = job_result(job, wall_time_ms);
  std::string text =
      fmt::format("job {} '{}': {}", job.job(), job.name(), job_state_name(job.state()));
  if (const std::string remark = remark_of(job); !remark.empty()) text += ": " + remark;
  text += fmt::format("\nsubmitted {} UTC, ", format_wall_time(job.submitted_ms()));
  if (job.started_ms() == 0) {
    text += "not started\n";
  } else {
    text += fmt::format("ran {}, {} slots\n", running_time(job, wall_time_ms), job.slots());
  }
  if (job.last_checkpoint() != 0) {
    text += fmt::format("checkpoint {} is the newest of {}: {}\n", job.last_checkpoint(),
                        job.checkpoints_completed(), job.last_checkpoint_path());
    if (job.last_checkpoint_written_bytes() != 0) {
      text += fmt::format("it took {} ms, {} were written\n", job.last_checkpoint_duration_ms(),
                          format_bytes(static_cast<double>(job.last_checkpoint_written_bytes())));
    }
  }
  if (job.checkpoints_failed() != 0) {
    text += fmt::format("{} checkpoints were given up\n", job.checkpoints_failed());
  }
  for (const wire::AttemptFailure& each : job.failures()) {
    text += fmt::format("attempt {} failed {} UTC{}: {}\n", each.attempt(),
                        format_wall_time(each.wall_time_ms()),
                        each.task_manager().empty() ? "" : " on '" + each.task_manager() + "'",
                        status_from(each.failure()).to_string());
  }
  if (result.vertices.empty()) return text;
  text += fmt::format("read {} records, {}; wrote {} records",
                      format_count(static_cast<double>(result.records_read)),
                      format_bytes(static_cast<double>(result.bytes_read)),
                      format_count(static_cast<double>(result.records_written)));
  if (result.records_late > 0) {
    text +=
        fmt::format("; {} came too late", format_count(static_cast<double>(result.records_late)));
  }
  if (result.records_skipped > 0) {
    text += fmt::format("; {} skipped, since a function failed",
                        format_count(static_cast<double>(result.records_skipped)));
  }
  Table table({"vertex", "tasks", "operator", "in", "out", "bytes", "late"});
  for (const VertexSummary& vertex : result.vertices) {
    std::string name = vertex.name, tasks = std::to_string(vertex.parallelism);
    for (const OperatorSummary& op : vertex.operators) {
      table.add({name, tasks, op.name, std::to_string(op.records_in),
                 std::to_string(op.records_out), std::to_string(op.bytes),
                 std::to_string(op.records_late)});
      name = tasks = "";
    }
  }
  text += "\n" + table.text(true);
  text += describe_user_metrics(result);
  for (const wire::VertexStatus& vertex : job.vertices()) {
    if (vertex.planned_parallelism() == 0) continue;
    text += fmt::format("'{}' has {} of {} subtasks, as it reads {} of shuffle files\n",
                        vertex.name(), vertex.parallelism(), vertex.planned_parallelism(),
                        format_bytes(static_cast<double>(vertex.shuffle_bytes())));
  }
  for (const std::string& stuck : job.stuck()) text += stuck + "\n";
  return text;
}

}  // namespace hummer
