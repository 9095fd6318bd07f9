#include "platform/wait_times.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace hummer::wait_times_test {
namespace {

TEST(WaitTimes, AWaitThatGoesOnCounts) {
  WaitTimes times;
  EXPECT_EQ(times.spent(100).idle_ns, 0);
  times.begin(100, false);
  EXPECT_EQ(times.spent(130).idle_ns, 30);
  times.end(150);
  EXPECT_EQ(times.spent(1000).idle_ns, 50);
  times.begin(200, true);
  EXPECT_EQ(times.spent(260).stalled_ns, 60);
  EXPECT_EQ(times.spent(260).idle_ns, 50);
  times.end(300);
  EXPECT_EQ(times.spent(1000).stalled_ns, 100);
}

TEST(WaitTimes, AClockThatIsALittleBehindTakesNothingBack) {
  WaitTimes times;
  times.begin(100, false);
  EXPECT_EQ(times.spent(90).idle_ns, 0);
  times.end(90);
  EXPECT_EQ(times.spent(90).idle_ns, 0);
}

TEST(WaitTimes, WhatAnotherThreadReadsNeverGoesBack) {
  WaitTimes times;
  std::atomic<Nanoseconds> clock{0};
  std::atomic<bool> over{false};
  std::thread reader([&] {
    WaitTimes::Spent last;
    while (!over.load()) {
      const WaitTimes::Spent spent = times.spent(clock.load());
      EXPECT_GE(spent.idle_ns, last.idle_ns);
      EXPECT_GE(spent.stalled_ns, last.stalled_ns);
      last = spent;
    }
  });
  for (int i = 0; i < 20'000; ++i) {
    times.begin(clock.load(), i % 2 == 0);
    clock.fetch_add(10);
    times.end(clock.load());
    clock.fetch_add(5);
  }
  over.store(true);
  reader.join();
  EXPECT_EQ(times.spent(clock.load()).idle_ns, 100'000);
  EXPECT_EQ(times.spent(clock.load()).stalled_ns, 100'000);
}

}  // namespace
}  // namespace hummer::wait_times_test
