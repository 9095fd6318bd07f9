#include <hummer/detail/state/spilled_timers.hpp>

#include <gtest/gtest.h>

#include <hummer/detail/state/ordered_key.hpp>
#include <hummer/detail/testing/fake_operator_context.hpp>
#include <limits>
#include <set>

#include "platform/simulation.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::spilled_timers_test {
namespace {

using Wake = SpilledTimers::Wake;

TEST(SpilledTimers, ComeInTheOrderOfTimesThenKeys) {
  const auto node = make_simulated_platform({.seed = 1});
  FakeOperatorContext context({.name = "alarms", .platform = node.get()});
  Random random(3);
  for (std::uint64_t round = 0; round < drawn_cases(10); ++round) {
    SpilledTimers timers;
    timers.open(context);
    std::set<Wake> model;
    Timestamp now = -500;
    for (int step = 0; step < 60; ++step) {
      std::vector<Wake> wakes;
      // Few times, so that many blocks begin with the same one; a few that are over already.
      for (std::uint64_t i = 0, count = random.below(2000); i < count; ++i) {
        wakes.push_back({now + random.between(random.chance(0.01) ? -20 : 0, 40),
                         OrderedKey<std::int64_t>::of(random.between(-5000, 5000))});
      }
      const bool before_some_passed =
          std::any_of(wakes.begin(), wakes.end(), [&](const Wake& w) { return w.time <= now; });
      model.insert(wakes.begin(), wakes.end());
      ASSERT_TRUE(timers.add(wakes).ok());
      now += random.between(0, 25);
      while (!timers.empty() && timers.next().time <= now) {
        const Wake next = timers.next();
        ASSERT_TRUE(timers.pass().ok());
        // What has been passed may come again, but nothing is left out or comes out of turn.
        if (!model.empty() && next == *model.begin()) {
          model.erase(model.begin());
        } else {
          ASSERT_TRUE(before_some_passed);
          ASSERT_TRUE(model.empty() || next < *model.begin());
        }
      }
      ASSERT_TRUE(model.empty() || model.begin()->time > now);
    }
    while (!timers.empty()) ASSERT_TRUE(timers.pass().ok());
    EXPECT_EQ(timers.disk_bytes(), 0u);
  }
}

TEST(SpilledTimers, ThoseThatHavePassedGoWhenRunsAreMerged) {
  const auto node = make_simulated_platform({.seed = 1});
  FakeOperatorContext context({.name = "alarms", .platform = node.get()});
  SpilledTimers timers;
  timers.open(context);
  ASSERT_TRUE(timers.add({{end_of_time, "for ever"}}).ok());
  for (Timestamp time = 0; time < 100; ++time) {
    std::vector<Wake> wakes;
    for (int key = 0; key < 200; ++key) wakes.push_back({time, std::to_string(key)});
    ASSERT_TRUE(timers.add(std::move(wakes)).ok());
    (void)node->run_until([] { return false; }, never);
    while (timers.next().time <= time) ASSERT_TRUE(timers.pass().ok());
    EXPECT_LT(timers.disk_bytes(), 100'000u);
  }
}

TEST(OrderedKey, BytesAreOrderedAsTheKeys) {
  const auto check = [](const auto& keys) {
    using K = std::remove_cvref_t<decltype(keys[0])>;
    for (const K& a : keys) {
      EXPECT_EQ(OrderedKey<K>::key(OrderedKey<K>::of(a)), a);
      for (const K& b : keys) EXPECT_EQ(OrderedKey<K>::of(a) < OrderedKey<K>::of(b), a < b);
    }
  };
  using I64 = std::numeric_limits<std::int64_t>;
  check(std::vector<std::int64_t>{I64::min(), -256, -1, 0, 1, 255, 256, I64::max()});
  check(std::vector<std::uint64_t>{0, 1, 255, 256, UINT64_MAX});
  check(std::vector<std::int8_t>{-128, -1, 0, 127});
  check(std::vector<std::uint16_t>{0, 255, 256, 65535});
  check(std::vector<std::string>{"", std::string(1, '\0'), "a", "ab", "b", "\xff"});
}

}  // namespace
}  // namespace hummer::spilled_timers_test
