#include "simulation/simulated_client.hpp"

#include <fmt/format.h>

#include <utility>

#include "simulation/client_patience.hpp"

namespace hummer::cluster_simulation {

SimulatedClient::SimulatedClient(SimulatedPlatform& node, Context& context)
    : node_(node), context_(context), executor_(node.make_executor({.name = "client"})) {}

SimulatedClient::~SimulatedClient() { executor_->stop(); }

ClusterClientOptions SimulatedClient::options() const {
  ClusterClientOptions options;
  options.job_manager = context_.job_manager_address;
  options.token = context_.token;
  options.patience_ns = seconds(4);
  options.answer_timeout_ns = seconds(2);
  options.over_rest = true;
  return options;
}

void SimulatedClient::note(const Submission& submission, const std::string& text) const {
  if (context_.log) context_.log("client: " + submission.name() + ": " + text);
}

void SimulatedClient::changed(void* context, const wire::JobStatus& status) {
  static_cast<SimulatedClient*>(context)->context_.history.saw_job(status);
}

void SimulatedClient::judge(Submission& submission, const Status& failure) {
  note(submission, failure.to_string());
  if (is_network_trouble(failure)) return;
  if (failure.code() != ErrorCode::not_found) {
    context_.history.violation("a client was refused",
                               submission.name() + ": " + failure.to_string());
    submission.done = true;
    return;
  }
  if (submission.first_job_manager == context_.job_manager) {
    context_.history.violation("a job was forgotten", submission.name());
  }
  submission.renew(context_.random);
}

Task<void> SimulatedClient::pursue(SimulatedClient& self, Submission& submission) {
  co_await sleep_until(submission.at);
  ClusterClientOptions options = self.options();
  ClusterClient client(self.node_, *self.executor_, options);
  while (!submission.done) {
    const int round = submission.round;
    if (submission.first_job_manager < 0) {
      submission.first_job_manager = self.context_.job_manager;
    }
    Result<wire::SubmitJob> request = make_submission(self.node_, submission);
    if (!request.ok()) {
      self.judge(submission, request.status());
      co_return;
    }
    Result<std::uint64_t> job = co_await client.submit(*request, std::string());
    if (!job.ok()) {
      self.judge(submission, job.status());
      co_await sleep_for(pause_ns);
      continue;
    }
    self.note(submission, fmt::format("is job {}", *job));
    if (submission.submit_twice) {
      const int before = self.context_.job_manager;
      Result<std::uint64_t> again = co_await client.submit(*request, std::string());
      if (again.ok() && *again != *job && before == self.context_.job_manager &&
          submission.first_job_manager == before) {
        self.context_.history.violation(
            "one submission, two jobs",
            fmt::format("{} is {} and {}", submission.name(), *job, *again));
      }
      // Perhaps by another JobManager, to which it is another number.
      if (again.ok()) job = std::move(again);
    }
    if (submission.desired_state != wire::DESIRED_RUN &&
        submission.requested_of != client.numbered_by()) {
      self.executor_->spawn(desired_state(self, submission, *job, client.numbered_by(), round));
    }
    Result<wire::JobStatus> end = co_await client.watch(*job, &SimulatedClient::changed, &self);
    if (!end.ok()) {
      self.judge(submission, end.status());
      co_await sleep_for(pause_ns);
      continue;
    }
    if (end->name() != submission.name()) {
      self.context_.history.violation(
          "a job's number was used again",
          fmt::format("{} asked for, {} answered", submission.name(), end->name()));
    }
    self.note(submission,
              fmt::format("{} {}", job_state_name(end->state()), end->failure().message()));
    submission.last = std::move(*end);
    submission.last_job_manager = self.context_.job_manager;
    submission.done = true;
  }
}

Task<void> SimulatedClient::desired_state(SimulatedClient& self, Submission& submission,
                                          std::uint64_t job, std::uint64_t numbered_by, int round) {
  co_await sleep_for(submission.request_after);
  ClusterClientOptions options = self.options();
  options.numbered_by = numbered_by;
  ClusterClient client(self.node_, *self.executor_, options);
  while (!submission.done && submission.round == round) {
    wire::ClientRequest request;
    request.mutable_end()->set_job(job);
    request.mutable_end()->set_desired_state(submission.desired_state);
    submission.request_sent = true;
    const Result<wire::ClientAnswer> answer = co_await client.ask(std::move(request));
    if (answer.ok() && submission.round == round) submission.requested_of = numbered_by;
    // Not answered by the JobManager that has it: whoever submits it again asks again.
    if (answer.ok() || !is_network_trouble(answer.status())) break;
    co_await sleep_for(pause_ns);
  }
}

Task<void> SimulatedClient::observe(SimulatedClient& self) {
  while (true) {
    co_await list(self);
    co_await sleep_for(pause_ns);
  }
}

Task<void> SimulatedClient::list(SimulatedClient& self) {
  ClusterClientOptions options = self.options();
  ClusterClient client(self.node_, *self.executor_, options);
  History& history = self.context_.history;
  const Nanoseconds asked = self.executor_->now();
  const int before = self.context_.job_manager;
  wire::ClientRequest task_managers;
  task_managers.mutable_task_managers();
  Result<wire::ClientAnswer> answer = co_await client.ask(std::move(task_managers));
  if (!answer.ok()) co_return;
  self.task_managers_ = std::move(*answer->mutable_task_managers());
  // What was asked for earlier need not know what is so now.
  if (before == self.context_.job_manager) {
    history.set_now(asked);
    history.saw_task_managers(self.task_managers_);
  }
  wire::ClientRequest jobs;
  jobs.mutable_list();
  answer = co_await client.ask(std::move(jobs));
  if (!answer.ok()) co_return;
  self.jobs_ = std::move(*answer->mutable_list());
  history.set_now(self.executor_->now());
  for (const wire::JobStatus& job : self.jobs_.jobs()) history.saw_job(job);
  ++self.listings_;
}

}  // namespace hummer::cluster_simulation
