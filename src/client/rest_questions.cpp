#include "client/rest_questions.hpp"

#include <fmt/format.h>

#include "protocol/graph_messages.hpp"
#include "rest/job_json.hpp"

namespace hummer {
namespace {

constexpr const char* bytes_type = "application/octet-stream";

HttpQuestion get(std::string target) { return {"GET", std::move(target), "", ""}; }
HttpQuestion post(std::string target) { return {"POST", std::move(target), "", ""}; }

std::string job_path(std::uint64_t job, std::string_view rest = "") {
  return fmt::format("/v1/jobs/{}{}", job, rest);
}

HttpQuestion job_question(const wire::JobQuery& query) {
  if (query.with_graph()) return get(job_path(query.job(), "/plan"));
  return get(fmt::format("{}?version_seen={}&wait_ms={}", job_path(query.job()),
                         query.version_seen(), query.wait_ms()));
}

HttpQuestion upload_question(const wire::LibraryPiece& piece) {
  return {"PUT",
          fmt::format("/v1/libraries/{:016x}?offset={}&total_bytes={}", piece.hash(),
                      piece.offset(), piece.total_bytes()),
          bytes_type, piece.bytes()};
}

// A number in a query has 63 bits.
HttpQuestion savepoint_question(const wire::TakeSavepoint& savepoint) {
  std::string target =
      fmt::format("{}?request_id={}&wait_ms={}&stop={}", job_path(savepoint.job(), "/savepoint"),
                  (savepoint.request_id() >> 1) | 1, savepoint.wait_ms(), savepoint.stop());
  if (!savepoint.directory().empty())
    target += "&directory=" + percent_encoded(savepoint.directory());
  return post(std::move(target));
}

void read_log(JsonValue json, wire::LogPage& page) {
  page.set_first_line(json["first_line"].count());
  page.set_ended(json["ended"].boolean());
  const JsonValue lines = json["lines"];
  for (std::size_t i = 0; i < lines.size(); ++i) {
    wire::LogLine& line = *page.add_lines();
    line.set_wall_time_ms(lines[i]["wall_time_ms"].number());
    line.set_text(lines[i]["text"].text());
  }
}

HttpQuestion process_log_question(const wire::ReadProcessLog& query) {
  std::string target = fmt::format("/v1/logs?after={}", query.after());
  if (!query.level().empty()) target += "&level=" + query.level();
  if (query.job() != 0) target += fmt::format("&job={}", query.job());
  return get(std::move(target));
}

void read_process_log(JsonValue json, wire::ProcessLogPage& page) {
  page.set_process(json["process"].text());
  page.set_first(json["first"].count());
  page.set_last(json["last"].count());
  const JsonValue lines = json["lines"];
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const JsonValue from = lines[i];
    wire::ProcessLogLine& line = *page.add_lines();
    line.set_number(from["number"].count());
    line.set_wall_time_ms(from["wall_time_ms"].number());
    line.set_level(from["level"].text());
    line.set_module(from["module"].text());
    line.set_job(from["job"].count());
    if (from["attempt"].is_there()) {
      line.set_attempt(static_cast<std::uint32_t>(from["attempt"].count()));
    }
    line.set_task(from["task"].text());
    line.set_text(from["message"].text());
  }
}

void read_result(const wire::ClientRequest& request, JsonValue json, wire::ClientAnswer& answer) {
  switch (request.body_case()) {
    case wire::ClientRequest::kSubmit:
      answer.mutable_submitted()->set_job(json["job"].count());
      break;
    case wire::ClientRequest::kUpload:
      answer.mutable_uploaded()->set_offset(json["offset"].count());
      break;
    case wire::ClientRequest::kJob:
      if (request.job().with_graph()) return read_plan(json, *answer.mutable_job());
      return read_job(json, *answer.mutable_job());
    case wire::ClientRequest::kEnd: return read_job(json, *answer.mutable_job());
    case wire::ClientRequest::kList: {
      const JsonValue jobs = json["jobs"];
      answer.mutable_list();
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        read_job(jobs[i], *answer.mutable_list()->add_jobs());
      }
      break;
    }
    case wire::ClientRequest::kLog: return read_log(json, *answer.mutable_log());
    case wire::ClientRequest::kSavepoint:
      answer.mutable_savepoint()->set_path(json["path"].text());
      break;
    case wire::ClientRequest::kProcessLog:
      return read_process_log(json, *answer.mutable_process_log());
    case wire::ClientRequest::kTaskManagers: {
      const JsonValue workers = json["task_managers"];
      answer.mutable_task_managers();
      for (std::size_t i = 0; i < workers.size(); ++i) {
        read_task_manager(workers[i], *answer.mutable_task_managers()->add_task_managers());
      }
      break;
    }
    case wire::ClientRequest::BODY_NOT_SET: break;
  }
}

}  // namespace

HttpQuestion rest_question(const wire::ClientRequest& request) {
  switch (request.body_case()) {
    case wire::ClientRequest::kSubmit:
      return {"POST", "/v1/jobs", bytes_type, request.submit().SerializeAsString()};
    case wire::ClientRequest::kUpload: return upload_question(request.upload());
    case wire::ClientRequest::kJob: return job_question(request.job());
    case wire::ClientRequest::kEnd:
      return post(
          job_path(request.end().job(),
                   request.end().desired_state() == wire::DESIRED_CANCEL ? "/cancel" : "/stop"));
    case wire::ClientRequest::kLog:
      return get(fmt::format("{}?from_line={}&wait_ms={}", job_path(request.log().job(), "/log"),
                             request.log().from_line(), request.log().wait_ms()));
    case wire::ClientRequest::kSavepoint: return savepoint_question(request.savepoint());
    case wire::ClientRequest::kTaskManagers: return get("/v1/taskmanagers");
    case wire::ClientRequest::kProcessLog: return process_log_question(request.process_log());
    case wire::ClientRequest::kList:
    case wire::ClientRequest::BODY_NOT_SET: break;
  }
  return get("/v1/jobs");
}

Result<wire::ClientAnswer> rest_answer(const wire::ClientRequest& request, HttpAnswer answer) {
  const Result<JsonDocument> document = JsonDocument::parse(answer.body);
  if (!document.ok()) {
    // The HTTP server's own refusals are plain text: too many requests, a header that is too long.
    const ErrorCode code = answer.status == 503 ? ErrorCode::timed_out : ErrorCode::protocol_error;
    return Status(code, fmt::format("it answers with HTTP status {} and no JSON: {}", answer.status,
                                    answer.body.substr(0, 200)));
  }
  const JsonValue json = document->root();
  wire::ClientAnswer result;
  if (answer.status >= 200 && answer.status < 300) {
    read_result(request, json, result);
    return result;
  }
  if (request.has_submit() && json["library_offset"].is_there()) {
    result.mutable_submitted()->set_library_offset(json["library_offset"].count());
    return result;
  }
  const auto code = static_cast<std::uint32_t>(json["code"].count());
  if (code == 0) {
    return Status(
        ErrorCode::protocol_error,
        fmt::format("it answers with HTTP status {}, but not as a JobManager does", answer.status));
  }
  result.mutable_failure()->set_code(code);
  result.mutable_failure()->set_message(
      answer.status == 401 && json["message"].text().find("Authorization") != std::string::npos
          ? "the JobManager asks for a token: give --token-file, "
            "or HUMMER_TOKEN"
          : json["message"].text());
  return result;
}

}  // namespace hummer
