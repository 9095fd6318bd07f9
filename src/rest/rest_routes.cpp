#include "rest/rest_routes.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "job_library/engine_abi.hpp"
#include "observability/process_log.hpp"
#include "protocol/graph_messages.hpp"
#include "protocol/job_status.hpp"
#include "rest/job_json.hpp"

namespace hummer {
namespace {

HttpResponse json_response(JsonWriter json, int status = 200) {
  HttpResponse response;
  response.status = status;
  response.body = std::move(json).finish();
  return response;
}

HttpResponse text_response(std::string text, int status = 200) {
  HttpResponse response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::move(text);
  return response;
}

HttpResponse answer_failure(const wire::ClientAnswer& answer) {
  return failure_response(status_from(answer.failure()));
}

HttpResponse job_response(RestBackend& backend, const wire::ClientAnswer& answer, int status) {
  if (answer.has_failure()) return answer_failure(answer);
  JsonWriter json;
  json.begin_object();
  write_job(json, answer.job(), backend.wall_time_ms());
  json.end_object();
  return json_response(std::move(json), status);
}

// The JobManager has a limit of its own.
std::uint32_t wait_ms(const RestCall& call) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(call.number("wait_ms"), UINT32_MAX));
}

Task<HttpResponse> get_health(RestBackend&, RestCall) { co_return text_response("ok\n"); }

Task<HttpResponse> get_readiness(RestBackend& backend, RestCall) {
  const Status ready = backend.ready();
  if (ready.ok()) co_return text_response("ready\n");
  co_return text_response(ready.to_string() + "\n", 503);
}

Task<HttpResponse> get_metrics(RestBackend& backend, RestCall) {
  HttpResponse response = text_response(backend.metrics());
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  co_return response;
}

Task<HttpResponse> get_process_log(RestBackend& backend, RestCall call) {
  LogQuery query;
  query.after = call.number("after");
  query.job = call.number("job");
  if (const auto level = call.texts.find("level"); level != call.texts.end()) {
    query.level = *parse_log_level(level->second);
  }
  const ProcessLog* log = backend.process_log();
  const LogLines page = log == nullptr ? LogLines() : log->read(query);
  JsonWriter json;
  json.begin_object();
  json.field("process", log == nullptr ? std::string() : log->process());
  json.field("first", page.first);
  json.field("last", page.last);
  json.begin_array("lines");
  for (const LogLine& line : page.lines) {
    json.begin_object();
    json.field("number", line.number);
    json.field("wall_time_ms", line.wall_time_ms);
    json.field("level", to_string(line.level));
    json.field("module", to_string(line.module));
    if (line.job != 0) json.field("job", line.job);
    if (line.attempt) json.field("attempt", *line.attempt);
    if (!line.task.empty()) json.field("task", line.task);
    json.field("message", line.text);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  co_return json_response(std::move(json));
}

Task<HttpResponse> get_open_api(RestBackend&, RestCall) {
  HttpResponse response;
  response.body = open_api_document();
  co_return response;
}

Task<HttpResponse> get_overview(RestBackend& backend, RestCall) {
  wire::ClientRequest list;
  list.mutable_list();
  const wire::ClientAnswer jobs = co_await backend.ask(std::move(list));
  if (jobs.has_failure()) co_return answer_failure(jobs);
  wire::ClientRequest workers;
  workers.mutable_task_managers();
  const wire::ClientAnswer task_managers = co_await backend.ask(std::move(workers));
  if (task_managers.has_failure()) co_return answer_failure(task_managers);

  std::map<std::string_view, std::uint64_t> by_state;
  for (const wire::JobStatus& job : jobs.list().jobs()) ++by_state[job_state_name(job.state())];
  std::uint64_t alive = 0, lost = 0, slots = 0, slots_free = 0;
  for (const wire::TaskManagerStatus& worker : task_managers.task_managers().task_managers()) {
    if (worker.lost()) {
      ++lost;
      continue;
    }
    ++alive;
    slots += worker.slots();
    slots_free += worker.slots_free();
  }
  JsonWriter json;
  json.begin_object();
  json.field("version", engine_version());
  json.field("task_managers", alive);
  json.field("task_managers_lost", lost);
  json.field("slots", slots);
  json.field("slots_free", slots_free);
  json.begin_object("jobs");
  for (const auto& [state, count] : by_state) json.field(state, count);
  json.end_object();
  json.end_object();
  co_return json_response(std::move(json));
}

Task<HttpResponse> get_jobs(RestBackend& backend, RestCall call) {
  wire::ClientRequest request;
  request.mutable_list();
  const wire::ClientAnswer answer = co_await backend.ask(std::move(request));
  if (answer.has_failure()) co_return answer_failure(answer);
  const auto state = call.texts.find("state");
  JsonWriter json;
  json.begin_object();
  json.begin_array("jobs");
  for (const wire::JobStatus& job : answer.list().jobs()) {
    if (state != call.texts.end() && state->second != job_state_name(job.state())) continue;
    json.begin_object();
    write_job(json, job, backend.wall_time_ms());
    json.end_object();
  }
  json.end_array();
  json.end_object();
  co_return json_response(std::move(json));
}

Task<HttpResponse> post_job(RestBackend& backend, RestCall call) {
  wire::ClientRequest request;
  if (!request.mutable_submit()->ParseFromString(call.request.body)) {
    co_return failure_response(
        {ErrorCode::invalid_argument, "the body is no SubmitJob message of control.proto"});
  }
  const wire::ClientAnswer answer = co_await backend.ask(std::move(request));
  if (answer.has_failure()) co_return answer_failure(answer);
  if (answer.submitted().job() == 0) {
    const std::uint64_t offset = answer.submitted().library_offset();
    JsonWriter json;
    json.begin_object();
    json.field("code", static_cast<unsigned>(ErrorCode::invalid_argument));
    json.field("message",
               fmt::format("the job library is not here: send it first, from byte {}", offset));
    json.field("library_offset", offset);
    json.end_object();
    co_return json_response(std::move(json), 409);
  }
  JsonWriter json;
  json.begin_object();
  json.field("job", answer.submitted().job());
  json.end_object();
  co_return json_response(std::move(json), 201);
}

Task<HttpResponse> put_library(RestBackend& backend, RestCall call) {
  wire::ClientRequest request;
  wire::LibraryPiece& piece = *request.mutable_upload();
  std::uint64_t hash = 0;
  const std::string& text = call.texts["hash"];
  std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  piece.set_hash(hash);
  piece.set_offset(call.number("offset"));
  piece.set_total_bytes(call.number("total_bytes", call.request.body.size()));
  piece.set_bytes(std::move(call.request.body));
  const wire::ClientAnswer answer = co_await backend.ask(std::move(request));
  if (answer.has_failure()) co_return answer_failure(answer);
  JsonWriter json;
  json.begin_object();
  json.field("offset", answer.uploaded().offset());
  json.end_object();
  co_return json_response(std::move(json));
}

Task<HttpResponse> get_job(RestBackend& backend, RestCall call) {
  wire::ClientRequest request;
  request.mutable_job()->set_job(call.number("job"));
  request.mutable_job()->set_version_seen(call.number("version_seen"));
  request.mutable_job()->set_wait_ms(wait_ms(call));
  const wire::ClientAnswer answer = co_await backend.ask(std::move(request));
  co_return job_response(backend, answer, 200);
}

Task<HttpResponse> get_plan(RestBackend& backend, RestCall call) {
  wire::ClientRequest request;
  request.mutable_job()->set_job(call.number("job"));
  request.mutable_job()->set_with_graph(true);
  const wire::ClientAnswer answer = co_await backend.ask(std::move(request));
  if (answer.has_failure()) co_return answer_failure(answer);
  JsonWriter json;
  json.begin_object();
  write_plan(json, answer.job());
  json.end_object();
  co_return json_response(std::move(json));
}

Task<HttpResponse> get_log(RestBackend& backend, RestCall call) {
  wire::ClientRequest request;
  request.mutable_log()->set_job(call.number("job"));
  request.mutable_log()->set_from_line(call.number("from_line"));
  request.mutable_log()->set_wait_ms(wait_ms(call));
  const wire::ClientAnswer answer = co_await backend.ask(std::move(request));
  if (answer.has_failure()) co_return answer_failure(answer);
  JsonWriter json;
  json.begin_object();
  json.field("first_line", answer.log().first_line());
  json.field("ended", answer.log().ended());
  json.begin_array("lines");
  for (const wire::LogLine& line : answer.log().lines()) {
    json.begin_object();
    json.field("wall_time_ms", line.wall_time_ms());
    json.field("text", line.text());
    json.end_object();
  }
  json.end_array();
  json.end_object();
  co_return json_response(std::move(json));
}

Task<HttpResponse> end_job(RestBackend& backend, std::uint64_t job,
                           wire::DesiredState desired_state) {
  wire::ClientRequest request;
  request.mutable_end()->set_job(job);
  request.mutable_end()->set_desired_state(desired_state);
  const wire::ClientAnswer answer = co_await backend.ask(std::move(request));
  co_return job_response(backend, answer, 202);
}

Task<HttpResponse> post_cancel(RestBackend& backend, RestCall call) {
  return end_job(backend, call.number("job"), wire::DESIRED_CANCEL);
}

Task<HttpResponse> post_stop(RestBackend& backend, RestCall call) {
  return end_job(backend, call.number("job"), wire::DESIRED_STOP);
}

Task<HttpResponse> post_savepoint(RestBackend& backend, RestCall call) {
  wire::ClientRequest request;
  wire::TakeSavepoint& savepoint = *request.mutable_savepoint();
  savepoint.set_job(call.number("job"));
  savepoint.set_request_id(call.number("request_id"));
  if (savepoint.request_id() == 0) savepoint.set_request_id(backend.draw() | 1);
  savepoint.set_directory(call.text("directory"));
  savepoint.set_stop(call.text("stop") == "true");
  savepoint.set_wait_ms(wait_ms(call));
  const wire::ClientAnswer answer = co_await backend.ask(std::move(request));
  if (answer.has_failure()) co_return answer_failure(answer);
  const std::string& path = answer.savepoint().path();
  JsonWriter json;
  json.begin_object();
  json.field("complete", !path.empty());
  if (!path.empty()) json.field("path", path);
  json.end_object();
  co_return json_response(std::move(json));
}

Task<HttpResponse> get_task_managers(RestBackend& backend, RestCall) {
  wire::ClientRequest request;
  request.mutable_task_managers();
  const wire::ClientAnswer answer = co_await backend.ask(std::move(request));
  if (answer.has_failure()) co_return answer_failure(answer);
  JsonWriter json;
  json.begin_object();
  json.begin_array("task_managers");
  for (const wire::TaskManagerStatus& worker : answer.task_managers().task_managers()) {
    json.begin_object();
    write_task_manager(json, worker);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  co_return json_response(std::move(json));
}

constexpr RestParameter job_in_path{"job", RestParameterType::number, true, "the job's number"};
constexpr RestParameter of_job[] = {job_in_path};
constexpr RestParameter of_job_query[] = {
    job_in_path,
    {"version_seen", RestParameterType::number, false,
     "answer when the job's version is another one, or after wait_ms"},
    {"wait_ms", RestParameterType::number, false, "at most 60,000; absent: at once"}};
constexpr RestParameter of_log[] = {
    job_in_path,
    {"from_line", RestParameterType::number, false, "lines before this one are left out"},
    {"wait_ms", RestParameterType::number, false,
     "for a line, when there is none yet; at most 60,000"}};
constexpr RestParameter of_savepoint[] = {
    job_in_path,
    {"directory", RestParameterType::path, false,
     "below which it is made; absent: where the job's checkpoints are"},
    {"stop", RestParameterType::boolean, false, "the job ends with it"},
    {"request_id", RestParameterType::number, false,
     "drawn by who asks: the same again is the same savepoint; absent: a new one"},
    {"wait_ms", RestParameterType::number, false,
     "for it to be complete, at most 60,000; then ask again with the same request_id"}};
constexpr RestParameter of_jobs[] = {
    {"state", RestParameterType::job_state, false, "only jobs in this state"}};
constexpr RestParameter of_library[] = {
    {"hash", RestParameterType::hash, true, "XXH3-64 of the library, 16 hexadecimal digits"},
    {"offset", RestParameterType::number, false, "of the first byte of this piece; absent: 0"},
    {"total_bytes", RestParameterType::number, false,
     "of the whole library; absent: this piece is all"}};
constexpr RestParameter of_process_log[] = {
    {"after", RestParameterType::number, false, "lines up to this number are left out"},
    {"level", RestParameterType::log_level, false, "the least grave that is wanted; absent: debug"},
    {"job", RestParameterType::number, false, "only lines about this job"}};
constexpr int not_found[] = {404};
constexpr int of_end[] = {404, 409, 503};
constexpr int of_submission[] = {409, 413, 415, 503};
constexpr int of_upload[] = {413, 415};
constexpr int not_ready[] = {503};
constexpr std::string_view bytes = "application/octet-stream";

constexpr RestRoute routes[] = {
    {"GET", "/healthz", "Whether the process answers", {}, "", 200, "", {}, true, get_health, true},
    {"GET",
     "/readyz",
     "Whether jobs, or tasks of them, can be taken",
     {},
     "",
     200,
     "",
     not_ready,
     true,
     get_readiness,
     true},
    {"GET",
     "/metrics",
     "All metrics, for Prometheus",
     {},
     "",
     200,
     "",
     {},
     false,
     get_metrics,
     true},
    {"GET",
     "/v1/openapi.json",
     "This description",
     {},
     "",
     200,
     "OpenApi",
     {},
     true,
     get_open_api,
     true},
    {"GET",
     "/v1/logs",
     "The last lines of the process's own log",
     of_process_log,
     "",
     200,
     "ProcessLog",
     {},
     false,
     get_process_log,
     true},
    {"GET",
     "/v1/overview",
     "The cluster in metrics",
     {},
     "",
     200,
     "Overview",
     {},
     false,
     get_overview},
    {"GET", "/v1/jobs", "Jobs, newest first", of_jobs, "", 200, "JobList", {}, false, get_jobs},
    {"POST",
     "/v1/jobs",
     "Submits a job whose library is there: a SubmitJob message of control.proto",
     {},
     bytes,
     201,
     "Submitted",
     of_submission,
     false,
     post_job},
    {"PUT", "/v1/libraries/{hash}", "Uploads a job library, or a piece of it", of_library, bytes,
     200, "Uploaded", of_upload, false, put_library},
    {"GET", "/v1/jobs/{job}", "A job with the metrics of its vertices", of_job_query, "", 200,
     "Job", not_found, false, get_job},
    {"GET", "/v1/jobs/{job}/plan", "A job's graph and where it runs", of_job, "", 200, "Plan",
     not_found, false, get_plan},
    {"GET", "/v1/jobs/{job}/log", "A job's log", of_log, "", 200, "Log", not_found, false, get_log},
    {"POST", "/v1/jobs/{job}/cancel", "Ends a job at once", of_job, "", 202, "Job", of_end, false,
     post_cancel},
    {"POST", "/v1/jobs/{job}/savepoint", "Saves a job's state, and ends the job if asked to",
     of_savepoint, "", 200, "Savepoint", of_end, false, post_savepoint},
    {"POST", "/v1/jobs/{job}/stop", "Ends a job's sources, and the job when all is worked off",
     of_job, "", 202, "Job", of_end, false, post_stop},
    {"GET",
     "/v1/taskmanagers",
     "The workers, also those lost lately",
     {},
     "",
     200,
     "TaskManagerList",
     {},
     false,
     get_task_managers},
};

}  // namespace

std::span<const RestRoute> rest_routes() { return routes; }

bool fits(const RestRoute& route, std::string_view path,
          std::map<std::string_view, std::string>& texts) {
  std::string_view pattern = route.path;
  while (!pattern.empty() || !path.empty()) {
    if (pattern.empty() || path.empty()) return false;
    const std::size_t pattern_end = pattern.find('/', 1), path_end = path.find('/', 1);
    const std::string_view part = pattern.substr(0, pattern_end);
    const std::string_view given = path.substr(0, path_end);
    if (part.size() > 1 && part[1] == '{') {
      if (given.size() < 2) return false;
      texts[part.substr(2, part.size() - 3)] = std::string(given.substr(1));
    } else if (part != given) {
      return false;
    }
    pattern = pattern_end == pattern.npos ? "" : pattern.substr(pattern_end);
    path = path_end == path.npos ? "" : path.substr(path_end);
  }
  return true;
}

}  // namespace hummer
