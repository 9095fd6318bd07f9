// TaskManagers under the simulated platform, with a JobManager that does what the test says.
#include "task_manager/task_manager.hpp"

#include "execution/deployed_jobs_for_test.hpp"
#include "task_manager/scripted_job_manager_for_test.hpp"
#include "task_manager/state_message.hpp"

namespace hummer::task_manager_test {
namespace {

constexpr std::uint64_t spread_hash = 1;
constexpr std::uint64_t endless_hash = 2;
constexpr std::uint64_t failing_hash = 3;
constexpr std::uint64_t throwing_hash = 4;
constexpr std::uint64_t fetched_hash = 5;
constexpr std::uint64_t aligned_hash = 6;
constexpr std::uint64_t one_source_hash = 7;
constexpr AttemptId first{7, 1};

// Built in, but for one that has to be fetched first.
class TestLibraries final : public JobLibraries {
 public:
  TestLibraries() {
    built_in_.add(spread_hash, &spread_job);
    built_in_.add(endless_hash, &endless_job);
    built_in_.add(failing_hash, &failing_job);
    built_in_.add(throwing_hash, &throwing_job);
    built_in_.add(aligned_hash, &aligned_job);
    built_in_.add(one_source_hash, &one_source_job);
  }
  JobFunction find(std::uint64_t hash) override { return built_in_.find(hash); }
  Result<JobFunction> load(std::uint64_t hash, std::string_view bytes) override {
    ++loads;
    loaded = bytes;
    built_in_.add(hash, &spread_job);
    return &spread_job;
  }
  int loads = 0;
  std::string loaded;

 private:
  BuiltInJobLibraries built_in_;
};

class TaskManagerTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  TaskManagerTest() : simulation_({.seed = GetParam()}) {
    TestSink::instance().clear();
    job_manager_node_ = &simulation_.add_node("jobmanager");
    for (const char* name : {"a", "b"}) nodes_.push_back(&simulation_.add_node(name));
  }
  ~TaskManagerTest() override {
    for (auto& manager : managers_) manager->stop();
    managers_.clear();
    job_manager_.reset();
  }

  void start_job_manager(ScriptedJobManager::Options options = {}) {
    job_manager_ = std::make_unique<ScriptedJobManager>(*job_manager_node_, options);
  }
  TaskManagerOptions options_for(const std::string& id) const {
    TaskManagerOptions options;
    options.id = id;
    options.host = id;
    options.job_manager = "jobmanager:6123";
    options.token = "secret";
    options.slots = 4;
    options.data_addresses = {"*:0"};
    return options;
  }
  TaskManager& add(std::size_t node, TaskManagerOptions options) {
    managers_.push_back(
        std::make_unique<TaskManager>(*nodes_[node], libraries_, std::move(options)));
    const Status started = managers_.back()->start();
    EXPECT_TRUE(started.ok()) << started.to_string();
    return *managers_.back();
  }
  void start_two() {
    start_job_manager();
    add(0, options_for("a"));
    add(1, options_for("b"));
    ASSERT_TRUE(until([&] { return managers_[0]->registered() && managers_[1]->registered(); }));
  }
  bool until(const std::function<bool()>& predicate, Nanoseconds patience = seconds(30)) {
    return simulation_.run_until(predicate, simulation_.now() + patience) == RunEnd::satisfied;
  }
  void let_pass(Nanoseconds duration) {
    (void)simulation_.run_until([] { return false; }, simulation_.now() + duration);
  }
  bool until_state(const AttemptId& id, wire::AttemptState state, const char* worker = nullptr) {
    return until([&] {
      if (worker != nullptr) return jobs().state(worker, id) == state;
      return jobs().state("a", id) == state && jobs().state("b", id) == state;
    });
  }
  ScriptedJobManager& jobs() { return *job_manager_; }
  wire::Registration registration(const std::string& id) { return jobs().worker(id).registration; }
  // On both.
  void deploy(JobFunction function, std::uint64_t hash, const AttemptId& id,
              const std::vector<std::string>& arguments = {}) {
    const auto deployments =
        make_deployments(function, hash, {registration("a"), registration("b")}, 4, arguments);
    jobs().want("a", id, {wire::DESIRED_RUN, deployments[0]});
    jobs().want("b", id, {wire::DESIRED_RUN, deployments[1]});
  }
  void omit(const AttemptId& id) {
    jobs().omit("a", id);
    jobs().omit("b", id);
  }
  // Over both, of the vertex at the head or the end of the job's chains.
  std::uint64_t total(const std::string& which, const AttemptId& id,
                      std::uint64_t (wire::OperatorMetrics::*metric)() const) {
    std::uint64_t sum = 0;
    for (const char* worker_id : {"a", "b"}) {
      const std::vector<wire::VertexMetrics> metrics = jobs().worker(worker_id).metrics.at(id);
      const wire::VertexMetrics& vertex = which == "generate" ? metrics.front() : metrics.back();
      const int at = which == "generate" ? 0 : vertex.operators_size() - 1;
      sum += (vertex.operators(at).*metric)();
    }
    return sum;
  }
  static std::vector<std::uint64_t> spread_output() {
    std::vector<std::uint64_t> records;
    for (std::uint64_t i = 0; i < spread_count; ++i) records.push_back(2 * i);
    return records;
  }

  Simulation simulation_;
  SimulatedPlatform* job_manager_node_;
  std::vector<SimulatedPlatform*> nodes_;
  TestLibraries libraries_;
  LosePieces lose_;
  std::unique_ptr<ScriptedJobManager> job_manager_;
  std::vector<std::unique_ptr<TaskManager>> managers_;
};

// ---- registration ----

TEST_P(TaskManagerTest, RegistersWithWhatItHasAndSendsHeartbeats) {
  start_job_manager();
  TaskManagerOptions options = options_for("a");
  options.data_addresses = {"eth0=*:0", "eth1=10.0.0.2:7001"};
  options.program_hash = 99;
  TaskManager& manager = add(0, options);
  ASSERT_TRUE(until([&] { return manager.registered(); }));
  ASSERT_TRUE(until([&] { return jobs().worker("a").states >= 5; }));
  const ScriptedJobManager::Worker worker = jobs().worker("a");
  EXPECT_EQ(worker.token, "secret");
  EXPECT_EQ(worker.registration.slots(), 4u);
  EXPECT_EQ(worker.registration.host(), "a");
  EXPECT_EQ(worker.registration.program_hash(), 99u);
  EXPECT_NE(worker.registration.incarnation(), 0u);
  ASSERT_EQ(worker.registration.data_addresses_size(), 2);
  EXPECT_EQ(worker.registration.data_addresses(0).interface(), "eth0");
  EXPECT_EQ(worker.registration.data_addresses(0).address().find("10.0.0.2:"), 0u)
      << worker.registration.data_addresses(0).address();
  EXPECT_EQ(worker.registration.data_addresses(1).address(), "10.0.0.2:7001");
  EXPECT_EQ(worker.registrations, 1);
  EXPECT_TRUE(manager.refusal().ok());
}

TEST_P(TaskManagerTest, KeepsTryingUntilThereIsAJobManager) {
  TaskManager& manager = add(0, options_for("a"));
  let_pass(seconds(20));
  EXPECT_FALSE(manager.registered());
  start_job_manager();
  EXPECT_TRUE(until([&] { return manager.registered(); }, seconds(15)));
}

TEST_P(TaskManagerTest, ARefusalForGoodEndsRegistering) {
  start_job_manager();
  wire::Refusal refusal;
  to_message(Status(ErrorCode::permission_denied, "the token is not valid"),
             *refusal.mutable_failure());
  jobs().refuse_next(refusal, 1);
  TaskManager& manager = add(0, options_for("a"));
  ASSERT_TRUE(until([&] { return !manager.refusal().ok(); }));
  EXPECT_EQ(manager.refusal().code(), ErrorCode::permission_denied);
  let_pass(seconds(20));
  EXPECT_FALSE(manager.registered());
}

TEST_P(TaskManagerTest, ARefusalThatMayPassIsTriedAgain) {
  start_job_manager();
  wire::Refusal refusal;
  to_message(Status(ErrorCode::address_in_use, "the id is in use"), *refusal.mutable_failure());
  refusal.set_may_retry(true);
  jobs().refuse_next(refusal, 3);
  TaskManager& manager = add(0, options_for("a"));
  ASSERT_TRUE(until([&] { return manager.registered(); }));
  EXPECT_TRUE(manager.refusal().ok());
}

TEST_P(TaskManagerTest, AWrongDataAddressIsAFailureOfStart) {
  for (const char* wrong : {"eth1", "eth1=192.168.77.77:0"}) {
    TaskManagerOptions options = options_for("a");
    options.data_addresses = {wrong};
    TaskManager manager(*nodes_[0], libraries_, options);
    const Status started = manager.start();
    ASSERT_FALSE(started.ok()) << wrong;
    EXPECT_NE(started.message().find(wrong), std::string::npos) << started.to_string();
  }
}

// ---- jobs ----

TEST_P(TaskManagerTest, AJobRunsAcrossTwo) {
  start_two();
  deploy(&spread_job, spread_hash, first);
  ASSERT_TRUE(until_state(first, wire::ATTEMPT_FINISHED))
      << jobs().report("a", first).failure().message();
  EXPECT_EQ(TestSink::instance().sorted(), spread_output());
  EXPECT_EQ(managers_[0]->attempts(), 0u);
  // Metrics and log of both add up.
  std::uint64_t written = 0;
  for (const char* id : {"a", "b"}) {
    const ScriptedJobManager::Worker worker = jobs().worker(id);
    const std::vector<wire::VertexMetrics>& metrics = worker.metrics.at(first);
    written += metrics.back().operators(metrics.back().operators_size() - 1).records_in();
    EXPECT_EQ(metrics.back().tasks_finished(), 2u);
    EXPECT_EQ(metrics.back().tasks_running(), 0u);
    ASSERT_FALSE(worker.log.at(first).empty());
    EXPECT_EQ(worker.log.at(first).back(), "finished");
  }
  EXPECT_EQ(written, spread_count);
  // The end stays until it is not named any more.
  let_pass(milliseconds(500));
  EXPECT_EQ(jobs().state("a", first), wire::ATTEMPT_FINISHED);
  omit(first);
  EXPECT_TRUE(until([&] { return jobs().worker("a").state.attempts().empty(); }));
}

TEST_P(TaskManagerTest, AnAlignmentThatEndsAtTheProcessIsSaidOnce) {
  start_two();
  const auto says_so = [&](const char* id, AttemptId attempt) {
    const auto log = jobs().worker(id).log[attempt];
    return std::count_if(log.begin(), log.end(), [](const std::string& line) {
      return line.find("alignment run on several TaskManagers") != std::string::npos;
    });
  };
  deploy(&aligned_job, aligned_hash, first);
  ASSERT_TRUE(until_state(first, wire::ATTEMPT_FINISHED));
  EXPECT_EQ(says_so("a", first) + says_so("b", first), 1);
  EXPECT_EQ(TestSink::instance().sorted(), spread_output());
  omit(first);
  deploy(&spread_job, spread_hash, {8, 1});
  ASSERT_TRUE(until_state({8, 1}, wire::ATTEMPT_FINISHED));
  EXPECT_EQ(says_so("a", {8, 1}) + says_so("b", {8, 1}), 0);
}

TEST_P(TaskManagerTest, AnEdgeUsesTheInterfaceThatItNames) {
  start_job_manager();
  TaskManagerOptions a = options_for("a");
  TaskManagerOptions b = options_for("b");
  // The first address of b is one where nobody listens for data of this job's edge.
  a.data_addresses = {"eth0=127.0.0.1:0", "eth1=10.0.0.2:0"};
  b.data_addresses = {"eth0=127.0.0.1:0", "eth1=10.0.0.3:0"};
  add(0, a);
  add(1, b);
  ASSERT_TRUE(until([&] { return managers_[0]->registered() && managers_[1]->registered(); }));
  deploy(&spread_job, spread_hash, first, {"--interface", "eth1"});
  ASSERT_TRUE(until_state(first, wire::ATTEMPT_FINISHED));
  EXPECT_EQ(TestSink::instance().sorted(), spread_output());
}

TEST_P(TaskManagerTest, AnInterfaceThatThePeerDoesNotHaveIsNamed) {
  start_two();
  deploy(&spread_job, spread_hash, first, {"--interface", "eth9"});
  ASSERT_TRUE(until_state(first, wire::ATTEMPT_FAILED));
  const std::string message = jobs().report("a", first).failure().message();
  EXPECT_NE(message.find("eth9"), std::string::npos) << message;
  EXPECT_NE(message.find("10.0.0."), std::string::npos) << message;
}

TEST_P(TaskManagerTest, TwoJobsRunAtOnce) {
  start_two();
  deploy(&endless_job, endless_hash, first);
  ASSERT_TRUE(until_state(first, wire::ATTEMPT_RUNNING));
  TestSink::instance().clear();
  deploy(&spread_job, spread_hash, {8, 1});
  ASSERT_TRUE(until_state({8, 1}, wire::ATTEMPT_FINISHED));
  EXPECT_EQ(jobs().state("a", first), wire::ATTEMPT_RUNNING);
  EXPECT_EQ(managers_[0]->attempts(), 1u);
}

TEST_P(TaskManagerTest, StopEndsAJobInGoodOrderAndCancelEndsItAtOnce) {
  start_two();
  deploy(&endless_job, endless_hash, first);
  deploy(&endless_job, endless_hash, {8, 1});
  ASSERT_TRUE(until_state(first, wire::ATTEMPT_RUNNING));
  ASSERT_TRUE(until_state({8, 1}, wire::ATTEMPT_RUNNING));
  for (const char* id : {"a", "b"}) {
    jobs().desired_state(id, first, wire::DESIRED_STOP);
    jobs().desired_state(id, {8, 1}, wire::DESIRED_CANCEL);
  }
  EXPECT_TRUE(until_state(first, wire::ATTEMPT_FINISHED));
  EXPECT_EQ(total("generate", first, &wire::OperatorMetrics::records_out),
            total("for_each", first, &wire::OperatorMetrics::records_in))
      << "what was under way is lost";
  // The first that hears of it takes its peers with it.
  ASSERT_TRUE(until([&] { return has_ended(jobs().state("a", {8, 1})); }));
  ASSERT_TRUE(until([&] { return has_ended(jobs().state("b", {8, 1})); }));
  int cancelled = 0;
  for (const char* id : {"a", "b"}) {
    const wire::AttemptReport report = jobs().report(id, {8, 1});
    EXPECT_TRUE(report.state() == wire::ATTEMPT_CANCELLED || report.consequence())
        << report.failure().message();
    cancelled += report.state() == wire::ATTEMPT_CANCELLED ? 1 : 0;
  }
  EXPECT_GE(cancelled, 1);
}

// A disk that writes slowly must make no checkpoint count as one that is not aligned in time.
TEST_P(TaskManagerTest, ABarrierThatComesBeforeTheJobManagersWordIsSaidToHavePassed) {
  start_two();
  auto deployments =
      make_deployments(&one_source_job, one_source_hash, {registration("a"), registration("b")}, 4);
  for (wire::Deployment& each : deployments) {
    CheckpointOptions options;
    options.directory = "/checkpoints";
    options.unaligned = true;
    options.alignment_timeout_ms = 1000;
    options.step_bytes = 1;
    to_message(options, *each.mutable_options()->mutable_checkpointing());
  }
  jobs().want("a", first, {wire::DESIRED_RUN, deployments[0]});
  jobs().want("b", first, {wire::DESIRED_RUN, deployments[1]});
  ASSERT_TRUE(until_state(first, wire::ATTEMPT_RUNNING));
  let_pass(milliseconds(300));
  ASSERT_TRUE(nodes_[1]->files().create_directories("/checkpoints/1").ok());
  simulation_.options().disk_operation_minimum_ns = milliseconds(20);
  simulation_.options().disk_operation_maximum_ns = milliseconds(20);
  jobs().begin_checkpoint("a", first, 1, "/checkpoints/1");
  let_pass(milliseconds(300));
  jobs().begin_checkpoint("b", first, 1, "/checkpoints/1");
  EXPECT_TRUE(until(
      [&] {
        const wire::AttemptReport report = jobs().report("b", first);
        return !report.snapshots().empty() && report.snapshots(0).checkpoint() == 1 &&
               report.snapshots(0).passed();
      },
      seconds(2)));
}

TEST_P(TaskManagerTest, WhatIsNotNamedAnyMoreIsCancelledAndForgotten) {
  start_two();
  deploy(&endless_job, endless_hash, first);
  ASSERT_TRUE(until_state(first, wire::ATTEMPT_RUNNING));
  omit(first);
  EXPECT_TRUE(until([&] {
    return managers_[0]->attempts() == 0 && managers_[1]->attempts() == 0 &&
           jobs().worker("a").state.attempts().empty();
  }));
}

TEST_P(TaskManagerTest, AFailingUserFunctionFailsItsJobAndNothingElse) {
  start_two();
  deploy(&endless_job, endless_hash, {8, 1});
  ASSERT_TRUE(until_state({8, 1}, wire::ATTEMPT_RUNNING));
  deploy(&failing_job, failing_hash, first);
  ASSERT_TRUE(until([&] {
    return jobs().state("a", first) == wire::ATTEMPT_FAILED ||
           jobs().state("b", first) == wire::ATTEMPT_FAILED;
  }));
  const bool at_a = jobs().state("a", first) == wire::ATTEMPT_FAILED;
  const wire::AttemptReport report = jobs().report(at_a ? "a" : "b", first);
  EXPECT_FALSE(report.consequence());
  EXPECT_EQ(status_from(report.failure()).code(), ErrorCode::user_function_failed);
  for (const char* part : {"'map'", "index 400", "the boiler is on fire"}) {
    EXPECT_NE(report.failure().message().find(part), std::string::npos)
        << report.failure().message();
  }
  omit(first);
  EXPECT_TRUE(until([&] { return managers_[0]->attempts() == 1; }));
  EXPECT_EQ(jobs().state("a", {8, 1}), wire::ATTEMPT_RUNNING);
  EXPECT_TRUE(managers_[0]->registered());
}

TEST_P(TaskManagerTest, ThePeersOfAFailedPartFailAsAConsequence) {
  start_two();
  deploy(&endless_job, endless_hash, first);
  ASSERT_TRUE(until_state(first, wire::ATTEMPT_RUNNING));
  jobs().omit("b", first);
  ASSERT_TRUE(until_state(first, wire::ATTEMPT_FAILED, "a"));
  EXPECT_TRUE(jobs().report("a", first).consequence())
      << jobs().report("a", first).failure().message();
}

TEST_P(TaskManagerTest, AJobFunctionThatThrowsFailsItsJob) {
  start_two();
  std::vector<wire::Deployment> deployments =
      make_deployments(&spread_job, throwing_hash, {registration("a")}, 2);
  jobs().want("a", first, {wire::DESIRED_RUN, deployments[0]});
  ASSERT_TRUE(until_state(first, wire::ATTEMPT_FAILED, "a"));
  const std::string message = jobs().report("a", first).failure().message();
  EXPECT_NE(message.find("no graph today"), std::string::npos) << message;
}

TEST_P(TaskManagerTest, AnotherFingerprintOrPlacementIsRefusedNamingBoth) {
  start_two();
  std::vector<wire::Deployment> deployments =
      make_deployments(&spread_job, endless_hash, {registration("a")}, 2);
  jobs().want("a", first, {wire::DESIRED_RUN, deployments[0]});
  deployments = make_deployments(&spread_job, spread_hash, {registration("a")}, 2);
  deployments[0].set_execution_hash(0xabcdef);
  jobs().want("a", {8, 1}, {wire::DESIRED_RUN, deployments[0]});
  deployments[0].set_task_manager(5);
  jobs().want("a", {9, 1}, {wire::DESIRED_RUN, deployments[0]});
  ASSERT_TRUE(until_state(first, wire::ATTEMPT_FAILED, "a"));
  ASSERT_TRUE(until_state({8, 1}, wire::ATTEMPT_FAILED, "a"));
  ASSERT_TRUE(until_state({9, 1}, wire::ATTEMPT_FAILED, "a"));
  const std::string message = jobs().report("a", first).failure().message();
  EXPECT_NE(message.find("fingerprint"), std::string::npos) << message;
  EXPECT_NE(jobs().report("a", {8, 1}).failure().message().find("0000000000abcdef"),
            std::string::npos);
  EXPECT_EQ(TestSink::instance().size(), 0u);
}

// ---- libraries ----

TEST_P(TaskManagerTest, ALibraryIsPulledInPiecesOnceForTwoJobs) {
  lose_.set(5);
  ScriptedJobManager::Options options;
  options.faults = &lose_;
  start_job_manager(options);
  add(0, options_for("a"));
  ASSERT_TRUE(until([&] { return managers_[0]->registered(); }));
  std::string library;
  for (int i = 0; i < 955; ++i) library += static_cast<char>('a' + i % 26);
  jobs().add_library(fetched_hash, library);
  std::vector<wire::Deployment> deployments =
      make_deployments(&spread_job, fetched_hash, {registration("a")}, 2);
  deployments[0].set_library_bytes(library.size());
  jobs().want("a", first, {wire::DESIRED_RUN, deployments[0]});
  jobs().want("a", {8, 1}, {wire::DESIRED_RUN, deployments[0]});
  ASSERT_TRUE(until_state(first, wire::ATTEMPT_FINISHED, "a"));
  ASSERT_TRUE(until_state({8, 1}, wire::ATTEMPT_FINISHED, "a"));
  EXPECT_EQ(libraries_.loaded, library);
  // 10 pieces, and one more request for each that was lost.
  EXPECT_EQ(jobs().library_requests(), 15);
}

TEST_P(TaskManagerTest, ALibraryThatTheJobManagerLacksFailsTheJob) {
  start_two();
  std::vector<wire::Deployment> deployments =
      make_deployments(&spread_job, fetched_hash, {registration("a")}, 2);
  deployments[0].set_library_bytes(100);
  jobs().want("a", first, {wire::DESIRED_RUN, deployments[0]});
  deployments[0].set_library_bytes(0);  // of another executable
  jobs().want("a", {8, 1}, {wire::DESIRED_RUN, deployments[0]});
  ASSERT_TRUE(until_state(first, wire::ATTEMPT_FAILED, "a"));
  ASSERT_TRUE(until_state({8, 1}, wire::ATTEMPT_FAILED, "a"));
  EXPECT_EQ(status_from(jobs().report("a", first).failure()).code(), ErrorCode::not_found);
  EXPECT_NE(jobs().report("a", {8, 1}).failure().message().find("another program"),
            std::string::npos);
}

TEST_P(TaskManagerTest, CancelWhileTheLibraryIsOnItsWay) {
  lose_.set(1'000'000);
  ScriptedJobManager::Options options;
  options.faults = &lose_;
  options.piece_bytes = 1;
  start_job_manager(options);
  add(0, options_for("a"));
  ASSERT_TRUE(until([&] { return managers_[0]->registered(); }));
  jobs().add_library(fetched_hash, std::string(1000, 'x'));
  std::vector<wire::Deployment> deployments =
      make_deployments(&spread_job, fetched_hash, {registration("a")}, 2);
  deployments[0].set_library_bytes(1000);
  jobs().want("a", first, {wire::DESIRED_RUN, deployments[0]});
  ASSERT_TRUE(until([&] { return jobs().library_requests() > 3; }));
  EXPECT_EQ(jobs().state("a", first), wire::ATTEMPT_PREPARING);
  jobs().desired_state("a", first, wire::DESIRED_CANCEL);
  ASSERT_TRUE(until_state(first, wire::ATTEMPT_CANCELLED, "a"));
  const int requests = jobs().library_requests();
  let_pass(seconds(5));
  EXPECT_EQ(jobs().library_requests(), requests);
}

// ---- states ----

TEST_P(TaskManagerTest, OvertakenAndForeignStatesChangeNothing) {
  start_two();
  deploy(&endless_job, endless_hash, first);
  ASSERT_TRUE(until_state(first, wire::ATTEMPT_RUNNING));
  wire::JobManagerState overtaken = jobs().last_answer("a");
  overtaken.clear_assignments();
  wire::JobManagerState foreign = overtaken;
  foreign.set_session(overtaken.session() + 100);
  foreign.set_sequence(overtaken.sequence() + 1'000'000);
  wire::JobManagerState repeated = jobs().last_answer("a");
  jobs().inject("a", overtaken);
  jobs().inject("a", foreign);
  jobs().inject("a", repeated);
  const int states = jobs().worker("a").states;
  ASSERT_TRUE(until([&] { return jobs().worker("a").states > states + 5; }));
  EXPECT_EQ(jobs().state("a", first), wire::ATTEMPT_RUNNING);
  EXPECT_EQ(jobs().worker("a").registrations, 1);
}

TEST_P(TaskManagerTest, TwoAttemptsOfOneJobNeverRunAtOnce) {
  start_two();
  deploy(&endless_job, endless_hash, first);
  ASSERT_TRUE(until_state(first, wire::ATTEMPT_RUNNING));
  // Named side by side, which no sane JobManager does: the second waits.
  const AttemptId second{7, 2};
  deploy(&spread_job, spread_hash, second);
  ASSERT_TRUE(until_state(second, wire::ATTEMPT_PREPARING));
  let_pass(seconds(2));
  EXPECT_EQ(jobs().state("a", second), wire::ATTEMPT_PREPARING);
  EXPECT_EQ(managers_[0]->attempts(), 1u);
  omit(first);
  ASSERT_TRUE(until_state(second, wire::ATTEMPT_FINISHED));
}

TEST_P(TaskManagerTest, CancelledBeforeItBegan) {
  start_two();
  jobs().want("a", first, {wire::DESIRED_CANCEL, {}});
  EXPECT_TRUE(until_state(first, wire::ATTEMPT_CANCELLED, "a"));
  EXPECT_EQ(managers_[0]->attempts(), 0u);
  jobs().omit("a", first);
  EXPECT_TRUE(until([&] { return jobs().worker("a").state.attempts().empty(); }));
}

// ---- the JobManager goes away ----

TEST_P(TaskManagerTest, WithoutTheJobManagerEverythingIsCancelledAndAnotherSessionBegins) {
  start_two();
  deploy(&endless_job, endless_hash, first);
  ASSERT_TRUE(until_state(first, wire::ATTEMPT_RUNNING));
  job_manager_.reset();
  EXPECT_TRUE(until([&] { return !managers_[0]->registered() && managers_[0]->attempts() == 0; }));
  ScriptedJobManager::Options options;
  options.first_session = 50;
  start_job_manager(options);
  ASSERT_TRUE(until([&] { return managers_[0]->registered() && managers_[1]->registered(); }));
  ASSERT_TRUE(until([&] { return jobs().worker("a").states > 2; }));
  EXPECT_TRUE(jobs().worker("a").state.attempts().empty()) << "of the old session";
  deploy(&spread_job, spread_hash, first);
  TestSink::instance().clear();
  EXPECT_TRUE(until_state(first, wire::ATTEMPT_FINISHED));
  EXPECT_EQ(TestSink::instance().sorted(), spread_output());
}

TEST_P(TaskManagerTest, ASilentJobManagerIsAsGoodAsGone) {
  start_two();
  deploy(&endless_job, endless_hash, first);
  ASSERT_TRUE(until_state(first, wire::ATTEMPT_RUNNING));
  jobs().be_silent(true);
  ASSERT_TRUE(until([&] { return !managers_[0]->registered() && managers_[0]->attempts() == 0; }));
  jobs().be_silent(false);
  ASSERT_TRUE(until(
      [&] { return jobs().worker("a").registrations >= 2 && jobs().worker("a").states > 2; }));
  EXPECT_TRUE(until([&] { return managers_[0]->attempts() == 1; })) << "assigned anew";
}

TEST_P(TaskManagerTest, APartitionedTaskManagerFencesItsAttempts) {
  start_two();
  deploy(&endless_job, endless_hash, first);
  ASSERT_TRUE(until_state(first, wire::ATTEMPT_RUNNING));
  simulation_.partition(*job_manager_node_, *nodes_[0]);
  omit(first);
  ASSERT_TRUE(until([&] { return !managers_[0]->registered() && managers_[0]->attempts() == 0; }));
  simulation_.heal(*job_manager_node_, *nodes_[0]);
  ASSERT_TRUE(until([&] { return jobs().worker("a").registrations >= 2; }));
  let_pass(seconds(1));
  EXPECT_TRUE(jobs().worker("a").state.attempts().empty());
}

TEST_P(TaskManagerTest, StopTellsTheJobManagerHowItsAttemptsEnded) {
  start_two();
  deploy(&endless_job, endless_hash, first);
  ASSERT_TRUE(until_state(first, wire::ATTEMPT_RUNNING));
  managers_[0]->stop();
  EXPECT_TRUE(managers_[0]->stuck().empty());
  EXPECT_EQ(managers_[0]->attempts(), 0u);
  ASSERT_TRUE(until([&] { return !jobs().worker("a").connected; }));
  EXPECT_EQ(jobs().state("a", first), wire::ATTEMPT_CANCELLED);
}

INSTANTIATE_TEST_SUITE_P(Seeds, TaskManagerTest, testing::Values(1, 2, 3, 4, 5));

}  // namespace
}  // namespace hummer::task_manager_test
