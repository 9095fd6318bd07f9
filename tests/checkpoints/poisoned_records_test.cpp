// A record at which a function always throws ends a job that would begin again for ever, as soon as
// it is clear that no checkpoint gets beyond it; outages don't.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include <hummer/hummer.hpp>

#include "checkpoints/failing_jobs.hpp"
#include "checkpoints/simulated_cluster.hpp"
#include "platform/simulation.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::poisoned_records_test {
namespace {

using Index = std::uint64_t;
constexpr Index record_count = 400;
constexpr Index poison = 250;

std::atomic<int> failures{0};
std::atomic<int> heals_after{0};  // 0: never

// By 1 ms each, so that checkpoints complete before and between the failures.
JobResult poisoned(StreamExecutionEnvironment& env) {
  env.generate([](Index i) { return i; }, {.count = record_count, .records_per_second = 1000})
      .uid("numbers")
      .map([](const Index& i) {
        const bool healed = heals_after != 0 && failures >= heals_after;
        if (i == poison && !healed) {
          ++failures;
          throw std::runtime_error("poison, for the " + std::to_string(failures) + ". time");
        }
        return i;
      })
      .write_file("/out")
      .uid("out");
  return env.execute("poisoned");
}

EnvironmentOptions with_checkpoints() {
  EnvironmentOptions options;
  options.parallelism = 1;
  options.batch_records = 16;
  options.checkpoints.directory = "/checkpoints";
  options.checkpoints.interval_ms = 20;
  return options;
}

class PoisonedRecords : public testing::TestWithParam<std::uint64_t> {
 protected:
  PoisonedRecords() {
    failures = 0;
    heals_after = 0;
  }
  JobResult run() {
    EnvironmentOptions options = with_checkpoints();
    options.platform = node_.get();
    StreamExecutionEnvironment env(options);
    return poisoned(env);
  }
  std::unique_ptr<SimulatedPlatform> node_ = make_simulated_platform({.seed = GetParam()});
};
INSTANTIATE_TEST_SUITE_P(Seeds, PoisonedRecords,
                         testing::Range<std::uint64_t>(1, drawn_cases(4) + 1));

TEST_P(PoisonedRecords, EndTheJobAfterAFewFailures) {
  const JobResult result = run();
  EXPECT_EQ(result.status.code(), ErrorCode::user_function_failed) << result.status.to_string();
  EXPECT_NE(result.status.message().find("failed at index 250: poison"), std::string::npos)
      << result.status.message();
  EXPECT_NE(result.status.message().find("no checkpoint has got beyond it"), std::string::npos)
      << result.status.message();
  EXPECT_EQ(failures.load(), 5);
}

TEST_P(PoisonedRecords, OnesThatHealInTimeDoNot) {
  heals_after = 4;
  const JobResult result = run();
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(visible_lines(node_->files(), "/out").size(), record_count);
}

TEST_P(PoisonedRecords, EndTheJobOnAClusterToo) {
  SimulatedCluster cluster(GetParam(), 1, 1, &poisoned);
  const wire::JobStatus failed = cluster.end_of(cluster.submit(with_checkpoints()));
  EXPECT_EQ(failed.state(), wire::JOB_FAILED);
  EXPECT_NE(failed.failure().message().find("failed at index 250: poison"), std::string::npos)
      << failed.failure().message();
  EXPECT_NE(failed.failure().message().find("no checkpoint has got beyond it"), std::string::npos)
      << failed.failure().message();
  EXPECT_EQ(failures.load(), 5);
}

}  // namespace
}  // namespace hummer::poisoned_records_test
