// What a job's options say about restarts and checkpoints holds where it runs: the failure rate,
// embedded and on a cluster, and the pause between checkpoints. In virtual time.
#include <gtest/gtest.h>

#include <hummer/hummer.hpp>

#include "checkpoints/failing_jobs.hpp"
#include "checkpoints/simulated_cluster.hpp"
#include "platform/simulation.hpp"
#include "state/checkpoint_store.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::restart_options_test {
namespace {

using Index = std::uint64_t;
constexpr Index record_count = 2000;

PlannedFailures failures;

// Numbers to /out, 5000 a second, with the failures that are planned.
JobResult numbers(StreamExecutionEnvironment& env) {
  env.generate([](Index i) { return i; }, {.count = record_count, .records_per_second = 5000})
      .uid("numbers")
      .map([](Index i) {
        failures.maybe_throw();
        return i;
      })
      .write_file("/out")
      .uid("out");
  return env.execute("numbers");
}

void plan_failures(int left, std::uint64_t every) {
  failures.left = left;
  failures.seen = 0;
  failures.every = every;
}

std::vector<std::string> all_numbers() {
  std::vector<std::string> lines;
  for (Index i = 0; i < record_count; ++i) lines.push_back(std::to_string(i));
  std::sort(lines.begin(), lines.end());
  return lines;
}

EnvironmentOptions with_checkpoints() {
  EnvironmentOptions options;
  options.parallelism = 1;
  options.batch_records = 16;
  options.checkpoints.directory = "/checkpoints";
  options.checkpoints.interval_ms = 10;
  return options;
}

class RestartOptions : public testing::TestWithParam<std::uint64_t> {
 protected:
  ~RestartOptions() override { plan_failures(0, 0); }
};
INSTANTIATE_TEST_SUITE_P(Seeds, RestartOptions,
                         testing::Range<std::uint64_t>(1, drawn_cases(3) + 1));

TEST_P(RestartOptions, MoreFailuresThanTheRateAllowsEndTheJob) {
  auto node = make_simulated_platform({.seed = GetParam()});
  plan_failures(100, 10);
  EnvironmentOptions options = with_checkpoints();
  options.platform = node.get();
  options.restart = RestartStrategy::failure_rate(2, 60'000, 5);
  StreamExecutionEnvironment env(options);
  const JobResult result = numbers(env);
  EXPECT_EQ(result.status.code(), ErrorCode::user_function_failed) << result.status.to_string();
  EXPECT_EQ(failures.left.load(), 97) << "two restarts, and the third failure is the end";
}

TEST_P(RestartOptions, FailuresFartherApartThanTheIntervalNeverEndIt) {
  auto node = make_simulated_platform({.seed = GetParam()});
  plan_failures(4, 500);  // 100 ms
  EnvironmentOptions options = with_checkpoints();
  options.platform = node.get();
  options.restart = RestartStrategy::failure_rate(1, 20, 5);
  StreamExecutionEnvironment env(options);
  const JobResult result = numbers(env);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_LE(failures.left.load(), 0) << "a failure that was planned did not come";
  EXPECT_EQ(visible_lines(node->files(), "/out"), all_numbers());
}

TEST_P(RestartOptions, TheFailureRateHoldsOnACluster) {
  SimulatedCluster cluster(GetParam(), 1, 1, &numbers);
  EnvironmentOptions options = with_checkpoints();
  options.restart = RestartStrategy::failure_rate(2, 60'000, 5);
  plan_failures(100, 10);
  const wire::JobStatus failed = cluster.end_of(cluster.submit(options));
  EXPECT_EQ(failed.state(), wire::JOB_FAILED);
  EXPECT_EQ(failed.restarts(), 2u);
  EXPECT_NE(failed.failure().message().find("planned"), std::string::npos)
      << failed.failure().message();

  plan_failures(3, 500);
  options.restart = RestartStrategy::failure_rate(1, 20, 5);
  const wire::JobStatus end = cluster.end_of(cluster.submit(options));
  ASSERT_EQ(end.state(), wire::JOB_FINISHED) << end.failure().message();
  EXPECT_EQ(end.restarts(), 3u);
  EXPECT_EQ(visible_lines(cluster.store.files(), "/out"), all_numbers());
}

// The shortest time between the ends of two checkpoints of a run, but for the last one, which comes
// when the input has ended.
std::int64_t shortest_pause_ms(std::uint64_t seed, std::int64_t minimum_pause_ms) {
  auto node = make_simulated_platform({.seed = seed});
  EnvironmentOptions options = with_checkpoints();
  options.platform = node.get();
  options.checkpoints.minimum_pause_ms = minimum_pause_ms;
  options.checkpoints.retained = 1000;
  options.checkpoints.keep_at_end = true;
  StreamExecutionEnvironment env(options);
  const JobResult result = numbers(env);
  EXPECT_TRUE(result.ok()) << result.status.to_string();
  const CheckpointStore store(node->files(), "/checkpoints");
  std::vector<std::int64_t> completed_ms;
  const Result<std::vector<std::uint64_t>> ids = store.ids();
  for (const std::uint64_t id : *ids) completed_ms.push_back(store.read(id)->completed_ms);
  std::int64_t shortest = INT64_MAX;
  EXPECT_GE(completed_ms.size(), 4u);
  for (std::size_t i = 1; i + 1 < completed_ms.size(); ++i) {
    shortest = std::min(shortest, completed_ms[i] - completed_ms[i - 1]);
  }
  return shortest;
}

TEST_P(RestartOptions, CheckpointsKeepTheirPause) {
  EXPECT_LT(shortest_pause_ms(GetParam(), 0), 50);
  EXPECT_GE(shortest_pause_ms(GetParam(), 50), 50);
}

}  // namespace
}  // namespace hummer::restart_options_test
