#include "simulation/stateful_client.hpp"

#include <fmt/format.h>

#include "control/client/job_status.hpp"

namespace hummer::cluster_simulation {
namespace {

constexpr Nanoseconds pause_ns = milliseconds(700);

}  // namespace

StatefulClient::StatefulClient(SimulatedPlatform& node, StatefulSubmission& submission)
    : node_(node), submission_(submission), executor_(node.make_executor({.name = "client"})) {
  executor_->spawn(pursue(*this));
}

StatefulClient::~StatefulClient() { executor_->stop(); }

void StatefulClient::changed(void* context, const wire::JobStatus& status) {
  static_cast<StatefulClient*>(context)->submission_.last = status;
}

Task<void> StatefulClient::pursue(StatefulClient& self) {
  StatefulSubmission& submission = self.submission_;
  ClusterClientOptions options = submission.client;
  options.numbered_by = submission.numbered_by;
  ClusterClient client(self.node_, *self.executor_, options);
  while (!submission.ended) {
    if (submission.job == 0) {
      const Result<std::uint64_t> job = co_await client.submit(submission.request, std::string());
      if (!job.ok()) {
        co_await sleep_for(pause_ns);
        continue;
      }
      submission.job = *job;
      submission.numbered_by = client.numbered_by();
    }
    Result<wire::JobStatus> end =
        co_await client.watch(submission.job, &StatefulClient::changed, &self);
    if (!end.ok()) {
      if (end.status().code() == ErrorCode::not_found) {
        submission.violation = fmt::format("job {} was taken, and is forgotten: {}", submission.job,
                                           end.status().message());
      }
      co_await sleep_for(pause_ns);
      continue;
    }
    submission.last = std::move(*end);
    submission.ended = true;
  }
}

}  // namespace hummer::cluster_simulation
