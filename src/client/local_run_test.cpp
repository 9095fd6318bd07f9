// What a job that runs in its client's process has from the JobManager that leads it.
#include "client/local_run.hpp"

#include <gtest/gtest.h>

#include <hummer/hummer.hpp>

#include "client/cluster_client.hpp"
#include "platform/run_task.hpp"
#include "platform/simulation.hpp"

namespace hummer::local_run_test {
namespace {

using Index = std::uint64_t;

class LocalRuns : public testing::Test {
 protected:
  EnvironmentOptions options() {
    EnvironmentOptions options;
    options.platform = platform_.get();
    options.parallelism = 1;
    return options;
  }

  std::unique_ptr<SimulatedPlatform> platform_ =
      make_simulated_platform({.seed = 7, .processors = 2});
};

TEST_F(LocalRuns, OneOfTwoIndependentPipelinesBeginsAgainAlone) {
  EnvironmentOptions restarting = options();
  restarting.restart = RestartStrategy::fixed_delay(3, 5);
  StreamExecutionEnvironment env(restarting);
  const auto failed = std::make_shared<bool>(false);
  const auto of_failing = std::make_shared<Index>(0), of_other = std::make_shared<Index>(0);
  env.generate([](Index i) { return i; }, {.count = 100, .records_per_second = 1000})
      .map([failed](const Index& index) {
        if (index == 50 && !std::exchange(*failed, true)) throw std::runtime_error("planned");
        return index;
      })
      .for_each([of_failing](const Index&) { ++*of_failing; });
  env.generate([](Index i) { return i; }, {.count = 100, .records_per_second = 1000})
      .for_each([of_other](const Index&) { ++*of_other; });
  const JobResult result = env.execute("two pipelines");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_TRUE(*failed);
  EXPECT_GT(*of_failing, 100u);  // some twice, since it takes no checkpoints
  EXPECT_EQ(*of_other, 100u);
}

class LocalRunsInterface : public LocalRuns {
 protected:
  LocalRunsInterface() : executor_(platform_->make_executor({.name = "asks"})) {}
  ~LocalRunsInterface() override { executor_->stop(); }

  EnvironmentOptions listening(const std::string& token) {
    EnvironmentOptions listening = options();
    listening.rest_listen = "127.0.0.1:8081";
    listening.token = token;
    return listening;
  }
  Result<wire::ClientAnswer> ask(wire::ClientRequest request, const std::string& token) {
    ClusterClientOptions asking;
    asking.job_manager = "127.0.0.1:8081";
    asking.token = token;
    asking.over_rest = true;
    ClusterClient client(*platform_, *executor_, asking);
    return run_task(*platform_, *executor_, client.ask(std::move(request))).value();
  }

  std::unique_ptr<Executor> executor_;
};

TEST_F(LocalRunsInterface, ShowsTheJobAndEndsIt) {
  StreamExecutionEnvironment env(listening("secret"));
  env.generate([](Index i) { return i; }, {.records_per_second = 100}).for_each([](const Index&) {
  });
  JobHandle job = env.execute_async("endless");
  (void)platform_->run_until([] { return false; }, platform_->now() + seconds(2));
  wire::ClientRequest list;
  list.mutable_list();
  const Result<wire::ClientAnswer> jobs = ask(list, "secret");
  ASSERT_TRUE(jobs.ok()) << jobs.status().to_string();
  ASSERT_EQ(jobs->list().jobs_size(), 1);
  EXPECT_EQ(jobs->list().jobs(0).name(), "endless");
  EXPECT_EQ(jobs->list().jobs(0).state(), wire::JOB_RUNNING);

  wire::ClientRequest stop;
  stop.mutable_end()->set_job(jobs->list().jobs(0).job());
  stop.mutable_end()->set_desired_state(wire::DESIRED_STOP);
  EXPECT_EQ(ask(stop, "wrong").status().code(), ErrorCode::permission_denied);
  EXPECT_FALSE(job.finished());
  EXPECT_TRUE(ask(stop, "secret").ok());
  const JobResult result = job.wait();
  EXPECT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_GT(result.records_read, 100u);
}

TEST_F(LocalRunsInterface, TakesNoOtherJob) {
  StreamExecutionEnvironment env(listening("secret"));
  env.generate([](Index i) { return i; }, {.records_per_second = 100}).for_each([](const Index&) {
  });
  JobHandle job = env.execute_async("endless");
  (void)platform_->run_until([] { return false; }, platform_->now() + seconds(1));
  wire::ClientRequest submit;
  submit.mutable_submit()->set_submission_id(77);
  const Result<wire::ClientAnswer> answer = ask(submit, "secret");
  EXPECT_EQ(answer.status().code(), ErrorCode::invalid_argument) << answer.status().to_string();
  job.cancel();
  EXPECT_EQ(job.wait().status.code(), ErrorCode::cancelled);
}

TEST_F(LocalRunsInterface, IsNotForOthersWithoutAToken) {
  EnvironmentOptions open = listening("");
  open.rest_listen = "0.0.0.0:8081";
  StreamExecutionEnvironment env(open);
  env.generate([](Index i) { return i; }, {.count = 1}).for_each([](const Index&) {});
  const JobResult result = env.execute("open");
  EXPECT_EQ(result.status.code(), ErrorCode::invalid_argument);
  EXPECT_NE(result.status.message().find("give --token-file"), std::string::npos)
      << result.status.message();
}

}  // namespace
}  // namespace hummer::local_run_test
