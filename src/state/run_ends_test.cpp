#include "state/run_ends.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "platform/random.hpp"

namespace hummer::run_ends_test {
namespace {

TEST(RunEnds, KnowsWhatIsOverToAPartOfTheTimeBetweenTheEnds) {
  Random random(5);
  for (int round = 0; round < 400; ++round) {
    // From moments to years, before and behind zero.
    const auto span = static_cast<std::int64_t>(1) << random.below(50);
    const std::int64_t begin = random.between(-2, 2) * span;
    RunEnds ends;
    std::vector<std::pair<std::int64_t, std::uint64_t>> model;
    for (std::uint64_t i = 1 + random.below(300); i > 0; --i) {
      model.emplace_back(begin + random.between(0, span), 1 + random.below(1000));
      ends.add(model.back().first, model.back().second);
    }
    const auto exactly = [&](std::int64_t now) {
      std::uint64_t bytes = 0;
      for (const auto& [end, of_one] : model) bytes += end <= now ? of_one : 0;
      return bytes;
    };
    const auto [first, last] = std::minmax_element(model.begin(), model.end());
    const std::int64_t between = last->first - first->first;
    ASSERT_EQ(ends.last(), last->first);
    for (int question = 0; question < 50; ++question) {
      const std::int64_t now = begin + random.between(-span / 4, span + span / 4);
      ASSERT_LE(ends.over_bytes(now), exactly(now));
      ASSERT_GE(ends.over_bytes(now), exactly(now - between / 7)) << "round " << round;
    }
    ASSERT_EQ(ends.over_bytes(last->first), exactly(last->first));
    ASSERT_TRUE(ends.all_over(last->first));
    ASSERT_FALSE(ends.all_over(last->first - 1));
  }
}

TEST(RunEnds, WhatHasNoEndIsNeverOver) {
  RunEnds ends;
  EXPECT_TRUE(ends.all_over(0));  // there is nothing
  ends.add(10, 1);
  EXPECT_TRUE(ends.all_over(10));
  ends.add(RunEnds::never, 5);
  EXPECT_FALSE(ends.all_over(10));
  EXPECT_FALSE(ends.all_over(INT64_MAX));
  EXPECT_EQ(ends.over_bytes(INT64_MAX), 1u);
}

TEST(RunEnds, WhatNeverWasAnythingElseTakesNoStep) {
  RunEnds ends;
  ends.add(RunEnds::always, 7);
  for (std::int64_t end = 1000; end < 1016; ++end) ends.add(end, 1);
  EXPECT_EQ(ends.over_bytes(INT64_MIN), 7u);
  EXPECT_EQ(ends.over_bytes(1003), 11u);
}

}  // namespace
}  // namespace hummer::run_ends_test
