// The surroundings of a JobManager test: the real one on a simulated node, and scripted peers on
// another that speak the protocol by hand.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/detail/key_hash.hpp>

#include "graph/graph_builder_for_test.hpp"
#include "job_manager/job_manager.hpp"
#include "platform/kept_log_for_test.hpp"
#include "platform/simulation.hpp"
#include "platform/task.hpp"
#include "protocol/graph_messages.hpp"
#include "protocol/protocol_version.hpp"

namespace hummer {

class JobManagerRig {
 public:
  explicit JobManagerRig(std::uint64_t seed, JobManagerOptions options = {},
                         SimulationOptions simulated = {})
      : simulation(with_seed(simulated, seed)),
        job_manager_node(&simulation.add_node("jobmanager")),
        peers_node(simulation.add_node("peers")) {
    options.listen_address = "jobmanager:6123";
    options.token = "secret";
    options.first_job = 1;
    options.log = Logger(&log, LogModule::cluster);
    options_ = options;
    start_job_manager();
    executor = peers_node.make_executor({.name = "peers"});
  }
  ~JobManagerRig() {
    executor->stop();
    job_manager.reset();
  }

  // Kills it, if it is not dead already, and starts another over its disk.
  void restart_job_manager(bool power_cut) {
    job_manager_node->kill();
    job_manager.reset();
    if (power_cut) job_manager_node->crash_disk();
    job_manager_node = &simulation.restart_node(*job_manager_node);
    start_job_manager();
  }

  void run(Task<void> script) {
    bool done = false;
    executor->spawn(watch(std::move(script), &done));
    EXPECT_EQ(simulation.run_until([&] { return done; }, simulation.now() + seconds(3600)),
              RunEnd::satisfied)
        << "the script hangs";
  }

  Task<std::unique_ptr<ByteStream>> connect() {
    const Result<SocketAddress> address = peers_node.network().resolve("jobmanager:6123");
    ConnectOptions options;
    Result<std::unique_ptr<ByteStream>> stream =
        co_await peers_node.network().connect(*address, options);
    EXPECT_TRUE(stream.ok()) << stream.status().to_string();
    co_return stream.ok() ? std::move(*stream) : nullptr;
  }

  Nanoseconds now() const { return simulation.now(); }
  bool logged(std::string_view part) const { return log.has(part); }

  Simulation simulation;
  SimulatedPlatform* job_manager_node;
  SimulatedPlatform& peers_node;
  std::unique_ptr<JobManager> job_manager;
  std::unique_ptr<Executor> executor;
  KeptLog log;

 private:
  static SimulationOptions with_seed(SimulationOptions options, std::uint64_t seed) {
    options.seed = seed;
    return options;
  }
  void start_job_manager() {
    job_manager = std::make_unique<JobManager>(*job_manager_node, options_);
    const Status started = job_manager->start();
    EXPECT_TRUE(started.ok()) << started.to_string();
  }
  static Task<void> watch(Task<void> script, bool* done) {
    co_await std::move(script);
    *done = true;
  }
  JobManagerOptions options_;
};

inline wire::Hello hello_of(std::string_view token = "secret") {
  wire::Hello hello;
  hello.set_protocol_version(control_protocol_version);
  hello.set_token(std::string(token));
  return hello;
}

// One connection that has said hello.
class ScriptedPeer {
 public:
  explicit ScriptedPeer(JobManagerRig& the_rig) : rig(the_rig) {}

  // Sends the hello; true when welcomed.
  Task<bool> greet(wire::Hello hello) {
    std::unique_ptr<ByteStream> connection = co_await rig.connect();
    MessageStream::Options options;
    options.limit_bytes = max_message_bytes;
    stream = std::make_unique<MessageStream>(*rig.executor, std::move(connection), options);
    wire::Envelope message;
    *message.mutable_hello() = std::move(hello);
    EXPECT_TRUE(stream->send(message).ok());
    const Result<wire::Envelope> answer = co_await next();
    if (answer.ok() && answer->has_refusal()) refusal = answer->refusal();
    if (!answer.ok() || !answer->has_welcome()) co_return false;
    welcome = answer->welcome();
    co_return true;
  }

  Task<Result<wire::Envelope>> next(Nanoseconds patience = seconds(2)) {
    return stream->receive(rig.now() + patience);
  }
  // Whether the JobManager ends the connection within the time.
  Task<bool> is_closed(Nanoseconds patience) {
    const Nanoseconds deadline = rig.now() + patience;
    while (true) {
      const Result<wire::Envelope> got = co_await stream->receive(deadline);
      if (!got.ok()) co_return got.status().code() != ErrorCode::timed_out;
    }
  }

  JobManagerRig& rig;
  std::unique_ptr<MessageStream> stream;
  wire::Welcome welcome;
  wire::Refusal refusal;
};

class ScriptedWorker : public ScriptedPeer {
 public:
  using ScriptedPeer::ScriptedPeer;

  Task<bool> join(std::string id, std::uint32_t slots, std::uint64_t incarnation = 1,
                  std::uint64_t program_hash = 0) {
    wire::Hello hello = hello_of();
    wire::Registration& registration = *hello.mutable_registration();
    registration.set_id(id);
    registration.set_slots(slots);
    registration.set_incarnation(incarnation);
    registration.set_program_hash(program_hash);
    registration.add_data_addresses()->set_address("10.0.0.9:7000");
    sequence = 0;
    state.Clear();
    const bool welcomed = co_await greet(hello);
    co_return welcomed;
  }

  void send_state() { send_state(welcome.session(), ++sequence); }
  void send_state(std::uint64_t session, std::uint64_t number) {
    wire::Envelope message;
    *message.mutable_task_manager_state() = state;
    message.mutable_task_manager_state()->set_session(session);
    message.mutable_task_manager_state()->set_sequence(number);
    message.mutable_task_manager_state()->set_wants_answer(true);
    const Status unused = stream->send(message);
    (void)unused;
  }
  // Sends the state and waits for the answer to it.
  Task<wire::JobManagerState> beat() {
    send_state();
    while (true) {
      const Result<wire::Envelope> got = co_await next();
      EXPECT_TRUE(got.ok()) << got.status().to_string();
      if (!got.ok()) co_return wire::JobManagerState();
      if (!got->has_job_manager_state()) continue;
      if (got->job_manager_state().state_seen() >= sequence) co_return got->job_manager_state();
    }
  }
  // Until the JobManager's state fits; heartbeats ten times a second meanwhile.
  template <typename Predicate>
  Task<wire::JobManagerState> until(Predicate predicate) {
    for (int i = 0; i < 600; ++i) {
      const wire::JobManagerState got = co_await beat();
      if (predicate(got)) co_return got;
      co_await sleep_for(milliseconds(100));
    }
    ADD_FAILURE() << "the JobManager's state never fits";
    co_return wire::JobManagerState();
  }
  Task<void> until_assigned(std::uint64_t job) {
    const wire::JobManagerState got = co_await until([&](const wire::JobManagerState& theirs) {
      for (const wire::Assignment& each : theirs.assignments()) {
        if (each.job() == job) return true;
      }
      return false;
    });
    (void)got;
  }
  // Asks for the deployment and has it.
  Task<wire::Deployment> fetch(std::uint64_t job) {
    co_await until_assigned(job);
    wire::AttemptKey& key = *state.add_wanted();
    key.set_job(job);
    key.set_attempt(1);
    const wire::JobManagerState got = co_await beat();
    state.clear_wanted();
    report(job, wire::ATTEMPT_PREPARING);
    for (const wire::Assignment& each : got.assignments()) {
      if (each.job() == job && each.has_deployment()) co_return each.deployment();
    }
    ADD_FAILURE() << "no deployment came";
    co_return wire::Deployment();
  }
  // What the next state says of the job.
  wire::AttemptReport& report(std::uint64_t job, wire::AttemptState what) {
    wire::AttemptReport* found = nullptr;
    for (wire::AttemptReport& each : *state.mutable_attempts()) {
      if (each.job() == job) found = &each;
    }
    if (found == nullptr) found = state.add_attempts();
    found->set_job(job);
    found->set_attempt(1);
    found->set_state(what);
    return *found;
  }
  void report_failure(std::uint64_t job, ErrorCode code, std::string text, bool consequence) {
    wire::AttemptReport& failed = report(job, wire::ATTEMPT_FAILED);
    to_message(Status(code, std::move(text)), *failed.mutable_failure());
    failed.set_consequence(consequence);
  }
  void forget(std::uint64_t job) {
    for (int i = 0; i < state.attempts_size(); ++i) {
      if (state.attempts(i).job() != job) continue;
      state.mutable_attempts()->DeleteSubrange(i, 1);
      return;
    }
  }
  // Gets the deployment and reports that it runs.
  Task<void> run_job(std::uint64_t job) {
    const wire::Deployment unused = co_await fetch(job);
    report(job, wire::ATTEMPT_RUNNING);
    const wire::JobManagerState unused_too = co_await beat();
  }

  std::uint64_t sequence = 0;
  wire::TaskManagerState state;
};

inline wire::SubmitJob job_of(std::uint64_t submission, std::uint32_t parallelism) {
  wire::SubmitJob job;
  job.set_submission_id(submission);
  const Result<JobGraph> graph = fuse(word_count().graph);
  to_message(*graph, *job.mutable_graph());
  job.mutable_options()->set_parallelism(parallelism);
  job.set_library_hash(77);
  return job;
}

class ScriptedClient : public ScriptedPeer {
 public:
  using ScriptedPeer::ScriptedPeer;

  Task<bool> join() {
    const bool welcomed = co_await greet(hello_of());
    co_return welcomed;
  }
  Task<wire::ClientAnswer> ask(wire::ClientRequest request) {
    request.set_id(++asked);
    wire::Envelope message;
    *message.mutable_client_request() = std::move(request);
    const Status sent = stream->send(message);
    EXPECT_TRUE(sent.ok());
    const Result<wire::Envelope> got = co_await next(seconds(100));
    EXPECT_TRUE(got.ok() && got->has_client_answer()) << got.status().to_string();
    if (!got.ok()) co_return wire::ClientAnswer();
    EXPECT_EQ(got->client_answer().id(), asked);
    co_return got->client_answer();
  }
  Task<std::uint64_t> submit(wire::SubmitJob job) {
    wire::ClientRequest request;
    *request.mutable_submit() = std::move(job);
    const wire::ClientAnswer answer = co_await ask(std::move(request));
    EXPECT_FALSE(answer.has_failure()) << answer.failure().message();
    co_return answer.submitted().job();
  }
  Task<wire::JobStatus> status(std::uint64_t job, std::uint64_t version_seen = 0,
                               std::uint32_t wait_ms = 0) {
    wire::ClientRequest request;
    request.mutable_job()->set_job(job);
    request.mutable_job()->set_version_seen(version_seen);
    request.mutable_job()->set_wait_ms(wait_ms);
    const wire::ClientAnswer answer = co_await ask(std::move(request));
    co_return answer.job();
  }
  Task<void> end(std::uint64_t job, wire::DesiredState desired_state) {
    wire::ClientRequest request;
    request.mutable_end()->set_job(job);
    request.mutable_end()->set_desired_state(desired_state);
    const wire::ClientAnswer answer = co_await ask(std::move(request));
    EXPECT_FALSE(answer.has_failure()) << answer.failure().message();
  }

  std::uint64_t asked = 0;
};

}  // namespace hummer
