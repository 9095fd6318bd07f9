// What the REST API asks of the JobManager.
#include "control/job_manager/job_manager_state.hpp"
#include "control/metrics/job_manager_metrics.hpp"

namespace hummer {

Status JobManager::State::start_rest() {
  if (options_.rest_address.empty()) return {};
  rest_api_ = std::make_unique<RestApi>(*this, options_.token);
  rest_server_ = std::make_unique<HttpServer>(*executor_, *rest_api_, HttpServerOptions());
  Status status = rest_server_->start(platform_.network(), options_.rest_address);
  if (status.ok()) return {};
  rest_server_.reset();
  if (!options_.rest_may_be_missing || status.code() != ErrorCode::address_in_use) {
    return status.with_context("the HTTP interface");
  }
  log("no HTTP interface: " + status.message());
  return {};
}

std::optional<SocketAddress> JobManager::State::rest_address() const {
  if (rest_server_ == nullptr) return std::nullopt;
  return rest_server_->address();
}

Task<wire::ClientAnswer> JobManager::State::ask(wire::ClientRequest request) {
  wire::ClientAnswer answer;
  (void)answer_request(cluster_, request, true, moment(), answer);
  something_happened();
  co_return answer;
}

std::string JobManager::State::metrics() {
  return job_manager_metrics(cluster_, counts(), moment());
}

// A JobManager that listens takes jobs; they wait for their slots there.
Status JobManager::State::ready() { return {}; }

}  // namespace hummer
