// What an executor costs: ns per yield, per ready await of a child, and per
// cross-thread round trip through two WakeEvents, parked and with busy-poll.
//
//   hummer_platform_executor_bench [yields] [round trips]
//
// Round trips are paced (both sides idle before each) and printed as median and
// 99th percentile of one way, which is what one record sees in an idle system.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "platform/platform.hpp"
#include "platform/run_task.hpp"
#include "platform/task.hpp"
#include "platform/wake_event.hpp"

namespace hummer {
namespace {

Task<double> measure_yield(Executor& executor, int count) {
  const Nanoseconds start = executor.now();
  for (int i = 0; i < count; ++i) co_await yield();
  co_return static_cast<double>(executor.now() - start) / count;
}

Task<int> child(int value) { co_return value; }

Task<double> measure_child(Executor& executor, int count) {
  const Nanoseconds start = executor.now();
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    const int one = co_await child(1);
    sum += one;
  }
  co_return static_cast<double>(executor.now() - start) / (sum > 0 ? sum : 1);
}

Task<double> measure_idle_notify(Executor& executor, int count) {
  WakeEvent event;
  const Nanoseconds start = executor.now();
  for (int i = 0; i < count; ++i) event.notify();
  co_return static_cast<double>(executor.now() - start) / count;
}

struct Side {
  WakeEvent event;
  alignas(64) std::atomic<int> value{0};
};

Task<void> wait_for(Side& side, int value) {
  while (side.value.load(std::memory_order_acquire) < value) {
    side.event.prepare_wait();
    if (side.value.load(std::memory_order_acquire) >= value) {
      side.event.cancel_wait();
      break;
    }
    co_await side.event.wait();
  }
}

void set(Side& side, int value) {
  side.value.store(value, std::memory_order_release);
  side.event.notify();
}

Task<void> answer(Side& own, Side& other, int count) {
  for (int i = 1; i <= count; ++i) {
    co_await wait_for(own, i);
    set(other, i);
  }
}

Task<std::vector<double>> ask(Executor& executor, Side& own, Side& other, int count,
                              Nanoseconds pause) {
  std::vector<double> one_way;
  for (int i = 1; i <= count; ++i) {
    if (pause > 0) co_await sleep_for(pause);
    const Nanoseconds start = executor.now();
    set(other, i);
    co_await wait_for(own, i);
    one_way.push_back(static_cast<double>(executor.now() - start) / 2);
  }
  std::sort(one_way.begin(), one_way.end());
  co_return one_way;
}

void measure_round_trips(Platform& platform, const char* name, Nanoseconds spin_ns, int count,
                         Nanoseconds pause) {
  auto left = platform.make_executor({.name = "left", .spin_ns = spin_ns});
  auto right = platform.make_executor({.name = "right", .spin_ns = spin_ns});
  Side a, b;
  right->spawn(answer(b, a, count));
  const auto times = run_task(platform, *left, ask(*left, a, b, count, pause));
  left->stop();
  right->stop();
  std::printf("%-34s %10.0f ns one way (median) %10.0f ns (p99)\n", name,
              (*times)[times->size() / 2], (*times)[times->size() * 99 / 100]);
}

int run(int yields, int trips) {
  auto platform = make_linux_platform();
  {
    auto executor = platform->make_executor({.name = "bench"});
    std::printf("%-34s %10.1f ns\n", "yield",
                *run_task(*platform, *executor, measure_yield(*executor, yields)));
    std::printf("%-34s %10.1f ns\n", "await of a ready child",
                *run_task(*platform, *executor, measure_child(*executor, yields)));
    std::printf("%-34s %10.1f ns\n", "notify without waiter",
                *run_task(*platform, *executor, measure_idle_notify(*executor, yields)));
  }
  measure_round_trips(*platform, "notify, busy-poll", busy_poll, trips, 0);
  measure_round_trips(*platform, "notify, busy-poll, idle before", busy_poll, trips,
                      microseconds(200));
  measure_round_trips(*platform, "notify, spin 50 us", microseconds(50), trips, 0);
  measure_round_trips(*platform, "notify, parked", 0, trips, 0);
  measure_round_trips(*platform, "notify, parked, idle before", 0, trips, microseconds(200));
  return 0;
}

}  // namespace
}  // namespace hummer

int main(int argc, char** argv) {
  const int yields = argc > 1 ? std::atoi(argv[1]) : 2'000'000;
  const int trips = argc > 2 ? std::atoi(argv[2]) : 5'000;
  if (yields < 1 || trips < 1) {
    std::fprintf(stderr, "usage: %s [yields >= 1] [round trips >= 1]\n", argv[0]);
    return 2;
  }
  return hummer::run(yields, trips);
}
