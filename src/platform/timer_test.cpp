#include "platform/timer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "platform/random.hpp"

namespace hummer::timer_test {
namespace {

struct Firing {
  std::vector<int>* log;
  int number;
  static void fire(void* self) {
    auto* firing = static_cast<Firing*>(self);
    firing->log->push_back(firing->number);
  }
};

TEST(TimerHeap, FiresByTimeThenInOrderOfArming) {
  Random random(7);
  std::vector<int> log;
  std::vector<std::unique_ptr<Firing>> firings;
  std::vector<std::unique_ptr<Timer>> timers;
  std::vector<std::pair<Nanoseconds, int>> expected;
  TimerHeap heap;
  for (int i = 0; i < 500; ++i) {
    firings.push_back(std::make_unique<Firing>(Firing{&log, i}));
    timers.push_back(std::make_unique<Timer>(&Firing::fire, firings.back().get()));
    heap.arm(*timers.back(), 0);
  }
  for (int i = 0; i < 500; ++i) {
    const Nanoseconds when = static_cast<Nanoseconds>(random.below(50));
    heap.arm(*timers[i], when);  // moves it
    if (random.chance(0.3)) {
      timers[i]->disarm();
    } else {
      expected.emplace_back(when, i);
    }
  }
  std::stable_sort(expected.begin(), expected.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<int> order;
  for (const auto& [when, number] : expected) order.push_back(number);
  for (Nanoseconds now = 0; now < 50; ++now) {
    heap.fire(now);
    EXPECT_GT(heap.next(), now);
  }
  EXPECT_EQ(log, order);
  EXPECT_TRUE(heap.empty());
}

struct Repeating {
  TimerHeap* heap;
  int count = 0;
  Timer timer{&Repeating::fire, this};
  static void fire(void* self) {
    auto* repeating = static_cast<Repeating*>(self);
    ++repeating->count;
    repeating->heap->arm(repeating->timer, 0);
  }
};

TEST(TimerHeap, ATimerThatRearmsItselfFiresOncePerCall) {
  TimerHeap heap;
  Repeating repeating{&heap};
  heap.arm(repeating.timer, 0);
  heap.fire(10);
  EXPECT_EQ(repeating.count, 1);
  heap.fire(10);
  EXPECT_EQ(repeating.count, 2);
}

}  // namespace
}  // namespace hummer::timer_test
