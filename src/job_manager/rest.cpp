// What the REST API asks of the JobManager.
#include <algorithm>

#include "job_manager/job_manager_metrics.hpp"
#include "job_manager/job_manager_state.hpp"

namespace hummer {
namespace {

// For the journal to take what was asked for; the HTTP client then asks again.
constexpr Nanoseconds journal_patience_ns = seconds(10);

// A request that waits, as long as it does.
class Waiting {
 public:
  explicit Waiting(std::list<WakeEvent*>& all) : all_(all), place_(all.insert(all.end(), &event)) {}
  ~Waiting() { all_.erase(place_); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  WakeEvent event;

 private:
  std::list<WakeEvent*>& all_;
  const std::list<WakeEvent*>::iterator place_;
};

}  // namespace

Status JobManager::State::start_rest() {
  RestAccess access;
  access.token = options_.token;
  access.encrypted = options_.tls != nullptr;
  access.names = {host_of(options_.listen_address), host_of(options_.rest_address)};
  rest_api_ = std::make_unique<RestApi>(*this, std::move(access));
  HttpServerOptions options;
  options.tls = options_.tls;
  options.not_let_in = [](void* self, const Status& why, const SocketAddress& from) {
    static_cast<State*>(self)->not_let_in(why, from);
  };
  options.context = this;
  rest_server_ = std::make_unique<HttpServer>(*executor_, *rest_api_, std::move(options));
  if (options_.rest_address.empty()) return {};
  Status status = rest_server_->start(platform_, options_.rest_address);
  rest_listens_ = status.ok();
  if (rest_listens_) return {};
  if (!options_.rest_may_be_missing || status.code() != ErrorCode::address_in_use) {
    return status.with_context("the HTTP interface");
  }
  log().warning("no HTTP port of its own: " + status.message());
  return {};
}

std::optional<SocketAddress> JobManager::State::rest_address() const {
  if (!rest_listens_) return std::nullopt;
  return rest_server_->address();
}

Task<wire::ClientAnswer> JobManager::State::ask(wire::ClientRequest request) {
  wire::ClientAnswer answer;
  const bool is_recorded = request.has_submit() || request.has_end();
  const Nanoseconds begun = executor_->now();
  const Nanoseconds deadline = begun + (is_recorded ? journal_patience_ns : patience(request));
  Waiting waiting(rest_waiting_);
  while (!answer_request(cluster_, request, executor_->now() >= deadline, moment(), answer)) {
    something_happened();
    waiting.event.prepare_wait();
    (void)co_await waiting.event.wait_until(
        std::min(deadline, executor_->now() + ParkedRequests::look_interval_ns));
  }
  something_happened();
  co_return answer;
}

std::string JobManager::State::metrics() {
  return job_manager_metrics(cluster_, counts(), moment(), options_);
}

// A JobManager that listens takes jobs; they wait for their slots there.
Status JobManager::State::ready() { return {}; }

}  // namespace hummer
