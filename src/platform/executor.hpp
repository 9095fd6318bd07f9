// Executor: the cooperative scheduler behind one slot.
//
// It resumes coroutines, one at a time, in the order in which they became
// ready. A coroutine gives way by awaiting (yield, sleep, WakeEvent, a byte
// stream); nothing is preempted. Two forms: LinuxExecutor is one thread with an
// epoll reactor; SimulatedExecutor is stepped by the simulation. Made by
// Platform::make_executor.
//
// Lifecycle: runs from its creation until stop(). stop() ends the loop between
// two resumes, drops what is queued, destroys the frames of all tasks that have
// not finished (their destructors run, their bodies do not go on), and returns
// when no code runs on the executor any more. A stopped executor ignores posts
// and spawns. The destructor stops it. Another thread that may still notify a
// waiter of this executor must be stopped before the executor is destroyed:
// stop all executors first, then destroy them.
//
// Thread: spawn, post_from_anywhere and stop from any thread (stop: not from
// its own), everything else from the own thread.
//
// Cost: a ready coroutine costs a ring push, a ring pop and the resume. There is
// no lock, no system call and no clock reading per resume; the loop reads the
// clock every few resumes (adapting to how long they take), polls descriptors
// at most every 100 µs, and looks at the inbox (one load) once per round.
//
// Errors: an exception that leaves a spawned task is our own mistake (nobody
// awaits its result): the process ends with an assertion that names it.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "platform/inbox.hpp"
#include "platform/poller.hpp"
#include "platform/ready_queue.hpp"
#include "platform/time.hpp"
#include "platform/timer.hpp"
#include "platform/wait_times.hpp"

namespace hummer {

template <typename T = void>
class Task;
class RootTask;

// Spin without end: the executor never parks (lowest latency, a core burnt).
inline constexpr Nanoseconds busy_poll = never;

struct ExecutorOptions {
  std::string name = "slot";
  // Core to pin the thread to; negative: not pinned. Failure to pin is not fatal.
  int core = -1;
  // How long an idle executor polls before it parks. Finite spinning is left out while
  // more executors are runnable than there are processors.
  Nanoseconds spin_ns = 0;
};

class Executor {
 public:
  virtual ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  const std::string& name() const { return options_.name; }

  // Any thread. The executor owns the task until it is done.
  void spawn(Task<void> task);
  // Spawned tasks that have not finished. Any thread; a snapshot.
  std::size_t live_tasks() const { return live_tasks_.load(std::memory_order_acquire); }

  // Own thread. To the back of the ready queue.
  void post(std::coroutine_handle<> handle) {
    if (!stopping_) [[likely]]
      ready_.push(handle);
  }
  // Any thread. Wakes the executor when it is parked. The first form allocates a node.
  void post_from_anywhere(std::coroutine_handle<> handle);
  void post_from_anywhere(InboxNode& node);

  // Reads the platform's monotonic clock.
  virtual Nanoseconds now() const = 0;
  // Own thread. Whether others of its tasks are ready to go on.
  bool others_are_ready() const { return !ready_.empty(); }
  // Own thread. The loop's last reading of the clock: free, a few resumes old.
  Nanoseconds recent_now() const { return recent_now_; }
  // Milliseconds since 1970.
  virtual std::int64_t wall_time_ms() const = 0;

  // Own thread. Arms `timer`; a time that has passed fires in the next round.
  void call_at(Timer& timer, Nanoseconds when) { timers_.arm(timer, when); }

  // Own thread. The poller must be removed before it is destroyed.
  void add_poller(Poller& poller);
  void remove_poller(Poller& poller);

  // Own thread. How many of its tasks wait for others to take what they have: while there is one,
  // time without work counts as stalled.
  void stall_begins() { ++stalled_tasks_; }
  void stall_ends() { --stalled_tasks_; }
  // Any thread. How long it had no work; simulated, where work takes no time, never.
  WaitTimes::Spent waited() const { return wait_times_.spent(now()); }

  // Whether the caller runs on this executor.
  virtual bool is_current() const = 0;

  virtual void stop() = 0;
  // Own thread. True while frames are destroyed by stop().
  bool is_stopping() const { return stopping_; }

 protected:
  explicit Executor(ExecutorOptions options) : options_(std::move(options)) {}

  // Any thread, after a node was put in the inbox.
  virtual void wake() = 0;

  // Resumes the oldest ready coroutine. REQUIRES: there is one.
  void resume_one() {
    ready_.pop().resume();
    if (finished_ != nullptr) destroy_finished();
  }
  void deliver_inbox() {
    inbox_.take_all([this](InboxNode& node) { node.deliver(*this); });
  }
  bool call_pollers();
  // What stop() does on the own thread once the loop has ended.
  void drop_everything();

  ExecutorOptions options_;
  ReadyQueue ready_;
  TimerHeap timers_;
  Inbox inbox_;
  std::vector<Poller*> pollers_;
  Nanoseconds recent_now_ = 0;
  WaitTimes wait_times_;
  int stalled_tasks_ = 0;

 private:
  friend class RootTask;
  friend class PromiseBase;
  void adopt(RootTask& root);
  void finish(RootTask& root);
  void destroy_finished();

  RootTask* roots_ = nullptr;     // doubly linked: alive
  RootTask* finished_ = nullptr;  // singly linked: done, frame not yet destroyed
  bool stopping_ = false;
  std::atomic<std::size_t> live_tasks_{0};
};

}  // namespace hummer
