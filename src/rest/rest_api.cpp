#include "rest/rest_api.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "observability/log_levels.hpp"
#include "protocol/job_status.hpp"
#include "rest/rest_routes.hpp"

namespace hummer {
namespace {

int http_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::not_found: return 404;
    case ErrorCode::permission_denied: return 403;
    case ErrorCode::limit_exceeded: return 413;
    case ErrorCode::cancelled: return 409;
    case ErrorCode::timed_out: return 503;
    case ErrorCode::invalid_argument:
    case ErrorCode::invalid_configuration:
    case ErrorCode::unknown_option:
    case ErrorCode::invalid_graph:
    case ErrorCode::corrupt_file:
    case ErrorCode::protocol_error: return 400;
    default: return 500;
  }
}

// Encoded in a target it still fits into a request's header.
constexpr std::ptrdiff_t longest_path = 1024;

// Of UTF-8: bytes that continue none.
std::ptrdiff_t characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

bool is_hash(std::string_view text) {
  return text.size() == 16 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool is_job_state(std::string_view text) {
  for (int state = wire::JobState_MIN; state <= wire::JobState_MAX; ++state) {
    if (wire::JobState_IsValid(state) && state != wire::JOB_UNKNOWN &&
        job_state_name(static_cast<wire::JobState>(state)) == text) {
      return true;
    }
  }
  return false;
}

Status check_parameter(const RestParameter& parameter, const std::string& text, RestCall& call) {
  const auto refuse = [&](std::string_view what) {
    return Status(ErrorCode::invalid_argument,
                  fmt::format("'{}' is '{}', but must be {}", parameter.name, text, what));
  };
  switch (parameter.type) {
    case RestParameterType::number: {
      std::uint64_t number = 0;
      const char* const end = text.data() + text.size();
      const auto [rest, error] = std::from_chars(text.data(), end, number);
      if (error != std::errc() || rest != end || number > INT64_MAX) {
        return refuse("a number from 0 to 2^63 - 1");
      }
      call.numbers[parameter.name] = number;
      return {};
    }
    case RestParameterType::hash:
      return is_hash(text) ? Status() : refuse("16 hexadecimal digits in lower case");
    case RestParameterType::job_state:
      return is_job_state(text) ? Status() : refuse("the name of a job state");
    case RestParameterType::log_level:
      return parse_log_level(text).ok() ? Status() : refuse("error, warning, info or debug");
    case RestParameterType::boolean:
      return text == "true" || text == "false" ? Status() : refuse("true or false");
    case RestParameterType::path:
      return characters(text) <= longest_path && text.find('\0') == text.npos
                 ? Status()
                 : refuse("a path of at most 1,024 characters");
  }
  return {};
}

Status check_parameters(const RestRoute& route, RestCall& call) {
  for (const RestParameter& parameter : route.parameters) {
    if (!parameter.in_path) {
      const auto given = call.request.query.find(std::string(parameter.name));
      if (given == call.request.query.end()) continue;
      call.texts[parameter.name] = given->second;
    }
    HUMMER_TRY(check_parameter(parameter, call.texts[parameter.name], call));
  }
  return {};
}

HttpResponse with_status(HttpResponse response, int status) {
  response.status = status;
  return response;
}

}  // namespace

HttpResponse failure_response(const Status& failure) {
  JsonWriter json;
  json.begin_object();
  json.field("code", static_cast<unsigned>(failure.code()));
  json.field("message", failure.message());
  json.end_object();
  HttpResponse response;
  response.status = http_status(failure.code());
  response.body = std::move(json).finish();
  return response;
}

Task<HttpResponse> RestApi::handle(HttpRequest request) {
  HttpResponse response = co_await answer(std::move(request));
  response.headers.emplace_back(numbering_header, std::to_string(backend_.numbering()));
  co_return response;
}

Task<HttpResponse> RestApi::answer(HttpRequest request) {
  RestCall call;
  const RestRoute* found = nullptr;
  std::string allowed;
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  for (const RestRoute& route : rest_routes()) {
    std::map<std::string_view, std::string> texts;
    if (server_ == RestServer::task_manager && !route.of_task_manager) continue;
    if (!fits(route, request.path, texts)) continue;
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", route.method);
    if (route.method != method) continue;
    found = &route;
    call.texts = std::move(texts);
  }
  if (found == nullptr && allowed.empty()) {
    co_return failure_response(
        {ErrorCode::not_found,
         fmt::format("there is nothing at {}; /v1/openapi.json lists what is", request.path)});
  }
  if (found == nullptr) {
    HttpResponse response = with_status(
        failure_response(
            {ErrorCode::invalid_argument,
             fmt::format("{} takes {}, not {}", request.path, allowed, request.method)}),
        405);
    response.headers.emplace_back("Allow", allowed);
    co_return response;
  }
  if (!found->open) {
    std::optional<HttpResponse> refused = refuse(access_, request);
    if (refused) co_return std::move(*refused);
    if (!request.numbering.empty() && request.numbering != std::to_string(backend_.numbering())) {
      co_return failure_response(
          {ErrorCode::not_found, "the JobManager was started again and knows nothing of this job"});
    }
  }
  if (!found->body.empty() && request.content_type != found->body) {
    co_return with_status(
        failure_response(
            {ErrorCode::invalid_argument, fmt::format("the body's type must be {}", found->body)}),
        415);
  }
  call.request = std::move(request);
  const Status checked = check_parameters(*found, call);
  if (!checked.ok()) co_return failure_response(checked);
  co_return co_await found->call(backend_, std::move(call));
}

}  // namespace hummer
