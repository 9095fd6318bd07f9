#include "rest/job_json.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/metric_sample.hpp"
#include "protocol/graph_messages.hpp"
#include "protocol/job_status.hpp"

namespace hummer {
namespace {

void write_failures(JsonWriter& json, const wire::JobStatus& job) {
  json.begin_array("failures");
  for (const wire::AttemptFailure& each : job.failures()) {
    json.begin_object();
    json.field("attempt", each.attempt());
    json.field("wall_time_ms", each.wall_time_ms());
    if (!each.task_manager().empty()) json.field("task_manager", each.task_manager());
    json.begin_object("failure");
    json.field("code", each.failure().code());
    json.field("message", each.failure().message());
    json.end_object();
    json.end_object();
  }
  json.end_array();
}

void write_user_metrics(JsonWriter& json, const OperatorSummary& op) {
  json.begin_array("metrics");
  for (const MetricSummary& metric : op.metrics) {
    json.begin_object();
    json.field("name", metric.name);
    json.field("kind", to_string(metric.kind));
    json.field("count", metric.count);
    if (metric.kind != MetricKind::counter) {
      json.field("sum", metric.sum);
      if (metric.kind == MetricKind::gauge) json.field("min", metric.min);
      json.field("max", metric.max);
    }
    if (metric.kind == MetricKind::histogram) {
      json.field("p50", metric.p50);
      json.field("p99", metric.p99);
    }
    json.end_object();
  }
  json.end_array();
}

void read_user_metric(JsonValue json, wire::UserMetric& metric) {
  metric.set_name(json["name"].text());
  for (const MetricKind kind : {MetricKind::gauge, MetricKind::histogram}) {
    if (json["kind"].text() == to_string(kind)) metric.set_kind(static_cast<std::uint32_t>(kind));
  }
  metric.set_count(json["count"].count());
  metric.set_sum(json["sum"].real());
  metric.set_min(json["min"].real());
  metric.set_max(json["max"].real());
  metric.set_p50(json["p50"].real());
  metric.set_p99(json["p99"].real());
}

void read_failure(JsonValue json, wire::Failure& failure) {
  failure.set_code(static_cast<std::uint32_t>(json["code"].number()));
  failure.set_message(json["message"].text());
}

void read_vertex(JsonValue json, wire::VertexStatus& vertex) {
  vertex.set_name(json["name"].text());
  vertex.set_parallelism(static_cast<std::uint32_t>(json["parallelism"].number()));
  wire::VertexMetrics& metrics = *vertex.mutable_metrics();
  metrics.set_tasks_running(static_cast<std::uint32_t>(json["tasks_running"].number()));
  metrics.set_tasks_finished(static_cast<std::uint32_t>(json["tasks_finished"].number()));
  const JsonValue starts = json["subtask_starts"];
  for (std::size_t i = 0; i < starts.size(); ++i) {
    vertex.add_subtask_starts(static_cast<std::uint32_t>(starts[i].number()));
  }
  vertex.set_planned_parallelism(static_cast<std::uint32_t>(json["planned_parallelism"].number()));
  vertex.set_shuffle_bytes(json["shuffle_bytes"].count());
  // Written as the mean of the running tasks.
  const std::uint32_t running = std::max(metrics.tasks_running(), 1u);
  metrics.set_busy_percent(static_cast<std::uint32_t>(json["busy_percent"].count()) * running);
  metrics.set_back_pressured_percent(
      static_cast<std::uint32_t>(json["back_pressured_percent"].count()) * running);
  const JsonValue operators = json["operators"];
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const JsonValue op = operators[i];
    vertex.add_operators(op["name"].text());
    vertex.add_kinds(op["kind"].text());
    wire::OperatorMetrics& counts = *metrics.add_operators();
    counts.set_records_in(op["records_in"].count());
    counts.set_records_out(op["records_out"].count());
    counts.set_bytes(op["bytes"].count());
    counts.set_bytes_expected(op["bytes_expected"].count());
    counts.set_records_late(op["records_late"].count());
    counts.set_records_skipped(op["records_skipped"].count());
    const JsonValue user = op["metrics"];
    for (std::size_t m = 0; m < user.size(); ++m) read_user_metric(user[m], *counts.add_user());
  }
}

// No time that arithmetic could not bear.
std::int64_t time_of(JsonValue json) {
  return std::clamp(json.number(), std::int64_t{0}, std::int64_t{1} << 53);
}

wire::JobState job_state_of(std::string_view name) {
  for (int state = wire::JobState_MIN; state <= wire::JobState_MAX; ++state) {
    if (wire::JobState_IsValid(state) && job_state_name(static_cast<wire::JobState>(state)) == name)
      return static_cast<wire::JobState>(state);
  }
  return wire::JOB_UNKNOWN;
}

}  // namespace

void write_job(JsonWriter& json, const wire::JobStatus& job, std::int64_t wall_time_ms) {
  const JobResult result = job_result(job, wall_time_ms);
  json.field("job", job.job());
  json.field("name", job.name());
  json.field("state", job_state_name(job.state()));
  json.field("slots", job.slots());
  json.field("submitted_ms", job.submitted_ms());
  json.field("started_ms", job.started_ms());
  json.field("ended_ms", job.ended_ms());
  json.field("milliseconds", static_cast<std::int64_t>(result.seconds * 1e3));
  if (!job.reason().empty()) json.field("reason", job.reason());
  if (job.state() == wire::JOB_FAILED) {
    json.begin_object("failure");
    json.field("code", static_cast<unsigned>(result.status.code()));
    json.field("message", result.status.message());
    json.end_object();
  }
  if (job.vertices_size() > 0) {
    json.field("records_read", result.records_read);
    json.field("bytes_read", result.bytes_read);
    json.field("records_written", result.records_written);
    json.field("records_late", result.records_late);
    json.field("records_skipped", result.records_skipped);
    json.begin_array("vertices");
    for (int i = 0; i < job.vertices_size(); ++i) {
      const wire::VertexStatus& vertex = job.vertices(i);
      const VertexSummary& row = result.vertices[static_cast<std::size_t>(i)];
      json.begin_object();
      json.field("name", row.name);
      json.field("parallelism", row.parallelism);
      json.field("tasks_running", vertex.metrics().tasks_running());
      json.field("tasks_finished", vertex.metrics().tasks_finished());
      if (vertex.subtask_starts_size() > 0) {
        json.begin_array("subtask_starts");
        for (const std::uint32_t starts : vertex.subtask_starts()) json.element(starts);
        json.end_array();
      }
      if (vertex.planned_parallelism() > 0) {
        json.field("planned_parallelism", vertex.planned_parallelism());
        json.field("shuffle_bytes", vertex.shuffle_bytes());
      }
      const VertexShares shares = vertex_shares(vertex.metrics());
      json.field("busy_percent", shares.busy_percent);
      json.field("idle_percent", shares.idle_percent);
      json.field("back_pressured_percent", shares.back_pressured_percent);
      json.begin_array("operators");
      int kind = 0;
      for (const OperatorSummary& op : row.operators) {
        json.begin_object();
        json.field("name", op.name);
        json.field("kind", kind < vertex.kinds_size() ? vertex.kinds(kind++) : std::string());
        json.field("records_in", op.records_in);
        json.field("records_out", op.records_out);
        json.field("bytes", op.bytes);
        if (op.bytes_expected > 0) json.field("bytes_expected", op.bytes_expected);
        json.field("records_late", op.records_late);
        json.field("records_skipped", op.records_skipped);
        if (!op.metrics.empty()) write_user_metrics(json, op);
        json.end_object();
      }
      json.end_array();
      json.end_object();
    }
    json.end_array();
  }
  if (job.stuck_size() > 0) {
    json.begin_array("stuck");
    for (const std::string& text : job.stuck()) json.element(text);
    json.end_array();
  }
  json.field("version", job.version());
  json.field("attempt", job.attempt());
  if (job.region_attempts_size() > 0) {
    json.begin_array("region_attempts");
    for (const std::uint32_t attempt : job.region_attempts()) json.element(attempt);
    json.end_array();
  }
  json.field("restarts", job.restarts());
  json.field("checkpoints_completed", job.checkpoints_completed());
  json.field("checkpoints_failed", job.checkpoints_failed());
  if (job.last_checkpoint() != 0) {
    json.field("last_checkpoint", job.last_checkpoint());
    json.field("last_checkpoint_duration_ms", job.last_checkpoint_duration_ms());
    json.field("last_checkpoint_written_bytes", job.last_checkpoint_written_bytes());
    json.field("last_checkpoint_path", job.last_checkpoint_path());
  }
  if (job.failures_size() > 0) write_failures(json, job);
}

void read_job(JsonValue json, wire::JobStatus& job) {
  job.set_job(json["job"].count());
  job.set_name(json["name"].text());
  job.set_state(job_state_of(json["state"].text()));
  job.set_slots(static_cast<std::uint32_t>(json["slots"].number()));
  job.set_submitted_ms(time_of(json["submitted_ms"]));
  job.set_started_ms(time_of(json["started_ms"]));
  job.set_ended_ms(time_of(json["ended_ms"]));
  job.set_reason(json["reason"].text());
  if (json["failure"].is_there()) read_failure(json["failure"], *job.mutable_failure());
  const JsonValue vertices = json["vertices"];
  for (std::size_t i = 0; i < vertices.size(); ++i) read_vertex(vertices[i], *job.add_vertices());
  const JsonValue stuck = json["stuck"];
  for (std::size_t i = 0; i < stuck.size(); ++i) job.add_stuck(stuck[i].text());
  job.set_version(json["version"].count());
  job.set_attempt(static_cast<std::uint32_t>(json["attempt"].number()));
  const JsonValue regions = json["region_attempts"];
  for (std::size_t i = 0; i < regions.size(); ++i) {
    job.add_region_attempts(static_cast<std::uint32_t>(regions[i].number()));
  }
  job.set_restarts(static_cast<std::uint32_t>(json["restarts"].number()));
  job.set_checkpoints_completed(json["checkpoints_completed"].count());
  job.set_checkpoints_failed(json["checkpoints_failed"].count());
  job.set_last_checkpoint(json["last_checkpoint"].count());
  job.set_last_checkpoint_duration_ms(json["last_checkpoint_duration_ms"].count());
  job.set_last_checkpoint_written_bytes(json["last_checkpoint_written_bytes"].count());
  job.set_last_checkpoint_path(json["last_checkpoint_path"].text());
  const JsonValue failures = json["failures"];
  for (std::size_t i = 0; i < failures.size(); ++i) {
    wire::AttemptFailure& failure = *job.add_failures();
    failure.set_attempt(static_cast<std::uint32_t>(failures[i]["attempt"].number()));
    failure.set_wall_time_ms(failures[i]["wall_time_ms"].number());
    failure.set_task_manager(failures[i]["task_manager"].text());
    read_failure(failures[i]["failure"], *failure.mutable_failure());
  }
}

void write_plan(JsonWriter& json, const wire::JobStatus& job) {
  json.field("job", job.job());
  json.field("plan", job.explanation());
  const wire::JobGraph& graph = job.graph();
  json.field("fingerprint", fmt::format("{:016x}", graph.fingerprint()));
  json.begin_array("vertices");
  for (int i = 0; i < graph.vertices_size(); ++i) {
    const wire::JobVertex& vertex = graph.vertices(i);
    json.begin_object();
    json.field("id", i);
    json.field("name", vertex.name());
    json.field("uid", vertex.uid());
    json.field("parallelism", i < job.vertices_size() ? job.vertices(i).parallelism() : 0);
    json.field("bounded", vertex.bounded());
    json.begin_array("operators");
    for (const wire::ChainedOperator& op : vertex.chain()) {
      json.begin_object();
      json.field("name", op.name());
      json.field("uid", op.uid());
      json.field("kind", op.kind());
      json.field("stateful", op.stateful());
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.begin_array("edges");
  if (const Result<JobGraph> checked = job_graph_from(graph); checked.ok()) {
    for (const JobEdge& edge : checked->edges) {
      json.begin_object();
      json.field("from", edge.from);
      json.field("to", edge.to);
      json.field("routing", to_string(edge.routing));
      json.field("network", to_string(edge.network));
      json.end_object();
    }
  }
  json.end_array();
  json.begin_array("task_managers");
  for (const std::string& id : job.task_managers()) json.element(id);
  json.end_array();
}

void read_plan(JsonValue json, wire::JobStatus& job) {
  job.set_job(json["job"].count());
  job.set_explanation(json["plan"].text());
}

void write_task_manager(JsonWriter& json, const wire::TaskManagerStatus& worker) {
  json.field("id", worker.id());
  json.field("state", worker.lost() ? "lost" : "alive");
  json.field("address", worker.address());
  if (!worker.rest_address().empty()) json.field("rest_address", worker.rest_address());
  json.field("slots", worker.slots());
  json.field("slots_free", worker.slots_free());
  json.field("heartbeat_age_ms", worker.heartbeat_age_ms());
  if (worker.lost()) json.field("reason", worker.reason());
  json.begin_array("data_addresses");
  for (const auto& address : worker.data_addresses()) {
    json.element(address.interface().empty() ? address.address()
                                             : address.interface() + "=" + address.address());
  }
  json.end_array();
  json.begin_array("jobs");
  for (const std::uint64_t job : worker.jobs()) json.element(job);
  json.end_array();
  if (worker.stuck().empty()) return;
  json.begin_array("stuck");
  for (const std::string& text : worker.stuck()) json.element(text);
  json.end_array();
}

void read_task_manager(JsonValue json, wire::TaskManagerStatus& worker) {
  worker.set_id(json["id"].text());
  worker.set_lost(json["state"].text() == "lost");
  worker.set_address(json["address"].text());
  worker.set_rest_address(json["rest_address"].text());
  worker.set_slots(static_cast<std::uint32_t>(json["slots"].number()));
  worker.set_slots_free(static_cast<std::uint32_t>(json["slots_free"].number()));
  worker.set_heartbeat_age_ms(static_cast<std::uint32_t>(json["heartbeat_age_ms"].number()));
  worker.set_reason(json["reason"].text());
  const JsonValue addresses = json["data_addresses"];
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const std::string address = addresses[i].text();
    const std::size_t equals = address.find('=');
    wire::DataAddress& out = *worker.add_data_addresses();
    if (equals != address.npos) out.set_interface(address.substr(0, equals));
    out.set_address(equals == address.npos ? address : address.substr(equals + 1));
  }
  const JsonValue jobs = json["jobs"];
  for (std::size_t i = 0; i < jobs.size(); ++i) worker.add_jobs(jobs[i].count());
  const JsonValue stuck = json["stuck"];
  for (std::size_t i = 0; i < stuck.size(); ++i) worker.add_stuck(stuck[i].text());
}

}  // namespace hummer
