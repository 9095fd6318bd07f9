#include "simulation/stateful_client.hpp"

#include <fmt/format.h>

#include "protocol/job_status.hpp"
#include "simulation/client_patience.hpp"

namespace hummer::cluster_simulation {
namespace {

constexpr Nanoseconds request_pause_ns = milliseconds(250);
constexpr std::uint32_t savepoint_wait_ms = 1000;

wire::ClientRequest request_of(const StatefulSubmission& submission) {
  wire::ClientRequest request;
  if (submission.desired_state == StatefulRequest::cancel) {
    request.mutable_end()->set_job(submission.job);
    request.mutable_end()->set_desired_state(wire::DESIRED_CANCEL);
    return request;
  }
  wire::TakeSavepoint& savepoint = *request.mutable_savepoint();
  savepoint.set_job(submission.job);
  savepoint.set_request_id(submission.request_id);
  savepoint.set_stop(submission.desired_state == StatefulRequest::stop_with_savepoint);
  savepoint.set_wait_ms(savepoint_wait_ms);
  return request;
}

// A submission whose entry met a full disk can be in the journal all the same. The JobManager then
// ends that job before it ever started, so whoever asks again with the same id is told its number.
bool was_refused(const wire::JobStatus& end) {
  return end.state() == wire::JOB_FAILED && end.started_ms() == 0 &&
         end.failure().message().find("the job was not taken") != std::string::npos;
}

// A submission that was refused stays so: as a person does, the client submits the job anew.
void submit_anew(StatefulSubmission& submission) {
  submission.job = 0;
  submission.request.set_submission_id(submission.request.submission_id() + 2);
}

}  // namespace

StatefulClient::StatefulClient(SimulatedPlatform& node, StatefulSubmission& submission)
    : node_(node), submission_(submission), executor_(node.make_executor({.name = "client"})) {
  executor_->spawn(pursue(*this));
  executor_->spawn(fulfil(*this));
}

StatefulClient::~StatefulClient() { executor_->stop(); }

void StatefulClient::changed(void* context, const wire::JobStatus& status) {
  static_cast<StatefulClient*>(context)->submission_.last = status;
}

ClusterClientOptions StatefulClient::options() const {
  ClusterClientOptions options = submission_.client;
  options.numbered_by = submission_.numbered_by;
  return options;
}

Task<void> StatefulClient::fulfil(StatefulClient& self) {
  StatefulSubmission& submission = self.submission_;
  while (true) {
    co_await sleep_for(request_pause_ns);
    const std::uint64_t job = submission.job;
    const std::uint64_t request_id = submission.request_id;
    if (job == 0 || submission.desired_state == StatefulRequest::none ||
        submission.request_answered)
      continue;
    ClusterClientOptions options = self.options();
    ClusterClient client(self.node_, *self.executor_, options);
    wire::ClientRequest request = request_of(submission);
    const Result<wire::ClientAnswer> answer = co_await client.ask(std::move(request));
    if (submission.job != job || submission.request_id != request_id) continue;
    if (!answer.ok()) {
      submission.request_answered = !is_network_trouble(answer.status());
      submission.request_failure = answer.status();
      continue;
    }
    if (submission.desired_state != StatefulRequest::cancel && answer->savepoint().path().empty())
      continue;
    submission.savepoint = answer->savepoint().path();
    submission.request_failure = {};
    submission.request_answered = true;
  }
}

Task<void> StatefulClient::pursue(StatefulClient& self) {
  StatefulSubmission& submission = self.submission_;
  ClusterClientOptions options = self.options();
  ClusterClient client(self.node_, *self.executor_, options);
  while (true) {
    if (submission.ended) {
      co_await sleep_for(request_pause_ns);
      continue;
    }
    if (submission.job == 0) {
      const Result<std::uint64_t> job = co_await client.submit(submission.request, std::string());
      if (!job.ok()) {
        if (!is_network_trouble(job.status())) submit_anew(submission);
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
    if (was_refused(*end)) {
      submit_anew(submission);
      continue;
    }
    submission.last = std::move(*end);
    submission.ended = true;
  }
}

}  // namespace hummer::cluster_simulation
