#include "platform/wake_event.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "platform/random.hpp"
#include "platform/run_task.hpp"
#include "platform/simulation.hpp"

namespace hummer::wake_event_test {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int rounds = 10'000;
#else
constexpr int rounds = 50'000;
#endif

struct Side {
  WakeEvent event;
  std::atomic<int> value{0};
};

// Waits until `own` reached i, then sets `other` to i: a lost wake-up hangs the game.
Task<int> play(Side& own, Side& other, bool first) {
  for (int i = 1; i <= rounds; ++i) {
    if (first) {
      other.value.store(i, std::memory_order_release);
      other.event.notify();
    }
    while (own.value.load(std::memory_order_acquire) < i) {
      own.event.prepare_wait();
      if (own.value.load(std::memory_order_acquire) >= i) {
        own.event.cancel_wait();
        break;
      }
      co_await own.event.wait();
    }
    if (!first) {
      other.value.store(i, std::memory_order_release);
      other.event.notify();
    }
  }
  co_return rounds;
}

Task<void> play_second(Side& own, Side& other) {
  const int unused = co_await play(own, other, false);
  (void)unused;
}

void play_game(Nanoseconds spin_ns) {
  auto platform = make_linux_platform();
  auto left = platform->make_executor({.name = "left", .spin_ns = spin_ns});
  auto right = platform->make_executor({.name = "right", .spin_ns = spin_ns});
  Side a, b;
  right->spawn(play_second(b, a));
  EXPECT_EQ(run_task(*platform, *left, play(a, b, true)), rounds);
  left->stop();
  right->stop();
}

TEST(WakeEvent, NoLostWakeUpParked) { play_game(0); }
TEST(WakeEvent, NoLostWakeUpSpinning) { play_game(microseconds(20)); }
TEST(WakeEvent, NoLostWakeUpBusyPoll) { play_game(busy_poll); }

void pause_for(std::uint64_t turns) {
  for (std::uint64_t i = 0; i < turns; ++i) asm volatile("" ::: "memory");
}

constexpr int meetings = rounds / 5;

// The waiter's announcement and the notifier's write fall into the same few nanoseconds: the
// one window in which a missing fence loses a wake-up (and this task hangs). Writing to lines
// that the other side owns fills the notifier's store buffer, which widens the window.
struct alignas(64) Line {
  std::atomic<int> value{0};
};
using Lines = std::array<Line, 8>;

Task<int> meet(Lines& lines, std::atomic<int>& ready, std::atomic<int>& value, WakeEvent& event) {
  Random random(1);
  for (int i = 1; i <= meetings; ++i) {
    for (Line& line : lines) line.value.store(i, std::memory_order_relaxed);
    ready.store(i, std::memory_order_release);
    pause_for(random.below(64));
    // Again when woken: the last round's notify() may come as late as this wait.
    while (true) {
      event.prepare_wait();
      if (value.load(std::memory_order_acquire) >= i) break;
      co_await event.wait();
    }
    event.cancel_wait();
  }
  co_return meetings;
}

TEST(WakeEvent, NoLostWakeUpWhenBothMeet) {
  auto platform = make_linux_platform();
  auto executor = platform->make_executor({.name = "waiter", .spin_ns = busy_poll});
  Lines lines;
  alignas(64) std::atomic<int> ready{0};
  alignas(64) std::atomic<int> value{0};
  alignas(64) WakeEvent event;
  std::thread notifier([&] {
    Random random(2);
    for (int i = 1; i <= meetings; ++i) {
      for (int spins = 0; ready.load(std::memory_order_acquire) < i; ++spins) {
        if (spins > 10'000) std::this_thread::yield();
      }
      pause_for(random.below(64));
      for (Line& line : lines) line.value.store(-i, std::memory_order_relaxed);
      value.store(i, std::memory_order_release);
      event.notify();
    }
  });
  EXPECT_EQ(run_task(*platform, *executor, meet(lines, ready, value, event)), meetings);
  notifier.join();
  executor->stop();
}

// The notifier is a plain thread that never waits, so that notify() meets every state; and
// the deadlines are so short that timing out races with it.
Task<int> chase(std::atomic<int>& produced, WakeEvent& event, Executor& executor, int& time_outs) {
  int seen = 0;
  while (seen < rounds) {
    event.prepare_wait();
    const int now = produced.load(std::memory_order_acquire);
    if (now > seen) {
      event.cancel_wait();
      seen = now;
      if (seen % 3 == 0) co_await yield();
      continue;
    }
    const bool notified = co_await event.wait_until(executor.now() + microseconds(seen % 5));
    if (!notified) ++time_outs;
  }
  co_return seen;
}

TEST(WakeEvent, NotifyRacesWithTimeOutAndCancel) {
  auto platform = make_linux_platform();
  auto executor = platform->make_executor({.name = "chaser"});
  std::atomic<int> produced{0};
  WakeEvent event;
  int time_outs = 0;
  std::thread producer([&] {
    for (int i = 1; i <= rounds; ++i) {
      produced.store(i, std::memory_order_release);
      event.notify();
      if (i % 64 == 0) std::this_thread::yield();
    }
  });
  EXPECT_EQ(run_task(*platform, *executor, chase(produced, event, *executor, time_outs)), rounds);
  producer.join();
  executor->stop();
}

Task<int> early_notice(WakeEvent& event) {
  int score = 0;
  event.prepare_wait();
  event.notify();
  co_await event.wait();  // does not suspend
  ++score;
  event.prepare_wait();
  event.notify();
  event.cancel_wait();
  Executor& executor = co_await current_executor();
  // A notify that was cancelled, or came while idle, is not remembered.
  event.notify();
  event.prepare_wait();
  const bool notified = co_await event.wait_until(executor.now() + microseconds(50));
  score += notified ? 0 : 10;
  co_return score;
}

TEST(WakeEvent, NotifyBeforeWaitIsSeenAndCancelForgetsIt) {
  auto platform = make_simulated_platform({.seed = 1});
  auto executor = platform->make_executor({});
  WakeEvent event;
  EXPECT_EQ(run_task(*platform, *executor, early_notice(event)), 11);
}

Task<void> notify_later(WakeEvent& event, Nanoseconds delay) {
  co_await sleep_for(delay);
  event.notify();
}

Task<bool> wait_with_deadline(WakeEvent& event, Executor& other, Nanoseconds notify_after,
                              Nanoseconds deadline_after) {
  Executor& executor = co_await current_executor();
  other.spawn(notify_later(event, notify_after));
  event.prepare_wait();
  const bool notified = co_await event.wait_until(executor.now() + deadline_after);
  co_return notified;
}

TEST(WakeEvent, DeadlineUnderVirtualTime) {
  auto platform = make_simulated_platform({.seed = 1});
  auto left = platform->make_executor({});
  auto right = platform->make_executor({});
  WakeEvent event;
  EXPECT_EQ(run_task(*platform, *left,
                     wait_with_deadline(event, *right, milliseconds(1), milliseconds(50))),
            true);
  EXPECT_EQ(run_task(*platform, *left,
                     wait_with_deadline(event, *right, milliseconds(50), milliseconds(1))),
            false);
}

Task<void> wait_for_ever(WakeEvent& event) {
  event.prepare_wait();
  co_await event.wait();
}

TEST(WakeEvent, MayOutliveOrPrecedeAStoppedWaiter) {
  auto platform = make_simulated_platform({.seed = 1});
  auto executor = platform->make_executor({});
  WakeEvent event;
  executor->spawn(wait_for_ever(event));
  platform->run_until([] { return false; }, seconds(1));
  EXPECT_TRUE(event.has_waiter());
  executor->stop();
  EXPECT_FALSE(event.has_waiter());
  event.notify();  // nobody is there
}

Task<void> wait_again_and_again(WakeEvent& event) {
  while (true) {
    event.prepare_wait();
    co_await event.wait();
  }
}

// A notifier must not look at a waiter whose frame the stopping executor has destroyed: what the
// sanitizers would see.
TEST(WakeEvent, NotifyRacesWithTheStopOfTheWaitersExecutor) {
  constexpr int stops = 200;
  auto platform = make_linux_platform();
  WakeEvent event;
  std::atomic<bool> ended{false};
  std::thread notifier([&] {
    while (!ended.load(std::memory_order_acquire)) event.notify();
  });
  std::vector<std::unique_ptr<Executor>> executors;  // each outlives the running notify()
  for (int i = 0; i < stops; ++i) {
    executors.push_back(platform->make_executor({.name = "waiter"}));
    executors.back()->spawn(wait_again_and_again(event));
    std::this_thread::sleep_for(std::chrono::microseconds(i));
    executors.back()->stop();
  }
  ended.store(true, std::memory_order_release);
  notifier.join();
  EXPECT_FALSE(event.has_waiter());
}

}  // namespace
}  // namespace hummer::wake_event_test
