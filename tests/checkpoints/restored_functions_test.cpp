// What functions, windows and calls keep, each in a job of its own that fails and goes on at the
// same parallelism, and at another one: the file holds what a run without failures would have
// written. Embedded and on a cluster, both simulated.
#include <gtest/gtest.h>

#include "checkpoints/simulated_cluster.hpp"
#include "checkpoints/stateful_jobs.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::restored_functions_test {
namespace {

using stateful_jobs::planned;
using stateful_jobs::StatefulJob;

class RestoredFunctions : public testing::TestWithParam<std::tuple<StatefulJob, std::uint64_t>> {
 protected:
  const char* name() const { return std::get<0>(GetParam()).name; }
  std::uint64_t seed() const { return std::get<1>(GetParam()); }
  EnvironmentOptions options(int parallelism) const {
    EnvironmentOptions options;
    options.parallelism = parallelism;
    options.batch_records = seed() % 3 == 0 ? 64 : static_cast<std::uint32_t>(3 * seed());
    options.channel_credits = 2;
    options.checkpoints.directory = "/checkpoints";
    options.checkpoints.interval_ms = 20;
    options.checkpoints.unaligned = seed() % 2 == 0;
    options.restart = RestartStrategy::fixed_delay(20, 5);
    return options;
  }
  JobResult run_on(SimulatedPlatform& node, EnvironmentOptions options) const {
    options.platform = &node;
    if (!node.files().stat("/in").ok()) stateful_jobs::write_input(node.files());
    StreamExecutionEnvironment env(options);
    return stateful_jobs::run_stateful_job(env, name());
  }
  // Those of a run without failures.
  std::vector<std::string> expected() const {
    planned.every = 0;
    const auto node = make_simulated_platform({.seed = seed()});
    const JobResult result = run_on(*node, options(2));
    EXPECT_TRUE(result.ok()) << result.status.to_string();
    auto lines = visible_lines(node->files(), "/out");
    EXPECT_FALSE(lines.empty());
    return lines;
  }
  static void plan(int failures, std::uint64_t every) {
    planned.left = failures;
    planned.seen = 0;
    planned.every = every;
  }
};
std::string name_of(const testing::TestParamInfo<std::tuple<StatefulJob, std::uint64_t>>& info) {
  return std::get<0>(info.param).name + ("_" + std::to_string(std::get<1>(info.param)));
}
INSTANTIATE_TEST_SUITE_P(Cases, RestoredFunctions,
                         testing::Combine(testing::ValuesIn(stateful_jobs::all),
                                          testing::Range<std::uint64_t>(1, drawn_cases(6) + 1)),
                         name_of);

TEST_P(RestoredFunctions, FailuresAndAnotherParallelismDoNotShow) {
  const auto lines = expected();
  const int parallelism = 2 + static_cast<int>(seed() % 2);
  {
    const auto node = make_simulated_platform({.seed = 100 + seed()});
    plan(2, 700 + 10 * seed());
    const JobResult result = run_on(*node, options(parallelism));
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_LE(planned.left.load(), 0) << "a failure that was planned did not come";
    EXPECT_EQ(visible_lines(node->files(), "/out"), lines);
  }
  for (const int next : {2, 3, 4}) {
    if (next == parallelism) continue;
    SCOPED_TRACE(std::to_string(parallelism) + " to " + std::to_string(next));
    const auto node = make_simulated_platform({.seed = 200 + seed()});
    plan(1, 1'300 + 10 * seed());
    EnvironmentOptions first = options(parallelism);
    first.restart = RestartStrategy::no_restart();
    ASSERT_EQ(run_on(*node, first).status.code(), ErrorCode::user_function_failed);
    EnvironmentOptions second = options(next);
    second.checkpoints.restore = "latest";
    const JobResult result = run_on(*node, second);
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_EQ(visible_lines(node->files(), "/out"), lines);
  }
}

class RestoredFunctionsOnACluster : public RestoredFunctions {};
INSTANTIATE_TEST_SUITE_P(Cases, RestoredFunctionsOnACluster,
                         testing::Combine(testing::ValuesIn(stateful_jobs::all),
                                          testing::Range<std::uint64_t>(1, drawn_cases(2) + 1)),
                         name_of);

TEST_P(RestoredFunctionsOnACluster, AKilledTaskManagerAndAnotherParallelismDoNotShow) {
  const auto lines = expected();
  SimulatedCluster cluster(seed(), 3, 2, &stateful_jobs::run_named_job);
  stateful_jobs::write_input(cluster.store.files());
  const std::vector<std::string> arguments{std::string("--case=") + name()};
  EnvironmentOptions first = options(3);
  first.checkpoints.interval_ms = 50;
  const std::uint64_t job = cluster.submit(first, arguments);
  ASSERT_TRUE(cluster.until(
      job, [](const wire::JobStatus& now) { return now.checkpoints_completed() >= 2; }));
  cluster.kill(cluster.workers[seed() % 3]);
  cluster.let_pass(milliseconds(20));
  cluster.restart(cluster.workers[seed() % 3]);
  ASSERT_TRUE(cluster.until(job, [](const wire::JobStatus& now) {
    return now.state() == wire::JOB_RUNNING && now.checkpoints_completed() >= 4;
  }));
  EnvironmentOptions second = options(2);
  second.checkpoints.restore = cluster.savepoint(job, "/savepoints", true);
  ASSERT_FALSE(second.checkpoints.restore.empty()) << cluster.last_failure.message();
  ASSERT_EQ(cluster.end_of(job).state(), wire::JOB_FINISHED);
  const wire::JobStatus end = cluster.end_of(cluster.submit(second, arguments));
  ASSERT_EQ(end.state(), wire::JOB_FINISHED) << end.failure().message();
  EXPECT_EQ(visible_lines(cluster.store.files(), "/out"), lines);
}

}  // namespace
}  // namespace hummer::restored_functions_test
