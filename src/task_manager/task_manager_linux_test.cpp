// TaskManagers with real threads and sockets, and user functions that do not return.
#include "execution/deployed_jobs_for_test.hpp"
#include "platform/kept_log_for_test.hpp"
#include "platform/run_task.hpp"
#include "task_manager/scripted_job_manager_for_test.hpp"
#include "task_manager/task_manager.hpp"

namespace hummer::task_manager_linux_test {
namespace {

constexpr std::uint64_t spread_hash = 1;
constexpr std::uint64_t endless_hash = 2;
constexpr std::uint64_t hanging_hash = 3;
constexpr std::uint64_t hanging_map_hash = 4;
constexpr std::uint64_t failing_hash = 5;
constexpr std::uint64_t once_hanging_hash = 6;
constexpr AttemptId first{7, 1};

class TaskManagerLinuxTest : public testing::Test {
 protected:
  TaskManagerLinuxTest() : platform_(make_linux_platform()) {
    TestSink::instance().clear();
    TestGate::instance().reset();
    libraries_.add(spread_hash, &spread_job);
    libraries_.add(endless_hash, &endless_job);
    libraries_.add(hanging_hash, &hanging_job);
    libraries_.add(hanging_map_hash, &hanging_map_job);
    libraries_.add(failing_hash, &failing_job);
    libraries_.add(once_hanging_hash, &once_hanging_job);
    start_job_manager("127.0.0.1:0", 1);
    for (const char* id : {"a", "b"}) {
      TaskManagerOptions worker;
      worker.id = id;
      worker.host = id;
      worker.job_manager = "127.0.0.1:" + std::to_string(job_manager_->port());
      worker.slots = 4;
      worker.stop_patience_ns = id == std::string("a") ? milliseconds(300) : seconds(20);
      worker.stuck_patience_ns = milliseconds(50);
      worker.rest_address = "127.0.0.1:0";
      worker.token = "not to be seen";
      worker.log = &log_;
      managers_.push_back(std::make_unique<TaskManager>(*platform_, libraries_, worker));
      const Status started = managers_.back()->start();
      EXPECT_TRUE(started.ok()) << started.to_string();
    }
    EXPECT_TRUE(
        until([&] { return jobs().worker("a").states > 0 && jobs().worker("b").states > 0; }));
  }
  ~TaskManagerLinuxTest() override {
    TestGate::instance().release();
    for (auto& manager : managers_) manager->stop();
    managers_.clear();
    job_manager_.reset();
  }

  // Looks again at each state that arrives.
  bool until(const std::function<bool()>& predicate) {
    return platform_->run_until(predicate, platform_->now() + seconds(60)) == RunEnd::satisfied;
  }
  void start_job_manager(std::string listen, std::uint64_t first_session) {
    ScriptedJobManager::Options options;
    options.listen = std::move(listen);
    options.heartbeat_interval_ms = 10;
    options.heartbeat_timeout_ms = 20'000;
    options.first_session = first_session;
    job_manager_ = std::make_unique<ScriptedJobManager>(*platform_, options);
  }
  // Every session is lost, and all come again.
  void restart_job_manager() {
    const std::string address = "127.0.0.1:" + std::to_string(job_manager_->port());
    job_manager_.reset();
    start_job_manager(address, 100);
    EXPECT_TRUE(until([&] { return jobs().worker("a").states > 0; }));
  }
  ScriptedJobManager& jobs() { return *job_manager_; }
  void deploy(JobFunction function, std::uint64_t hash, const std::vector<std::string>& workers) {
    std::vector<wire::Registration> registrations;
    for (const std::string& id : workers) registrations.push_back(jobs().worker(id).registration);
    const auto deployments = make_deployments(function, hash, registrations, 4);
    for (std::size_t i = 0; i < workers.size(); ++i) {
      jobs().want(workers[i], first, {wire::DESIRED_RUN, deployments[i]});
    }
  }
  bool until_stuck(const std::string& text) {
    return until([&] {
      const wire::AttemptReport report = jobs().report("a", first);
      for (const std::string& stuck : report.stuck()) {
        if (stuck.find(text) != std::string::npos) return true;
      }
      return false;
    });
  }

  // The body of what the HTTP interface answers.
  std::string get(const TaskManager& manager, const std::string& path, bool with_token = true) {
    const auto executor = platform_->make_executor({.name = "http"});
    const auto answer = run_task(
        *platform_, *executor,
        fetch(*platform_, *manager.rest_address(), path, with_token ? "not to be seen" : ""));
    executor->stop();
    return answer.value_or("");
  }
  static Task<std::string> fetch(Platform& platform, SocketAddress address, std::string path,
                                 std::string token) {
    Result<std::unique_ptr<ByteStream>> stream =
        co_await platform.network().connect(address, ConnectOptions());
    if (!stream.ok()) co_return stream.status().to_string();
    Executor& executor = co_await current_executor();
    WakeEvent event;
    (*stream)->set_wake_events(executor, &event, &event);
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" +
                                "Authorization: Bearer " + token + "\r\n\r\n";
    EXPECT_EQ((*stream)->try_write(request).value(), request.size());
    std::string got(1 << 16, ' ');
    std::size_t filled = 0;
    while (true) {
      event.prepare_wait();
      const Result<std::size_t> more =
          (*stream)->try_read({got.data() + filled, got.size() - filled});
      if (!more.ok() || *more == 0) break;
      if (*more != would_block) {
        event.cancel_wait();
        filled += *more;
        continue;
      }
      co_await event.wait();
    }
    event.cancel_wait();
    (*stream)->close();
    got.resize(filled);
    co_return got;
  }

  std::unique_ptr<Platform> platform_;
  KeptLog log_;
  BuiltInJobLibraries libraries_;
  std::unique_ptr<ScriptedJobManager> job_manager_;
  std::vector<std::unique_ptr<TaskManager>> managers_;
};

TEST_F(TaskManagerLinuxTest, AJobRunsAcrossTwo) {
  deploy(&spread_job, spread_hash, {"a", "b"});
  ASSERT_TRUE(until([&] {
    return jobs().state("a", first) == wire::ATTEMPT_FINISHED &&
           jobs().state("b", first) == wire::ATTEMPT_FINISHED;
  })) << jobs().report("a", first).failure().message();
  std::vector<std::uint64_t> expected;
  for (std::uint64_t i = 0; i < spread_count; ++i) expected.push_back(2 * i);
  EXPECT_EQ(TestSink::instance().sorted(), expected);
}

// The value of the one sample that begins so; -1: there is none.
double sample_of(const std::string& metrics, const std::string& begin) {
  const std::size_t at = metrics.find("\n" + begin);
  if (at == metrics.npos) return -1;
  return std::stod(metrics.substr(metrics.find("} ", at) + 2));
}

TEST_F(TaskManagerLinuxTest, ItsHttpInterfaceTellsOfItself) {
  deploy(&endless_job, endless_hash, {"a", "b"});
  ASSERT_TRUE(until([&] { return TestSink::instance().size() > 1000; }));
  const std::string metrics = get(*managers_[0], "/metrics");
  EXPECT_NE(metrics.find("\nhummer_registered 1\n"), metrics.npos) << metrics;
  EXPECT_GT(sample_of(metrics, "hummer_task_records_out_total{job=\"7\""), 0) << metrics;
  EXPECT_GT(sample_of(metrics, "hummer_task_user_seen_total{job=\"7\""), 0) << metrics;
  EXPECT_GT(sample_of(metrics, "hummer_slot_busy_seconds_total{job=\"7\""), 0) << metrics;
  EXPECT_GE(sample_of(metrics, "hummer_slot_idle_seconds_total{job=\"7\""), 0) << metrics;
  EXPECT_GT(sample_of(metrics, "hummer_buffer_bytes{state=\"total\""), 0) << metrics;
  EXPECT_NE(metrics.find("hummer_memory_used_bytes{account=\"this worker\"}"), metrics.npos);
  EXPECT_NE(get(*managers_[0], "/readyz", false).find("ready\n"), std::string::npos);
  EXPECT_NE(get(*managers_[0], "/metrics", false).find("401"), std::string::npos);
  EXPECT_NE(get(*managers_[0], "/v1/jobs").find("404"), std::string::npos);
  EXPECT_TRUE(log_.has("job 7: "));
  for (const std::string& line : log_.texts()) {
    EXPECT_EQ(line.find("not to be seen"), std::string::npos) << line;
  }
}

TEST_F(TaskManagerLinuxTest, TheLogNamesTheTaskThatFailed) {
  deploy(&failing_job, failing_hash, {"a"});
  ASSERT_TRUE(until([&] { return jobs().state("a", first) == wire::ATTEMPT_FAILED; }));
  int failures = 0;
  for (const std::string& line : log_.texts()) {
    if (line.find("the boiler is on fire") == std::string::npos || line.find("]: ") == line.npos) {
      continue;
    }
    ++failures;
    EXPECT_TRUE(line.starts_with("job 7: ")) << line;
    EXPECT_LT(line.find("]: 'failing': failed: "), line.find("the boiler")) << line;
  }
  EXPECT_EQ(failures, 1);
  EXPECT_TRUE(log_.has("]: 'failing': runs in slot 0"));
}

TEST_F(TaskManagerLinuxTest, CancelAndStopWhileRecordsFlow) {
  deploy(&endless_job, endless_hash, {"a", "b"});
  ASSERT_TRUE(until([&] { return TestSink::instance().size() > 1000; }));
  jobs().desired_state("a", first, wire::DESIRED_CANCEL);
  ASSERT_TRUE(until([&] { return jobs().state("a", first) == wire::ATTEMPT_CANCELLED; }));
  ASSERT_TRUE(until([&] { return jobs().state("b", first) == wire::ATTEMPT_FAILED; }));
  EXPECT_TRUE(jobs().report("b", first).consequence())
      << jobs().report("b", first).failure().message();
}

TEST_F(TaskManagerLinuxTest, TheJobManagerDiesWhileRecordsFlow) {
  deploy(&endless_job, endless_hash, {"a", "b"});
  ASSERT_TRUE(until([&] { return TestSink::instance().size() > 1000; }));
  job_manager_.reset();
  EXPECT_TRUE(
      until([&] { return managers_[0]->attempts() == 0 && managers_[1]->attempts() == 0; }));
}

TEST_F(TaskManagerLinuxTest, AJobFunctionThatHangsStopsNoHeartbeats) {
  // The deployment is made from the twin that does not hang.
  deploy(&spread_job, hanging_hash, {"a"});
  TestGate::instance().inside.wait(false);
  const int states = jobs().worker("a").states;
  ASSERT_TRUE(until([&] { return jobs().worker("a").states > states + 20; }));
  EXPECT_EQ(jobs().state("a", first), wire::ATTEMPT_PREPARING);
  ASSERT_TRUE(until_stuck("inside the job function"));
  jobs().desired_state("a", first, wire::DESIRED_CANCEL);
  ASSERT_TRUE(until_stuck("cancelling, stuck: inside the job function"));
  EXPECT_EQ(managers_[0]->attempts(), 1u);
  TestGate::instance().release();
  ASSERT_TRUE(until([&] { return jobs().state("a", first) == wire::ATTEMPT_CANCELLED; }));
}

TEST_F(TaskManagerLinuxTest, AUserFunctionThatHangsIsNamedAndItsCancellationWaits) {
  deploy(&hanging_map_job, hanging_map_hash, {"a"});
  ASSERT_TRUE(until_stuck("inside operator 'map'"));
  EXPECT_EQ(jobs().state("a", first), wire::ATTEMPT_RUNNING);
  jobs().desired_state("a", first, wire::DESIRED_CANCEL);
  ASSERT_TRUE(until_stuck("cancelling, stuck: "));
  const int states = jobs().worker("a").states;
  ASSERT_TRUE(until([&] { return jobs().worker("a").states > states + 20; }));
  EXPECT_EQ(jobs().state("a", first), wire::ATTEMPT_RUNNING);
  TestGate::instance().release();
  ASSERT_TRUE(until([&] { return jobs().state("a", first) == wire::ATTEMPT_CANCELLED; }));
}

TEST_F(TaskManagerLinuxTest, AFunctionThatHangsTakesItsSlotAwayAndNothingElse) {
  const AttemptId second{7, 2};
  const auto deploy_to_a = [&](const AttemptId& id) {
    const auto deployments = make_deployments(&once_hanging_job, once_hanging_hash,
                                              {jobs().worker("a").registration}, 1);
    jobs().want("a", id, {wire::DESIRED_RUN, deployments[0]});
  };
  deploy_to_a(first);
  TestGate::instance().inside.wait(false);
  restart_job_manager();
  const wire::Registration registration = jobs().worker("a").registration;
  ASSERT_EQ(registration.slots_held_size(), 1);
  EXPECT_EQ(registration.slots_held(0), 0u);
  ASSERT_TRUE(until([&] {
    const wire::TaskManagerState state = jobs().worker("a").state;
    return state.left_over_size() == 1 && state.left_over(0).stuck_size() == 1;
  }));
  const wire::LeftOver left = jobs().worker("a").state.left_over(0);
  EXPECT_EQ(left.name(), "job 7, attempt 1 (once hanging)");
  EXPECT_NE(left.stuck(0).find("inside operator 'map'"), std::string::npos) << left.stuck(0);
  // Elsewhere on it the job begins again, and ends.
  deploy_to_a(second);
  ASSERT_TRUE(until([&] { return jobs().state("a", second) == wire::ATTEMPT_FINISHED; }))
      << jobs().report("a", second).failure().message();
  EXPECT_EQ(TestSink::instance().size(), 50u);
  // The old attempt goes nowhere with what it was about to do.
  TestGate::instance().release();
  ASSERT_TRUE(until([&] { return jobs().worker("a").state.left_over_size() == 0; }));
  EXPECT_EQ(TestSink::instance().size(), 50u);
}

TEST_F(TaskManagerLinuxTest, AJobFunctionThatHangsHoldsOneSlotForItsThread) {
  deploy(&spread_job, hanging_hash, {"a"});
  TestGate::instance().inside.wait(false);
  restart_job_manager();
  ASSERT_EQ(jobs().worker("a").registration.slots_held_size(), 1);
  EXPECT_EQ(managers_[0]->attempts(), 1u);
  TestGate::instance().release();
  ASSERT_TRUE(until([&] { return managers_[0]->attempts() == 0; }));
  EXPECT_EQ(TestSink::instance().size(), 0u);
}

class TaskManagerLinuxDeathTest : public TaskManagerLinuxTest {
 public:
  // In a process of its own: what is given up on stays behind.
  void stop_with_a_function_that_never_returns() {
    deploy(&hanging_map_job, hanging_map_hash, {"a"});
    TestGate::instance().inside.wait(false);
    managers_[0]->stop();
    const bool named = managers_[0]->stuck().size() == 1 &&
                       managers_[0]->stuck()[0].find("inside operator 'map'") != std::string::npos;
    std::string text;
    for (const std::string& stuck : managers_[0]->stuck()) text += stuck + "\n";
    (void)platform_->write_standard(2, text);
    managers_[0].reset();  // does not wait either
    std::_Exit(named ? 7 : 8);
  }
};

TEST_F(TaskManagerLinuxDeathTest, StopGivesUpOnAFunctionThatNeverReturns) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(stop_with_a_function_that_never_returns(), testing::ExitedWithCode(7),
              "job 7, attempt 1 \\(hanging\\): cancelling, stuck: ");
}

}  // namespace
}  // namespace hummer::task_manager_linux_test
