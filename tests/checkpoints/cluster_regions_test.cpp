// Jobs of two independent pipelines on a cluster: one fails again and again, the other must not
// notice, and the output of neither may show it.
#include <gtest/gtest.h>

#include <hummer/hummer.hpp>

#include "checkpoints/failing_jobs.hpp"
#include "checkpoints/simulated_cluster.hpp"

namespace hummer::cluster_regions_test {
namespace {

using Index = std::uint64_t;
constexpr Index keys = 7;

PlannedFailures failures;  // of the right pipeline

// The running count of each key to /left and /right: of --count records, --rate of them in a
// second. With --apart each has slots of its own.
JobResult two_counts(StreamExecutionEnvironment& env) {
  const Index count = std::stoull(env.argument("count"));
  const double rate = std::stod(env.argument_or("rate", "5000"));
  const bool apart = env.flag("apart");
  for (const bool right : {false, true}) {
    const std::string name = right ? "right" : "left";
    const std::string group = apart ? name : std::string("default");
    env.generate([](Index i) { return i; }, {.count = count, .records_per_second = rate})
        .resource_group(group)
        .map([right](Index i) {
          if (right) failures.maybe_throw();
          return i % keys;
        })
        .resource_group(group)
        .key_by(identity)
        .count(Emit::every_record)
        .resource_group(group)
        .write_file("/" + name)
        .resource_group(group);
  }
  return env.execute("two counts");
}

EnvironmentOptions with_checkpoints(bool unaligned) {
  EnvironmentOptions options;
  options.parallelism = 2;
  options.batch_records = 32;
  options.checkpoints.directory = "/checkpoints";
  options.checkpoints.interval_ms = 100;
  options.checkpoints.unaligned = unaligned;
  return options;
}

bool running(const wire::JobStatus& now) { return now.state() == wire::JOB_RUNNING; }
std::uint32_t attempt_of(const wire::JobStatus& status, int region) {
  return region < status.region_attempts_size() ? status.region_attempts(region) : 0;
}

// TaskManagers that have a part of the region, as the status says.
std::vector<std::size_t> workers_of(SimulatedCluster& cluster, std::uint64_t job, int region) {
  wire::ClientRequest request;
  request.mutable_job()->set_job(job);
  request.mutable_job()->set_with_graph(true);
  const std::string text = cluster.ask(std::move(request)).job().explanation();
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < cluster.workers.size(); ++i) {
    const std::string part =
        "on 'tm" + std::to_string(i) + "', region " + std::to_string(region + 1);
    if (text.find(part) != std::string::npos) found.push_back(i);
  }
  return found;
}

class ClusterRegions : public testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    failures.left = 0;
    failures.seen = 0;
    failures.every = 0;
  }
  bool unaligned() const { return GetParam() % 2 == 0; }
  static void expect_exact(SimulatedCluster& cluster, const wire::JobStatus& end, Index count) {
    ASSERT_EQ(end.state(), wire::JOB_FINISHED) << end.failure().message();
    EXPECT_EQ(visible_lines(cluster.store.files(), "/left"), expected_counts(count, keys));
    EXPECT_EQ(visible_lines(cluster.store.files(), "/right"), expected_counts(count, keys));
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, ClusterRegions, cluster_seeds());

TEST_P(ClusterRegions, KilledTaskManagersOfOneAreNotNoticedByTheOther) {
  SimulatedCluster cluster(GetParam(), 4, 1, &two_counts);
  const std::uint64_t job =
      cluster.submit(with_checkpoints(unaligned()), {"--count=15000", "--apart"});
  std::uint32_t attempt = 1;
  for (std::uint64_t round = 0; round < 4; ++round) {
    const std::uint64_t before = cluster.status(job).checkpoints_completed();
    ASSERT_TRUE(cluster.until(job, [&](const wire::JobStatus& now) {
      return running(now) && now.checkpoints_completed() >= before + 2;
    })) << cluster.status(job).reason();
    cluster.let_pass(milliseconds(7 * (1 + GetParam())));  // somewhere in a checkpoint
    const std::vector<std::size_t> right = workers_of(cluster, job, 1);
    ASSERT_EQ(right.size(), 2u);
    SimulatedCluster::Worker& victim = cluster.workers[right[(round + GetParam()) % 2]];
    cluster.kill(victim);
    cluster.let_pass(milliseconds(50 * (1 + round)));
    cluster.restart(victim);
    ASSERT_TRUE(cluster.until(job, [&](const wire::JobStatus& now) {
      return attempt_of(now, 1) > attempt;
    })) << cluster.status(job).reason();
    const wire::JobStatus now = cluster.status(job);
    EXPECT_EQ(now.state(), wire::JOB_RUNNING);
    EXPECT_EQ(attempt_of(now, 0), 1u) << "nobody disturbs the left one";
    attempt = attempt_of(now, 1);
  }
  const wire::JobStatus end = cluster.end_of(job);
  expect_exact(cluster, end, 15'000);
  EXPECT_EQ(end.restarts(), 4u);
}

TEST_P(ClusterRegions, AnExceptionInOneIsNotNoticedByTheOtherInTheSameSlots) {
  SimulatedCluster cluster(GetParam(), 2, 1, &two_counts);
  failures.left = 5;
  failures.every = 1100 + 50 * GetParam();
  const std::uint64_t job = cluster.submit(with_checkpoints(unaligned()), {"--count=8000"});
  std::uint32_t left = 0, right = 0;
  ASSERT_TRUE(cluster.until(job, [&](const wire::JobStatus& now) {
    left = std::max(left, attempt_of(now, 0));
    right = std::max(right, attempt_of(now, 1));
    return has_ended(now.state());
  }));
  expect_exact(cluster, cluster.status(job), 8000);
  EXPECT_EQ(left, 1u);
  EXPECT_EQ(right, 6u);
}

TEST_P(ClusterRegions, ASpareTaskManagerTakesOver) {
  SimulatedCluster cluster(GetParam(), 5, 1, &two_counts);
  const std::uint64_t job =
      cluster.submit(with_checkpoints(unaligned()), {"--count=8000", "--apart"});
  ASSERT_TRUE(cluster.until(
      job, [](const wire::JobStatus& now) { return now.checkpoints_completed() >= 2; }));
  cluster.kill(cluster.workers[workers_of(cluster, job, 1).at(GetParam() % 2)]);
  ASSERT_TRUE(
      cluster.until(job, [](const wire::JobStatus& now) { return attempt_of(now, 1) > 1; }));
  EXPECT_EQ(attempt_of(cluster.status(job), 0), 1u);
  expect_exact(cluster, cluster.end_of(job), 8000);
}

TEST_P(ClusterRegions, ACutOffTaskManagerReachesNothingOfItsRegionsNextAttempt) {
  // Few records: it is the time while the TaskManagers are cut off that they must last for.
  SimulatedCluster cluster(GetParam(), 5, 1, &two_counts);
  const std::uint64_t job =
      cluster.submit(with_checkpoints(unaligned()), {"--count=11000", "--rate=750", "--apart"});
  ASSERT_TRUE(cluster.until(
      job, [](const wire::JobStatus& now) { return now.checkpoints_completed() >= 2; }));
  for (const std::size_t which : {0, 1}) {
    const std::uint32_t before = attempt_of(cluster.status(job), 1);
    const std::size_t victim = workers_of(cluster, job, 1).at(which);
    SimulatedPlatform& node = *cluster.workers[victim].node;
    cluster.simulation.partition(node, *cluster.job_manager_node);
    cluster.let_pass(seconds(6));
    cluster.simulation.heal(node, *cluster.job_manager_node);
    ASSERT_TRUE(cluster.until(job, [&](const wire::JobStatus& now) {
      return attempt_of(now, 1) > before && now.reason().empty();
    }));
    EXPECT_EQ(attempt_of(cluster.status(job), 0), 1u);
  }
  expect_exact(cluster, cluster.end_of(job), 11'000);
}

TEST_P(ClusterRegions, TheNextJobManagerGoesOnAfterRegionsHaveBegunAgain) {
  SimulatedCluster cluster(GetParam(), 2, 1, &two_counts);
  failures.left = 2;
  failures.every = 2000;
  const std::uint64_t job = cluster.submit(with_checkpoints(unaligned()), {"--count=15000"});
  ASSERT_TRUE(
      cluster.until(job, [](const wire::JobStatus& now) { return attempt_of(now, 1) >= 2; }));
  const std::uint32_t before = cluster.status(job).attempt();
  cluster.job_manager_node->kill_at_disk_operation(1 + GetParam() * 3 % 20);
  cluster.let_pass(milliseconds(150));
  cluster.restart_job_manager();
  EXPECT_GT(cluster.status(job).attempt(), before) << "no number is given twice";
  const wire::JobStatus end = cluster.end_of(job);
  expect_exact(cluster, end, 15'000);
}

TEST_P(ClusterRegions, ASavepointThatStopsTheJobHoldsBoth) {
  SimulatedCluster cluster(GetParam(), 2, 1, &two_counts);
  failures.left = 2;
  failures.every = 1200;
  const std::uint64_t job = cluster.submit(with_checkpoints(unaligned()), {"--count=20000"});
  ASSERT_TRUE(
      cluster.until(job, [](const wire::JobStatus& now) { return attempt_of(now, 1) >= 3; }));
  const std::string path = cluster.savepoint(job, "/savepoints", true);
  ASSERT_FALSE(path.empty()) << cluster.last_failure.to_string();
  EXPECT_EQ(cluster.end_of(job).state(), wire::JOB_FINISHED);
  EnvironmentOptions options = with_checkpoints(unaligned());
  options.checkpoints.restore = path;
  const std::uint64_t next = cluster.submit(options, {"--count=20000"});
  expect_exact(cluster, cluster.end_of(next), 20'000);
}

}  // namespace
}  // namespace hummer::cluster_regions_test
