#include "platform/task.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "platform/run_task.hpp"
#include "platform/simulation.hpp"
#include "platform/wake_event.hpp"

namespace hummer::task_test {
namespace {

// Every test runs on both forms.
class TaskTest : public testing::TestWithParam<bool> {
 protected:
  TaskTest() {
    if (GetParam()) {
      platform_ = make_simulated_platform({.seed = 3});
    } else {
      platform_ = make_linux_platform();
    }
    executor_ = platform_->make_executor({.name = "test"});
  }
  std::unique_ptr<Platform> platform_;
  std::unique_ptr<Executor> executor_;
};
INSTANTIATE_TEST_SUITE_P(Forms, TaskTest, testing::Bool(),
                         [](const auto& form) { return form.param ? "Simulated" : "Linux"; });

Task<int> ready(int value) { co_return value; }

Task<long> await_ready_ones(int count) {
  long sum = 0;
  for (int i = 0; i < count; ++i) {
    const int one = co_await ready(1);
    sum += one;
  }
  co_return sum;
}

TEST_P(TaskTest, ThreeMillionReadyAwaitsDoNotOverflowTheStack) {
  EXPECT_EQ(run_task(*platform_, *executor_, await_ready_ones(3'000'000)), 3'000'000);
}

Task<int> suspends_once(int value) {
  co_await yield();
  co_return value;
}

Task<long> await_suspending_ones(int count) {
  long sum = 0;
  for (int i = 0; i < count; ++i) {
    const int one = co_await suspends_once(1);
    sum += one;
  }
  co_return sum;
}

TEST_P(TaskTest, ManySuspendingAwaitsDoNotOverflowTheStack) {
  EXPECT_EQ(run_task(*platform_, *executor_, await_suspending_ones(200'000)), 200'000);
}

Task<int> throws(bool first_suspends) {
  if (first_suspends) co_await yield();
  throw std::runtime_error("from inside");
}

Task<std::string> catches(bool first_suspends) {
  Task<int> task = throws(first_suspends);  // nothing runs yet
  try {
    const int unused = co_await std::move(task);
    (void)unused;
  } catch (const std::runtime_error& error) {
    co_return error.what();
  }
  co_return "nothing";
}

TEST_P(TaskTest, ExceptionIsRethrownWhereItsResultIsAwaited) {
  EXPECT_EQ(run_task(*platform_, *executor_, catches(false)), "from inside");
  EXPECT_EQ(run_task(*platform_, *executor_, catches(true)), "from inside");
}

Task<bool> inherits_executor(Executor& expected) {
  Executor& mine = co_await current_executor();
  co_return &mine == &expected&& mine.is_current();
}

Task<bool> child_inherits_executor(Executor& expected) {
  const bool child = co_await inherits_executor(expected);
  co_return child;
}

TEST_P(TaskTest, ChildRunsOnTheExecutorOfItsParent) {
  EXPECT_EQ(run_task(*platform_, *executor_, child_inherits_executor(*executor_)), true);
  EXPECT_FALSE(executor_->is_current());
}

Task<void> append_letters(std::string& log, char letter) {
  for (int i = 0; i < 3; ++i) {
    log.push_back(letter);
    co_await yield();
  }
}

Task<std::string> interleave(Executor& executor) {
  std::string log;
  executor.spawn(append_letters(log, 'a'));
  executor.spawn(append_letters(log, 'b'));
  while (log.size() < 6) co_await yield();
  co_await yield();
  co_await yield();
  co_return log;
}

TEST_P(TaskTest, YieldGoesToTheBackOfTheQueue) {
  EXPECT_EQ(run_task(*platform_, *executor_, interleave(*executor_)), "ababab");
}

Task<void> note_after(Nanoseconds when, std::string& log, char letter) {
  co_await sleep_until(when);
  log.push_back(letter);
}

Task<std::string> sleep_in_order(Executor& executor) {
  std::string log;
  const Nanoseconds start = executor.now();
  executor.spawn(note_after(start + milliseconds(3), log, 'c'));
  executor.spawn(note_after(start + milliseconds(1), log, 'a'));
  executor.spawn(note_after(start + milliseconds(2), log, 'b'));
  executor.spawn(note_after(start - milliseconds(1), log, 'p'));  // past
  co_await sleep_for(milliseconds(4));
  while (log.size() < 4) co_await yield();
  co_return executor.now() >= start + milliseconds(3) ? log : "too early";
}

TEST_P(TaskTest, SleepersWakeInOrderOfTime) {
  EXPECT_EQ(run_task(*platform_, *executor_, sleep_in_order(*executor_)), "pabc");
}

struct Counted {
  explicit Counted(std::atomic<int>& counter) : count(counter) { ++count; }
  ~Counted() { --count; }
  std::atomic<int>& count;
};

Task<void> waits_inside(std::atomic<int>& alive, WakeEvent& event, int how) {
  Counted counted(alive);
  if (how == 0) co_await sleep_for(seconds(1000));
  if (how == 1) {
    event.prepare_wait();
    co_await event.wait();
  }
  while (how == 2) co_await yield();
}

Task<void> waits(std::atomic<int>& alive, int how) {
  Counted counted(alive);
  WakeEvent event;
  co_await waits_inside(alive, event, how);
}

TEST_P(TaskTest, StopDestroysUnfinishedFrames) {
  std::atomic<int> alive{0};
  for (int how = 0; how < 3; ++how) executor_->spawn(waits(alive, how));
  run_task(*platform_, *executor_, suspends_once(1));
  EXPECT_EQ(alive, 6);
  executor_->stop();
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(executor_->live_tasks(), 0u);
  executor_->spawn(waits(alive, 0));  // ignored
  EXPECT_EQ(executor_->live_tasks(), 0u);
  EXPECT_EQ(alive, 0);
}

Task<void> count_up(std::atomic<int>& count) {
  co_await yield();
  ++count;
}

TEST(LinuxExecutor, SpawnFromManyThreads) {
  auto platform = make_linux_platform();
  auto executor = platform->make_executor({.name = "target"});
  std::atomic<int> count{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 2000; ++i) executor->spawn(count_up(count));
      });
    }
  }
  while (executor->live_tasks() > 0) std::this_thread::yield();
  EXPECT_EQ(count, 8000);
}

TEST(LinuxExecutor, StopWhileOthersSpawn) {
  auto platform = make_linux_platform();
  for (int round = 0; round < 20; ++round) {
    auto executor = platform->make_executor({.name = "target"});
    std::atomic<int> count{0};
    std::jthread spawner([&] {
      for (int i = 0; i < 500; ++i) executor->spawn(count_up(count));
    });
    std::this_thread::yield();
    executor->stop();
    spawner.join();
    EXPECT_EQ(executor->live_tasks(), 0u);
  }
}

class CountingPoller final : public Poller {
 public:
  explicit CountingPoller(WakeEvent& event) : event_(event) {}
  bool poll() override {
    if (++calls_ != 100) return false;
    event_.notify();
    return true;
  }

 private:
  WakeEvent& event_;
  int calls_ = 0;
};

Task<bool> wait_for_poller(Executor& executor) {
  WakeEvent event;
  CountingPoller poller(event);
  executor.add_poller(poller);
  event.prepare_wait();
  co_await event.wait();
  executor.remove_poller(poller);
  co_return true;
}

TEST(LinuxExecutor, IdleBusyPollCallsPollers) {
  auto platform = make_linux_platform();
  auto executor = platform->make_executor({.name = "busy", .spin_ns = busy_poll});
  EXPECT_EQ(run_task(*platform, *executor, wait_for_poller(*executor)), true);
}

}  // namespace
}  // namespace hummer::task_test
