// LinuxExecutor: an executor that is one thread with an epoll reactor.
//
// The loop, per round: take the inbox, call the pollers, resume coroutines until
// the round is full or none is ready, read the clock, fire timers, now and then
// look at the descriptors. The length of a round adapts between 1 and 64 resumes
// so that a round takes about 50 µs at most. Without work it spins (as long as
// its options say), then parks in epoll_wait until a timer, a descriptor or an
// eventfd written by wake().
//
// (Linux form only; nothing outside platform/ includes this.)
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "platform/executor.hpp"
#include "platform/reactor.hpp"

namespace hummer {

// How many executors of a platform are awake; shared by them.
struct RunningCount {
  std::atomic<int> running{0};
  int processors = 1;
};

Nanoseconds linux_now();
std::int64_t linux_wall_time_ms();

class LinuxExecutor final : public Executor {
 public:
  LinuxExecutor(ExecutorOptions options, std::shared_ptr<RunningCount> count);
  ~LinuxExecutor() override;

  Nanoseconds now() const override { return linux_now(); }
  std::int64_t wall_time_ms() const override { return linux_wall_time_ms(); }
  bool is_current() const override { return std::this_thread::get_id() == thread_id_; }
  void stop() override;

  Reactor& reactor() { return reactor_; }

 private:
  void wake() override;
  void run();
  void run_round();
  void tick(Nanoseconds poll_interval);
  bool has_work() { return !ready_.empty() || !inbox_.empty(); }
  bool crowded() const {
    return count_->running.load(std::memory_order_relaxed) > count_->processors;
  }
  void spin();
  void park();

  std::shared_ptr<RunningCount> count_;
  Reactor reactor_;
  Nanoseconds last_poll_ = 0;
  unsigned round_limit_ = 16;
  std::atomic<bool> stop_requested_{false};
  alignas(64) std::atomic<bool> parked_{false};
  std::mutex stop_mutex_;
  std::thread thread_;
  std::thread::id thread_id_;
};

}  // namespace hummer
