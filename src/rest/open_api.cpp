// The OpenAPI document: routes from the table of routes, schemas from the tables here.
#include <fmt/format.h>

#include "job_library/engine_abi.hpp"
#include "platform/log.hpp"
#include "protocol/job_status.hpp"
#include "rest/rest_routes.hpp"

namespace hummer {
namespace {

// A member of a schema. Types: integer, number, string, boolean, state, counts (an object of
// integers), NAME (another schema), [NAME] and [string], [integer]: arrays. A name that ends with ?
// may be missing.
struct Member {
  std::string_view name;
  std::string_view type;
};
struct Schema {
  std::string_view name;
  std::span<const Member> members;
};

namespace members {

constexpr Member failure[] = {
    {"code", "integer"}, {"message", "string"}, {"library_offset?", "integer"}};
constexpr Member overview[] = {
    {"version", "string"}, {"task_managers", "integer"}, {"task_managers_lost", "integer"},
    {"slots", "integer"},  {"slots_free", "integer"},    {"jobs", "counts"}};
constexpr Member job[] = {{"job", "integer"},
                          {"name", "string"},
                          {"state", "state"},
                          {"slots", "integer"},
                          {"submitted_ms", "integer"},
                          {"started_ms", "integer"},
                          {"ended_ms", "integer"},
                          {"milliseconds", "integer"},
                          {"reason?", "string"},
                          {"failure?", "Failure"},
                          {"records_read?", "integer"},
                          {"bytes_read?", "integer"},
                          {"records_written?", "integer"},
                          {"records_late?", "integer"},
                          {"records_skipped?", "integer"},
                          {"vertices?", "[Vertex]"},
                          {"stuck?", "[string]"},
                          {"version", "integer"},
                          {"attempt", "integer"},
                          {"region_attempts?", "[integer]"},
                          {"restarts", "integer"},
                          {"checkpoints_completed", "integer"},
                          {"checkpoints_failed", "integer"},
                          {"last_checkpoint?", "integer"},
                          {"last_checkpoint_duration_ms?", "integer"},
                          {"last_checkpoint_written_bytes?", "integer"},
                          {"last_checkpoint_path?", "string"},
                          {"failures?", "[AttemptFailure]"}};
constexpr Member attempt_failure[] = {{"attempt", "integer"},
                                      {"wall_time_ms", "integer"},
                                      {"task_manager?", "string"},
                                      {"failure", "Failure"}};
constexpr Member vertex[] = {{"name", "string"},
                             {"parallelism", "integer"},
                             {"tasks_running", "integer"},
                             {"tasks_finished", "integer"},
                             {"subtask_starts?", "[integer]"},
                             {"planned_parallelism?", "integer"},
                             {"shuffle_bytes?", "integer"},
                             {"busy_percent", "integer"},
                             {"idle_percent", "integer"},
                             {"back_pressured_percent", "integer"},
                             {"operators", "[Operator]"}};
constexpr Member operator_metrics[] = {{"name", "string"},
                                       {"kind", "string"},
                                       {"records_in", "integer"},
                                       {"records_out", "integer"},
                                       {"bytes", "integer"},
                                       {"records_late", "integer"},
                                       {"records_skipped", "integer"},
                                       {"metrics?", "[UserMetric]"}};
// A counter has its value in count; a gauge there its subtasks, a histogram its values.
constexpr Member user_metric[] = {{"name", "string"}, {"kind", "string"}, {"count", "integer"},
                                  {"sum?", "number"}, {"min?", "number"}, {"max?", "number"},
                                  {"p50?", "number"}, {"p99?", "number"}};
constexpr Member job_list[] = {{"jobs", "[Job]"}};
constexpr Member plan[] = {{"job", "integer"},        {"plan", "string"},
                           {"fingerprint", "string"}, {"vertices", "[PlanVertex]"},
                           {"edges", "[PlanEdge]"},   {"task_managers", "[string]"}};
constexpr Member plan_vertex[] = {{"id", "integer"},      {"name", "string"},
                                  {"uid", "string"},      {"parallelism", "integer"},
                                  {"bounded", "boolean"}, {"operators", "[PlanOperator]"}};
constexpr Member plan_operator[] = {
    {"name", "string"}, {"uid", "string"}, {"kind", "string"}, {"stateful", "boolean"}};
constexpr Member plan_edge[] = {
    {"from", "integer"}, {"to", "integer"}, {"routing", "string"}, {"network", "string"}};
constexpr Member savepoint[] = {{"complete", "boolean"}, {"path?", "string"}};
constexpr Member log_page[] = {
    {"first_line", "integer"}, {"ended", "boolean"}, {"lines", "[LogLine]"}};
constexpr Member log_line[] = {{"wall_time_ms", "integer"}, {"text", "string"}};
constexpr Member process_log[] = {{"process", "string"},
                                  {"first", "integer"},
                                  {"last", "integer"},
                                  {"lines", "[ProcessLogLine]"}};
constexpr Member process_log_line[] = {
    {"number", "integer"}, {"wall_time_ms", "integer"}, {"level", "string"}, {"module", "string"},
    {"job?", "integer"},   {"attempt?", "integer"},     {"task?", "string"}, {"message", "string"}};
constexpr Member submitted[] = {{"job", "integer"}};
constexpr Member uploaded[] = {{"offset", "integer"}};
constexpr Member task_manager[] = {{"id", "string"},
                                   {"state", "string"},
                                   {"address", "string"},
                                   {"rest_address?", "string"},
                                   {"slots", "integer"},
                                   {"slots_free", "integer"},
                                   {"heartbeat_age_ms", "integer"},
                                   {"reason?", "string"},
                                   {"data_addresses", "[string]"},
                                   {"jobs", "[integer]"},
                                   {"stuck?", "[string]"}};
constexpr Member task_managers[] = {{"task_managers", "[TaskManager]"}};
constexpr Member open_api[] = {{"openapi", "string"}};

}  // namespace members

constexpr Schema schemas[] = {{"AttemptFailure", members::attempt_failure},
                              {"Failure", members::failure},
                              {"Job", members::job},
                              {"JobList", members::job_list},
                              {"Log", members::log_page},
                              {"LogLine", members::log_line},
                              {"OpenApi", members::open_api},
                              {"Operator", members::operator_metrics},
                              {"Overview", members::overview},
                              {"Plan", members::plan},
                              {"PlanEdge", members::plan_edge},
                              {"PlanOperator", members::plan_operator},
                              {"PlanVertex", members::plan_vertex},
                              {"ProcessLog", members::process_log},
                              {"ProcessLogLine", members::process_log_line},
                              {"Savepoint", members::savepoint},
                              {"Submitted", members::submitted},
                              {"TaskManager", members::task_manager},
                              {"TaskManagerList", members::task_managers},
                              {"Uploaded", members::uploaded},
                              {"UserMetric", members::user_metric},
                              {"Vertex", members::vertex}};

void write_states(JsonWriter& json) {
  json.field("type", "string");
  json.begin_array("enum");
  for (int state = wire::JobState_MIN; state <= wire::JobState_MAX; ++state) {
    if (!wire::JobState_IsValid(state) || state == wire::JOB_UNKNOWN) continue;
    json.element(job_state_name(static_cast<wire::JobState>(state)));
  }
  json.end_array();
}

// The members of a schema object for `type`.
void write_type(JsonWriter& json, std::string_view type) {
  if (type.starts_with('[')) {
    json.field("type", "array");
    json.begin_object("items");
    write_type(json, type.substr(1, type.size() - 2));
    json.end_object();
  } else if (type == "integer") {
    json.field("type", "integer");
    json.field("format", "int64");
  } else if (type == "string" || type == "boolean" || type == "number") {
    json.field("type", type);
  } else if (type == "state") {
    write_states(json);
  } else if (type == "counts") {
    json.field("type", "object");
    json.begin_object("additionalProperties");
    write_type(json, "integer");
    json.end_object();
  } else {
    json.field("$ref", fmt::format("#/components/schemas/{}", type));
  }
}

void write_schema(JsonWriter& json, const Schema& schema) {
  json.begin_object(schema.name);
  json.field("type", "object");
  json.begin_array("required");
  for (const Member& member : schema.members) {
    if (!member.name.ends_with('?')) json.element(member.name);
  }
  json.end_array();
  json.begin_object("properties");
  for (const Member& member : schema.members) {
    const bool may_miss = member.name.ends_with('?');
    json.begin_object(member.name.substr(0, member.name.size() - (may_miss ? 1 : 0)));
    write_type(json, member.type);
    json.end_object();
  }
  json.end_object();
  json.end_object();
}

std::string routes_of_task_managers() {
  std::string text;
  for (const RestRoute& route : rest_routes()) {
    if (route.of_task_manager) text += fmt::format("{}{}", text.empty() ? "" : ", ", route.path);
  }
  return text;
}

void write_parameter(JsonWriter& json, const RestParameter& parameter) {
  json.begin_object();
  json.field("name", parameter.name);
  json.field("in", parameter.in_path ? "path" : "query");
  json.field("required", parameter.in_path);
  json.field("description", parameter.description);
  json.begin_object("schema");
  switch (parameter.type) {
    case RestParameterType::number:
      write_type(json, "integer");
      json.field("minimum", 0);
      break;
    case RestParameterType::hash:
      json.field("type", "string");
      json.field("pattern", "^[0-9a-f]{16}$");
      break;
    case RestParameterType::job_state: write_states(json); break;
    case RestParameterType::log_level:
      json.field("type", "string");
      json.begin_array("enum");
      for (const LogLevel level : log_levels) {
        json.element(to_string(level));
      }
      json.end_array();
      break;
    case RestParameterType::boolean: json.field("type", "boolean"); break;
    case RestParameterType::path:
      json.field("type", "string");
      json.field("maxLength", 1024);
      break;
  }
  json.end_object();
  json.end_object();
}

void write_answer(JsonWriter& json, int status, std::string_view content_type,
                  std::string_view schema) {
  json.begin_object(std::to_string(status));
  json.field("description", http_reason(status));
  json.begin_object("content");
  json.begin_object(content_type);
  json.begin_object("schema");
  write_type(json, schema);
  json.end_object();
  json.end_object();
  json.end_object();
  json.end_object();
}

// The content type of its text, as it is answered.
std::string_view text_type(const RestRoute& route) {
  return route.path == "/metrics" ? "text/plain; version=0.0.4; charset=utf-8"
                                  : "text/plain; charset=utf-8";
}

void write_route(JsonWriter& json, const RestRoute& route) {
  std::string method(route.method);
  for (char& c : method) c = static_cast<char>(c - 'A' + 'a');
  json.begin_object(method);
  json.field("summary", route.summary);
  if (!route.parameters.empty()) {
    json.begin_array("parameters");
    for (const RestParameter& parameter : route.parameters) write_parameter(json, parameter);
    json.end_array();
  }
  if (!route.body.empty()) {
    json.begin_object("requestBody");
    json.field("required", true);
    json.begin_object("content");
    json.begin_object(route.body);
    json.begin_object("schema");
    json.field("type", "string");
    json.field("format", "binary");
    json.end_object();
    json.end_object();
    json.end_object();
    json.end_object();
  }
  json.begin_object("responses");
  if (route.answer.empty()) {
    write_answer(json, route.success, text_type(route), "string");
  } else {
    write_answer(json, route.success, "application/json", route.answer);
  }
  const bool may_be_wrong = !route.parameters.empty() || !route.body.empty();
  if (may_be_wrong) write_answer(json, 400, "application/json", "Failure");
  if (!route.open) write_answer(json, 401, "application/json", "Failure");
  if (!route.open) write_answer(json, 403, "application/json", "Failure");
  for (const int status : route.failures) {
    if (route.answer.empty()) {
      write_answer(json, status, text_type(route), "string");
    } else {
      write_answer(json, status, "application/json", "Failure");
    }
  }
  json.end_object();
  if (!route.open) {
    json.begin_array("security");
    json.begin_object();
    json.begin_array("token");
    json.end_array();
    json.end_object();
    json.end_array();
  }
  json.end_object();
}

}  // namespace

std::string open_api_document() {
  JsonWriter json;
  json.begin_object();
  json.field("openapi", "3.0.3");
  json.begin_object("info");
  json.field("title", "Hummer");
  json.field("version", engine_version());
  json.field("description",
             "Jobs and workers of one cluster, at its JobManager. A TaskManager answers " +
                 routes_of_task_managers() +
                 " about itself. Where a process has a token, every request but those for health "
                 "and for this document needs it.");
  json.end_object();
  json.begin_object("paths");
  std::string_view open_path;
  for (const RestRoute& route : rest_routes()) {  // those of one path stand together
    if (route.path != open_path) {
      if (!open_path.empty()) json.end_object();
      json.begin_object(route.path);
      open_path = route.path;
    }
    write_route(json, route);
  }
  json.end_object();
  json.end_object();
  json.begin_object("components");
  json.begin_object("securitySchemes");
  json.begin_object("token");
  json.field("type", "http");
  json.field("scheme", "bearer");
  json.end_object();
  json.end_object();
  json.begin_object("schemas");
  for (const Schema& schema : schemas) write_schema(json, schema);
  json.end_object();
  json.end_object();
  json.end_object();
  return std::move(json).finish();
}

}  // namespace hummer
