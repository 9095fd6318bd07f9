// RestApi: the HTTP interface of a JobManager or TaskManager (docs/rest.md, docs/openapi.json).
//
// One table of routes holds method, path, parameters, answers and handler; requests are matched
// against it, and the OpenAPI document is written from it, so neither knows more than the other.
// What a route does is a ClientRequest like those of the control port, answered by the same code.
//
// Answers are JSON (job_json.hpp); a failure is {"code": 4000, "message": "..."} with the HTTP
// status that fits its ErrorCode. /healthz and /readyz are plain text, and open to everyone who
// reaches the port; rest_access.hpp says who gets answers to the others.
//
// A request that waits (wait_ms) is answered when there is news, or when its time is over.
//
// Thread: the control executor of its process.
#pragma once

#include <string>

#include "base/json_writer.hpp"
#include "http/http_server.hpp"
#include "protocol/control.pb.h"
#include "rest/rest_access.hpp"

namespace hummer {

class ProcessLog;

// What the API asks of its process.
class RestBackend {
 public:
  virtual ~RestBackend() = default;
  virtual Task<wire::ClientAnswer> ask(wire::ClientRequest request) = 0;
  // Prometheus text exposition.
  virtual std::string metrics() = 0;
  // Whether jobs can be taken, or tasks of them; else why not.
  virtual Status ready() = 0;
  virtual std::int64_t wall_time_ms() = 0;
  // The process's log; null: it keeps none.
  virtual const ProcessLog* process_log() { return nullptr; }
  // A random number.
  virtual std::uint64_t draw() = 0;
  // Who numbers the jobs; in every answer (numbering_header). A request that says another one asks
  // for a job of another JobManager's.
  virtual std::uint64_t numbering() const = 0;
};

// Whose interface it is: a TaskManager's has the routes of its own process only.
enum class RestServer : std::uint8_t { job_manager, task_manager };

class RestApi final : public HttpHandler {
 public:
  RestApi(RestBackend& backend, RestAccess access, RestServer server = RestServer::job_manager)
      : backend_(backend), access_(std::move(access)), server_(server) {}

  Task<HttpResponse> handle(HttpRequest request) override;

 private:
  Task<HttpResponse> answer(HttpRequest request);

  RestBackend& backend_;
  const RestAccess access_;
  const RestServer server_;
};

// OpenAPI 3.0, as JSON.
std::string open_api_document();

// The answer for a failure.
HttpResponse failure_response(const Status& failure);

}  // namespace hummer
