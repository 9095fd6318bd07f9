// What the REST API asks of the JobManager.
#include "control/job_manager/job_manager_state.hpp"
#include "control/metrics/job_manager_metrics.hpp"

namespace hummer {
namespace {

// For the journal to take what was asked for; the HTTP client then asks again.
constexpr Nanoseconds journal_patience_ns = seconds(10);
constexpr Nanoseconds look_pause_ns = milliseconds(5);

}  // namespace

Status JobManager::State::start_rest() {
  if (options_.rest_address.empty()) return {};
  rest_api_ = std::make_unique<RestApi>(*this, options_.token);
  HttpServerOptions options;
  options.tls = options_.tls;
  options.not_let_in = [](void* self, const Status& why, const SocketAddress& from) {
    static_cast<State*>(self)->not_let_in(why, from);
  };
  options.context = this;
  rest_server_ = std::make_unique<HttpServer>(*executor_, *rest_api_, std::move(options));
  Status status = rest_server_->start(platform_.network(), options_.rest_address);
  if (status.ok()) return {};
  rest_server_.reset();
  if (!options_.rest_may_be_missing || status.code() != ErrorCode::address_in_use) {
    return status.with_context("the HTTP interface");
  }
  log().warning("no HTTP interface: " + status.message());
  return {};
}

std::optional<SocketAddress> JobManager::State::rest_address() const {
  if (rest_server_ == nullptr) return std::nullopt;
  return rest_server_->address();
}

Task<wire::ClientAnswer> JobManager::State::ask(wire::ClientRequest request) {
  wire::ClientAnswer answer;
  const bool is_recorded = request.has_submit() || request.has_end();
  const Nanoseconds deadline = executor_->now() + (is_recorded ? journal_patience_ns : 0);
  while (!answer_request(cluster_, request, executor_->now() >= deadline, moment(), answer)) {
    something_happened();
    co_await sleep_for(look_pause_ns);
  }
  something_happened();
  co_return answer;
}

std::string JobManager::State::metrics() {
  return job_manager_metrics(cluster_, counts(), moment(), options_.process_log);
}

// A JobManager that listens takes jobs; they wait for their slots there.
Status JobManager::State::ready() { return {}; }

}  // namespace hummer
