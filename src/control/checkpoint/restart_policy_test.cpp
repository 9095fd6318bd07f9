#include "control/checkpoint/restart_policy.hpp"

#include <gtest/gtest.h>

namespace hummer {
namespace {

constexpr Nanoseconds ms = 1'000'000;
constexpr Nanoseconds second = 1000 * ms;

TEST(RestartPolicy, NoneNeverRestarts) {
  EXPECT_FALSE(RestartPolicy(RestartStrategy::no_restart()).failed(0));
  EXPECT_FALSE(RestartPolicy(effective_strategy({}, false)).failed(0));
  EXPECT_TRUE(RestartPolicy(effective_strategy({}, true)).failed(0));
  EXPECT_FALSE(RestartPolicy(effective_strategy(RestartStrategy::no_restart(), true)).failed(0));
}

TEST(RestartPolicy, FixedDelayRestartsAsOftenAsTold) {
  RestartPolicy policy(RestartStrategy::fixed_delay(2, 300));
  EXPECT_EQ(policy.failed(0), 300 * ms);
  EXPECT_EQ(policy.failed(second), 300 * ms);
  EXPECT_FALSE(policy.failed(2 * second));
  EXPECT_EQ(policy.restarts(), 2u);
}

TEST(RestartPolicy, ExponentialGrowsToItsLimitAndStartsAgainAfterQuiet) {
  RestartPolicy policy(RestartStrategy::exponential(100, 350));
  EXPECT_EQ(policy.failed(0), 100 * ms);
  EXPECT_EQ(policy.failed(second), 200 * ms);
  EXPECT_EQ(policy.failed(2 * second), 350 * ms);
  EXPECT_EQ(policy.failed(3 * second), 350 * ms);
  EXPECT_EQ(policy.failed(63 * second), 100 * ms);
}

TEST(RestartPolicy, FailureRateCountsWithinItsInterval) {
  RestartPolicy policy(RestartStrategy::failure_rate(2, 10'000, 50));
  EXPECT_EQ(policy.failed(0), 50 * ms);
  EXPECT_EQ(policy.failed(6 * second), 50 * ms);
  EXPECT_EQ(policy.failed(11 * second), 50 * ms);  // the first no longer counts
  EXPECT_FALSE(policy.failed(12 * second));
}

TEST(RestartPolicy, ACheckpointBringsTheFirstDelayBack) {
  RestartPolicy policy(RestartStrategy::exponential(100, 1000));
  EXPECT_EQ(policy.failed(0), 100'000'000);
  EXPECT_EQ(policy.failed(1), 200'000'000);
  policy.made_progress();
  EXPECT_EQ(policy.failed(2), 100'000'000);
  EXPECT_EQ(policy.failed(3), 200'000'000);
}

}  // namespace
}  // namespace hummer
