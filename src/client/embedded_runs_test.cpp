// Jobs that run in their client's process, without and with a restart strategy.
#include <gtest/gtest.h>

#include <hummer/hummer.hpp>

#include "platform/simulation.hpp"

namespace hummer::embedded_runs_test {
namespace {

using Index = std::uint64_t;

// Takes nothing for about 23 s: it is asked again every 2 ms.
class StandsStill final : public SinkFunction<Index> {
 public:
  OperatorResult write(std::span<const Index>) override {
    return ++asked_ < 11500 ? OperatorResult::blocked : OperatorResult::done;
  }

 private:
  int asked_ = 0;
};

class EmbeddedRuns : public testing::TestWithParam<bool> {
 protected:
  EnvironmentOptions options() {
    EnvironmentOptions options;
    options.platform = platform_.get();
    options.quiet = false;
    options.parallelism = 1;
    if (GetParam()) options.restart = RestartStrategy::fixed_delay(20, 5);
    return options;
  }
  const std::string& said() const { return platform_->standard(2); }

  std::unique_ptr<SimulatedPlatform> platform_ =
      make_simulated_platform({.seed = 5, .processors = 1});
};
INSTANTIATE_TEST_SUITE_P(OnceAndSupervised, EmbeddedRuns, testing::Bool());

TEST_P(EmbeddedRuns, WhatStandsStillIsNamed) {
  StreamExecutionEnvironment env(options());
  env.generate([](Index i) { return i; }, {.count = 10}).add_sink("shelf", [] {
    return std::make_unique<StandsStill>();
  });
  EXPECT_TRUE(env.execute("standing").ok());
  const std::string text = "is blocked: operator 'shelf' has taken nothing for ";
  const std::size_t first = said().find(text);
  ASSERT_NE(first, std::string::npos) << said();
  // Once in ten seconds.
  const std::size_t second = said().find(text, first + 1);
  ASSERT_NE(second, std::string::npos) << said();
  EXPECT_EQ(said().find(text, second + 1), std::string::npos) << said();
}

TEST_P(EmbeddedRuns, ItsTimeEndsWithTheJob) {
  StreamExecutionEnvironment env(options());
  env.generate([](Index i) { return i; }, {.count = 100, .records_per_second = 100})
      .for_each([](const Index&) {});
  JobHandle job = env.execute_async("timed");
  (void)platform_->run_until([] { return false; }, platform_->now() + seconds(60));
  const JobResult result = job.wait();
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_GT(result.seconds, 0.5);
  EXPECT_LT(result.seconds, 5);
}

TEST_P(EmbeddedRuns, PinnedSlotsAreSaid) {
  EnvironmentOptions pinned = options();
  pinned.pin_slots = true;
  pinned.parallelism = 2;
  StreamExecutionEnvironment env(pinned);
  env.generate([](Index i) { return i; }, {.count = 10}).for_each([](const Index&) {});
  EXPECT_TRUE(env.execute("pinned").ok());
  EXPECT_NE(said().find("pinned: slot 0 to core 0; not pinned: slot 1 (all 1 cores that this "
                        "process may use are claimed"),
            std::string::npos)
      << said();
}

}  // namespace
}  // namespace hummer::embedded_runs_test
