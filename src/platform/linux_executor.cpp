#include "platform/linux_executor.hpp"

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <future>
#include <utility>

#include <hummer/status.hpp>

namespace hummer {
namespace {

constexpr unsigned longest_round = 64;
constexpr Nanoseconds round_target = microseconds(50);
constexpr Nanoseconds busy_poll_interval = microseconds(100);  // of descriptors, with work at hand
constexpr Nanoseconds idle_poll_interval = microseconds(2);    // while spinning

inline void relax_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void apply_thread_options(const ExecutorOptions& options) {
  pthread_setname_np(pthread_self(), options.name.substr(0, 15).c_str());
  if (options.core < 0 || options.core >= CPU_SETSIZE) return;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<unsigned>(options.core), &cores);
  pthread_setaffinity_np(pthread_self(), sizeof(cores), &cores);  // a request
}

}  // namespace

Nanoseconds linux_now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return seconds(time.tv_sec) + time.tv_nsec;
}

std::int64_t linux_wall_time_ms() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1000 + time.tv_nsec / 1'000'000;
}

LinuxExecutor::LinuxExecutor(ExecutorOptions options, std::shared_ptr<RunningCount> count)
    : Executor(std::move(options)), count_(std::move(count)) {
  // thread_id_ must stand before anyone can ask is_current().
  std::promise<void> started;
  thread_ = std::thread([this, &started] {
    thread_id_ = std::this_thread::get_id();
    started.set_value();
    run();
  });
  started.get_future().wait();
}

LinuxExecutor::~LinuxExecutor() { stop(); }

void LinuxExecutor::stop() {
  HUMMER_ASSERT(!is_current());
  std::lock_guard lock(stop_mutex_);
  if (!thread_.joinable()) return;
  stop_requested_.store(true, std::memory_order_seq_cst);
  wake();
  thread_.join();
}

void LinuxExecutor::wake() {
  // Total order with park(): it sets parked_, then looks at the inbox and the stop flag.
  if (parked_.load(std::memory_order_seq_cst) &&
      parked_.exchange(false, std::memory_order_seq_cst)) {
    reactor_.wake();
  }
}

void LinuxExecutor::run() {
  apply_thread_options(options_);
  count_->running.fetch_add(1, std::memory_order_relaxed);
  recent_now_ = linux_now();
  while (!stop_requested_.load(std::memory_order_relaxed)) {
    deliver_inbox();
    if (!pollers_.empty()) call_pollers();
    if (!ready_.empty()) {
      run_round();
    } else {
      wait_times_.begin(recent_now_, stalled_tasks_ > 0);
      spin();
      if (!has_work() && !stop_requested_.load(std::memory_order_relaxed)) park();
      wait_times_.end(recent_now_);
    }
  }
  count_->running.fetch_sub(1, std::memory_order_relaxed);
  drop_everything();
}

void LinuxExecutor::run_round() {
  unsigned resumed = 0;
  do {
    resume_one();
  } while (++resumed < round_limit_ && !ready_.empty());
  const Nanoseconds began = recent_now_;
  tick(busy_poll_interval);
  if (resumed < round_limit_) return;
  const Nanoseconds took = recent_now_ - began;
  if (took > round_target) {
    round_limit_ = round_limit_ > 1 ? round_limit_ / 2 : 1;
  } else if (took < round_target / 4 && round_limit_ < longest_round) {
    round_limit_ *= 2;
  }
}

void LinuxExecutor::tick(Nanoseconds poll_interval) {
  recent_now_ = linux_now();
  if (timers_.next() <= recent_now_) timers_.fire(recent_now_);
  if (!reactor_.empty() && recent_now_ - last_poll_ >= poll_interval) {
    last_poll_ = recent_now_;
    reactor_.poll(0);
  }
}

void LinuxExecutor::spin() {
  tick(idle_poll_interval);
  const bool endless = options_.spin_ns == busy_poll;
  if (options_.spin_ns <= 0 || (crowded() && !endless)) return;
  const Nanoseconds began = recent_now_;
  while (!has_work() && !stop_requested_.load(std::memory_order_relaxed)) {
    for (int i = 0; i < 16; ++i) {
      if (!inbox_.empty()) return;
      relax_processor();
    }
    if (!pollers_.empty() && call_pollers()) return;
    tick(idle_poll_interval);
    if (!endless && (recent_now_ - began >= options_.spin_ns || crowded())) return;
    if (endless && crowded()) ::sched_yield();
  }
}

void LinuxExecutor::park() {
  parked_.store(true, std::memory_order_seq_cst);
  bool stay_awake = !inbox_.empty() || stop_requested_.load(std::memory_order_seq_cst);
  std::size_t prepared = 0;
  while (!stay_awake && prepared < pollers_.size()) {
    stay_awake = !pollers_[prepared++]->prepare_park() || !ready_.empty();
  }
  if (!stay_awake) {
    count_->running.fetch_sub(1, std::memory_order_relaxed);
    Nanoseconds timeout = never;
    if (timers_.next() != never) {
      timeout = timers_.next() - linux_now();
      if (timeout < 0) timeout = 0;
    }
    reactor_.poll(timeout);
    last_poll_ = recent_now_;
    count_->running.fetch_add(1, std::memory_order_relaxed);
  }
  parked_.store(false, std::memory_order_seq_cst);
  for (std::size_t i = 0; i < prepared; ++i) pollers_[i]->after_park();
  recent_now_ = linux_now();
  if (timers_.next() <= recent_now_) timers_.fire(recent_now_);
}

}  // namespace hummer
