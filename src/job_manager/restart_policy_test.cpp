#include "job_manager/restart_policy.hpp"

#include <gtest/gtest.h>

namespace hummer::restart_policy_test {
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

Status at(const std::string& place, const std::string& reason = "it says") {
  return {ErrorCode::user_function_failed,
          "function of operator 'map' (subtask 0) failed at " + place + ": " + reason};
}

TEST(RestartPolicy, FailuresAtOnePlaceEndWhatWouldGoOnForEver) {
  for (const RestartStrategy& strategy :
       {RestartStrategy::exponential(100, 1000), RestartStrategy::failure_rate(100, 10, 50)}) {
    RestartPolicy policy(strategy);
    for (int i = 0; i < 4; ++i) {
      EXPECT_TRUE(policy.failed(i * second, at("a.txt, line 3", std::to_string(i))));
      policy.made_progress();
    }
    EXPECT_FALSE(policy.failed(9 * second, at("a.txt, line 3", "at last")));
    const Status last = policy.last(at("a.txt, line 3", "at last"));
    EXPECT_NE(last.message().find("line 3: at last (the job has failed there 5 times"),
              std::string::npos)
        << last.message();
  }
}

TEST(RestartPolicy, SaysOfAKeyFunctionWhatCanBeDoneAboutOne) {
  RestartPolicy policy(RestartStrategy::exponential(100, 1000));
  const Status failure(ErrorCode::user_function_failed,
                       "key function behind operator 'map' (subtask 0) failed at record 3 of its "
                       "output: it says");
  for (int i = 0; i < 5; ++i) (void)policy.failed(i, failure);
  const std::string last = policy.last(failure).message();
  EXPECT_NE(last.find("failed there 5 times"), std::string::npos) << last;
  EXPECT_NE(last.find("a filter ahead of it)"), std::string::npos) << last;
  EXPECT_EQ(last.find("on_failure"), std::string::npos) << last;
}

TEST(RestartPolicy, AnAuthorsOwnNumberOfAttemptsHolds) {
  RestartPolicy policy(RestartStrategy::fixed_delay(20, 10));
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(policy.failed(i, at("a.txt, line 3")));
  EXPECT_FALSE(policy.failed(20, at("a.txt, line 3")));
}

TEST(RestartPolicy, OutagesAndOtherPlacesGoOn) {
  RestartPolicy policy(RestartStrategy::exponential(100, 1000));
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(policy.failed(i, {ErrorCode::connection_lost, "the network is away"}));
    EXPECT_TRUE(policy.failed(i, at("a.txt, line " + std::to_string(i))));
  }
}

TEST(RestartPolicy, WhatIsToStopBeginsAgainAFewTimesSoon) {
  const Status outage(ErrorCode::io_error, "the disk is away");
  RestartPolicy policy(RestartStrategy::exponential(100, 60'000));
  for (int i = 0; i < 12; ++i) EXPECT_TRUE(policy.failed(i, outage));
  for (int i = 12; i < 15; ++i) {
    const std::optional<Nanoseconds> delay = policy.failed(i, outage, true);
    ASSERT_TRUE(delay);
    EXPECT_LE(*delay, second);
  }
  EXPECT_FALSE(policy.failed(15, outage, true));
  RestartPolicy of_author(RestartStrategy::fixed_delay(20, 5'000));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(of_author.failed(i, outage, true), 5 * second);
}

TEST(RestartPolicy, ANumberOfTheAttemptIsAnotherPlaceBehindACheckpoint) {
  RestartPolicy policy(RestartStrategy::exponential(100, 1000));
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(policy.failed(i, at("record 7 of its input")));
    policy.made_progress();
  }
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(policy.failed(i, at("record 7 of its input")));
  EXPECT_TRUE(policy.failed(3, at("record 7 of its input")));
  EXPECT_FALSE(policy.failed(4, at("record 7 of its input")));
}

}  // namespace
}  // namespace hummer::restart_policy_test
