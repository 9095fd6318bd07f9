#include "cli/job_text.hpp"

#include <fmt/format.h>

#include "cli/table.hpp"
#include "control/client/job_status.hpp"
#include "control/client/progress.hpp"

namespace hummer {

std::string remark_of(const wire::JobStatus& job) {
  const JobResult result = job_result(job, 0);
  if (job.state() == wire::JOB_FAILED) return result.status.to_string();
  if (job.state() == wire::JOB_WAITING) return job.reason();
  return {};
}

std::string running_time(const wire::JobStatus& job, std::int64_t wall_time_ms) {
  if (job.started_ms() == 0) return "-";
  return format_duration(job_result(job, wall_time_ms).seconds);
}

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
    json.begin_array("vertices");
    for (int i = 0; i < job.vertices_size(); ++i) {
      const wire::VertexStatus& vertex = job.vertices(i);
      const VertexResult& row = result.vertices[static_cast<std::size_t>(i)];
      json.begin_object();
      json.field("name", row.name);
      json.field("parallelism", row.parallelism);
      json.field("tasks_running", vertex.figures().tasks_running());
      json.field("tasks_finished", vertex.figures().tasks_finished());
      json.begin_array("operators");
      for (const OperatorResult& op : row.operators) {
        json.begin_object();
        json.field("name", op.name);
        json.field("records_in", op.records_in);
        json.field("records_out", op.records_out);
        json.field("bytes", op.bytes);
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
  if (result.vertices.empty()) return text;
  text += fmt::format("read {} records, {}; wrote {} records\n",
                      format_count(static_cast<double>(result.records_read)),
                      format_bytes(static_cast<double>(result.bytes_read)),
                      format_count(static_cast<double>(result.records_written)));
  Table table({"vertex", "tasks", "operator", "in", "out", "bytes"});
  for (const VertexResult& vertex : result.vertices) {
    std::string name = vertex.name, tasks = std::to_string(vertex.parallelism);
    for (const OperatorResult& op : vertex.operators) {
      table.add({name, tasks, op.name, std::to_string(op.records_in),
                 std::to_string(op.records_out), std::to_string(op.bytes)});
      name = tasks = "";
    }
  }
  text += table.text(true);
  for (const std::string& stuck : job.stuck()) text += stuck + "\n";
  return text;
}

}  // namespace hummer
