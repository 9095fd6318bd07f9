#include "protocol/job_status.hpp"

#include <algorithm>

#include "protocol/graph_messages.hpp"

namespace hummer {
namespace {

Status end_of(const wire::JobStatus& job) {
  switch (job.state()) {
    case wire::JOB_CANCELLED: return {ErrorCode::cancelled, "the job was cancelled"};
    case wire::JOB_FAILED: {
      Status failure = status_from(job.failure());
      if (failure.ok()) return {ErrorCode::internal, "the job failed and no reason was given"};
      return failure;
    }
    default: return {};
  }
}

VertexSummary vertex_result(const wire::VertexStatus& vertex) {
  VertexSummary row;
  row.name = vertex.name();
  row.parallelism = static_cast<int>(vertex.parallelism());
  for (int i = 0; i < vertex.operators_size(); ++i) {
    OperatorSummary& op = row.operators.emplace_back();
    op.name = vertex.operators(i);
    if (i >= vertex.metrics().operators_size()) continue;  // none yet
    const wire::OperatorMetrics& metrics = vertex.metrics().operators(i);
    op.records_in = metrics.records_in();
    op.records_out = metrics.records_out();
    op.bytes = metrics.bytes();
    op.bytes_expected = metrics.bytes_expected();
    op.records_late = metrics.records_late();
    op.records_skipped = metrics.records_skipped();
    for (const wire::UserMetric& user : metrics.user()) {
      if (user.kind() > static_cast<std::uint32_t>(MetricKind::histogram)) continue;
      op.metrics.push_back({.name = user.name(),
                            .kind = static_cast<MetricKind>(user.kind()),
                            .count = user.count(),
                            .sum = user.sum(),
                            .min = user.min(),
                            .max = user.max(),
                            .p50 = user.p50(),
                            .p99 = user.p99()});
    }
  }
  return row;
}

}  // namespace

bool has_ended(wire::JobState state) {
  return state == wire::JOB_FINISHED || state == wire::JOB_FAILED || state == wire::JOB_CANCELLED;
}

std::string_view job_state_name(wire::JobState state) {
  switch (state) {
    case wire::JOB_WAITING: return "waiting";
    case wire::JOB_DEPLOYING: return "deploying";
    case wire::JOB_RUNNING: return "running";
    case wire::JOB_STOPPING: return "stopping";
    case wire::JOB_CANCELLING: return "cancelling";
    case wire::JOB_FAILING: return "failing";
    case wire::JOB_FINISHED: return "finished";
    case wire::JOB_FAILED: return "failed";
    case wire::JOB_CANCELLED: return "cancelled";
    case wire::JOB_RESTARTING: return "restarting";
    default: return "unknown";
  }
}

JobResult job_result(const wire::JobStatus& job, std::int64_t wall_time_ms) {
  JobResult result;
  result.job_name = job.name();
  result.status = end_of(job);
  if (job.started_ms() != 0) {
    const std::int64_t end_ms = job.ended_ms() != 0 ? job.ended_ms() : wall_time_ms;
    result.seconds =
        static_cast<double>(std::max<std::int64_t>(end_ms - job.started_ms(), 0)) / 1e3;
  }
  for (const wire::VertexStatus& vertex : job.vertices()) {
    const VertexSummary& row = result.vertices.emplace_back(vertex_result(vertex));
    for (const OperatorSummary& op : row.operators) {
      result.records_late += op.records_late;
      result.records_skipped += op.records_skipped;
    }
    for (int i = 0; i < std::min(vertex.operators_size(), vertex.kinds_size()); ++i) {
      const OperatorSummary& op = row.operators[static_cast<std::size_t>(i)];
      if (vertex.kinds(i) == "source") {
        result.bytes_read += op.bytes;
        result.records_read += op.records_out;
      } else if (vertex.kinds(i) == "sink") {
        result.records_written += op.records_in;
      }
    }
  }
  return result;
}

VertexShares vertex_shares(const wire::VertexMetrics& metrics) {
  const std::uint32_t running = metrics.tasks_running();
  if (running == 0) return {};
  VertexShares shares{metrics.busy_percent() / running, 0,
                      metrics.back_pressured_percent() / running};
  const std::uint32_t other = shares.busy_percent + shares.back_pressured_percent;
  shares.idle_percent = other < 100 ? 100 - other : 0;
  return shares;
}

}  // namespace hummer
