// Deployments by themselves, embedded: when they may be stopped, cancelled and destroyed.
#include "execution/deployment.hpp"

#include "execution/deployed_jobs_for_test.hpp"
#include "platform/task.hpp"

namespace hummer::deployment_test {
namespace {

class DeploymentTest : public testing::Test {
 protected:
  DeploymentTest() : platform_(make_simulated_platform({.seed = 3})) {
    TestSink::instance().clear();
  }
  std::unique_ptr<Deployment> make(JobFunction function, DeploymentOptions options = {}) {
    EnvironmentOptions defaults;
    defaults.platform = platform_.get();
    Result<BuiltJob> built = build_job(function, {}, defaults);
    EXPECT_TRUE(built.ok()) << built.status().to_string();
    Result<JobGraph> job = fuse(built->graph);
    EXPECT_TRUE(job.ok());
    Result<ExecutionGraph> placed = place(*job, embedded_cluster(2), {.default_parallelism = 2});
    EXPECT_TRUE(placed.ok());
    return std::make_unique<Deployment>(*platform_, std::move(built->graph), std::move(*job),
                                        std::move(*placed), std::move(options));
  }
  bool until(const std::function<bool()>& predicate) {
    return platform_->run_until(predicate, platform_->now() + seconds(60)) == RunEnd::satisfied;
  }

  std::unique_ptr<SimulatedPlatform> platform_;
};

TEST_F(DeploymentTest, CancelledBeforeItsStartItStartsNothing) {
  const auto deployment = make(&endless_job);
  deployment->cancel();
  const Status started = deployment->start();
  EXPECT_EQ(started.code(), ErrorCode::cancelled);
  EXPECT_FALSE(deployment->started());
  EXPECT_TRUE(deployment->finished());
}

TEST_F(DeploymentTest, StoppedBeforeItsStartItFinishesWithoutRecords) {
  const auto deployment = make(&endless_job);
  deployment->stop();
  ASSERT_TRUE(deployment->start().ok());
  ASSERT_TRUE(until([&] { return deployment->finished(); }));
  EXPECT_TRUE(deployment->finish().ok());
  EXPECT_EQ(deployment->metrics().records_written, deployment->metrics().records_read);
}

TEST_F(DeploymentTest, MetricsMayBeReadAtAnyTime) {
  const auto deployment = make(&endless_job);
  EXPECT_EQ(deployment->metrics().records_read, 0u);
  EXPECT_EQ(deployment->task_counts(0).running, 0u);
  ASSERT_TRUE(deployment->start().ok());
  EXPECT_EQ(deployment->task_counts(0).running, 2u);
  ASSERT_TRUE(until([&] { return deployment->metrics().records_written > 100; }));
  deployment->cancel();
  ASSERT_TRUE(until([&] { return deployment->finished(); }));
  EXPECT_EQ(deployment->finish().code(), ErrorCode::cancelled);
  EXPECT_EQ(deployment->task_counts(0).finished, 2u);
}

TEST_F(DeploymentTest, SamplesShowTasksChannelsAndSlots) {
  const auto deployment = make(&spread_job);
  EXPECT_TRUE(deployment->samples(platform_->now()).tasks.empty());
  ASSERT_TRUE(deployment->start().ok());
  EXPECT_EQ(deployment->samples(platform_->now()).slots.size(), 2u);
  ASSERT_TRUE(until([&] { return deployment->finished(); }));
  const TaskSamples samples = deployment->samples(platform_->now());
  std::uint64_t read = 0, written = 0;
  for (const TaskSample& task : samples.tasks) {
    const JobVertex& vertex =
        deployment->job_graph().vertices[static_cast<std::size_t>(task.vertex)];
    if (vertex.chain.front().kind == OperatorKind::source) read += task.records_out;
    if (vertex.chain.back().kind == OperatorKind::sink) written += task.records_in;
    EXPECT_GE(task.time.busy_ns, 0);
  }
  EXPECT_EQ(read, spread_count);
  EXPECT_EQ(written, spread_count);
  ASSERT_FALSE(samples.channels.empty());
  for (const ChannelSample& channel : samples.channels) {
    EXPECT_EQ(channel.occupancy, 0u) << channel.from;
    EXPECT_GT(channel.credits, 0u);
  }
  EXPECT_TRUE(deployment->finish().ok());
}

TEST_F(DeploymentTest, DestroyedWhileItRunsItHangsOnNothing) {
  auto deployment = make(&endless_job);
  ASSERT_TRUE(deployment->start().ok());
  ASSERT_TRUE(until([&] { return TestSink::instance().size() > 100; }));
  deployment.reset();
  const std::size_t records = TestSink::instance().size();
  (void)platform_->run_until([] { return false; }, platform_->now() + seconds(1));
  EXPECT_EQ(TestSink::instance().size(), records);
}

struct Waiter {
  Deployment* deployment = nullptr;
  WakeEvent event;
  bool woken = false;
};

Task<void> wait_for_end(Waiter& waiter) {
  while (!waiter.deployment->finished()) {
    waiter.event.prepare_wait();
    if (waiter.deployment->finished()) {
      waiter.event.cancel_wait();
      break;
    }
    co_await waiter.event.wait();
  }
  waiter.woken = true;
}

TEST_F(DeploymentTest, ItsEndIsNotified) {
  Waiter waiter;
  DeploymentOptions options;
  options.on_finished = &waiter.event;
  const auto deployment = make(&spread_job, options);
  waiter.deployment = deployment.get();
  const auto executor = platform_->make_executor({.name = "waiter"});
  ASSERT_TRUE(deployment->start().ok());
  executor->spawn(wait_for_end(waiter));
  EXPECT_TRUE(until([&] { return waiter.woken; }));
  EXPECT_TRUE(deployment->finish().ok());
  executor->stop();
}

}  // namespace
}  // namespace hummer::deployment_test
