#include "control/rest/job_json.hpp"

#include <algorithm>
#include <string>

#include "control/client/job_status.hpp"

namespace hummer {

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
      const std::uint64_t running = std::max(vertex.figures().tasks_running(), 1u);
      const std::uint64_t busy = vertex.figures().busy_percent() / running;
      const std::uint64_t stalled = vertex.figures().back_pressured_percent() / running;
      const bool some_idle = vertex.figures().tasks_running() > 0 && busy + stalled < 100;
      const std::uint64_t idle = some_idle ? 100 - busy - stalled : 0;
      json.field("busy_percent", busy);
      json.field("idle_percent", idle);
      json.field("back_pressured_percent", stalled);
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
}

}  // namespace hummer
