// WakeEvent: the one way for a task to sleep until something happens that any
// thread may bring about.
//
// Waiter (one task, on its executor's thread):
//
//   while (!condition()) {
//     event.prepare_wait();
//     if (condition()) { event.cancel_wait(); break; }
//     co_await event.wait();            // or: bool notified = co_await event.wait_until(deadline);
//   }
//
// Notifier (any thread, also the waiter's own):
//
//   make_condition_true();              // at least a release store
//   event.notify();
//
// notify() costs one fence and one relaxed load when nobody waits. Many
// notifies may end in one wake-up, and a wake-up may be spurious: look at the
// condition again. Several sources may share one event.
//
// No wake-up is lost (Dekker's argument). The waiter announces itself, then
// reads the condition; the notifier writes the condition, then reads the
// announcement; a seq_cst fence stands between the two steps on each side. The
// fences have one total order: if the waiter's comes first, the notifier sees
// the announcement and wakes it; if the notifier's comes first, the waiter's
// second look at the condition sees it true. Both missing each other is
// impossible. (ThreadSanitizer knows no fences, so there notify() is a
// read-modify-write on the state: either it precedes prepare_wait()'s exchange,
// which then synchronises with it, or it sees the announcement.)
//
// States: idle → prepare_wait → preparing → wait → waiting → notify → notifying
// → notified → (resumed) idle. notify() moves preparing to notified too, and
// then wait() returns without suspending. Only the transition out of waiting puts
// the event's node in the executor's inbox, hence at most once per wait. While an
// event is notifying, the notifier looks at the waiter: a stopping executor, which
// may destroy the waiter's frame at any time, waits for the end of that.
//
// Lifetime: outlives both a running notify() and a waiting task. The waiter's
// executor outlives a running notify() (see executor.hpp, stop). An event may
// be used by waiters of different executors one after the other.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>

#include <hummer/status.hpp>

#include "platform/executor.hpp"
#include "platform/inbox.hpp"
#include "platform/time.hpp"
#include "platform/timer.hpp"

namespace hummer {

class WakeEvent {
 public:
  WakeEvent() : node_(*this) {}
  ~WakeEvent();
  WakeEvent(const WakeEvent&) = delete;
  WakeEvent& operator=(const WakeEvent&) = delete;

  // Waiter. Ends with wait(), wait_until() or cancel_wait().
  void prepare_wait();
  void cancel_wait();

  class Awaiter;
  // Waiter, after prepare_wait().
  Awaiter wait();
  // The same with a deadline: true when notified, false when `deadline` came first.
  Awaiter wait_until(Nanoseconds deadline);

  // Any thread.
  void notify() {
#if defined(__SANITIZE_THREAD__)
    if (state_.fetch_add(0, std::memory_order_seq_cst) == State::idle) return;
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (state_.load(std::memory_order_relaxed) == State::idle) return;
#endif
    notify_waiter();
  }

  // Whether a task is suspended in wait(). Own thread of the waiter; for assertions.
  bool has_waiter() const { return state_.load(std::memory_order_relaxed) >= State::waiting; }

 private:
  struct State {
    static constexpr std::uint32_t idle = 0;
    static constexpr std::uint32_t preparing = 1;
    static constexpr std::uint32_t notified_early = 2;  // before wait(): nothing in the inbox
    static constexpr std::uint32_t waiting = 3;
    static constexpr std::uint32_t notified = 4;  // node on its way to the executor
    static constexpr std::uint32_t notifying = 5;
  };

  class Node final : public InboxNode {
   public:
    explicit Node(WakeEvent& event) : event_(event) {}
    void deliver(Executor& executor) override;
    void discard() override {}

   private:
    WakeEvent& event_;
  };

  // False: notified meanwhile, don't suspend.
  bool suspend(Awaiter& awaiter);
  void notify_waiter();

  std::atomic<std::uint32_t> state_{State::idle};
  Awaiter* awaiter_ = nullptr;
  Node node_;
};

class WakeEvent::Awaiter {
 public:
  Awaiter(WakeEvent& event, Nanoseconds deadline) : event_(&event), deadline_(deadline) {}
  ~Awaiter();
  Awaiter(const Awaiter&) = delete;
  Awaiter& operator=(const Awaiter&) = delete;

  bool await_ready() const noexcept { return false; }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> handle) {
    executor_ = handle.promise().executor();
    handle_ = handle;
    suspended_ = event_->suspend(*this);
    if (suspended_ && deadline_ != never) executor_->call_at(timer_, deadline_);
    return suspended_;
  }
  bool await_resume();

 private:
  friend class WakeEvent;
  static void time_out(void* self);

  WakeEvent* event_;  // null: destroyed while its waiter's executor stopped
  Executor* executor_ = nullptr;
  std::coroutine_handle<> handle_;
  Nanoseconds deadline_;
  bool suspended_ = false;
  bool timed_out_ = false;
  Timer timer_{&Awaiter::time_out, this};
};

inline WakeEvent::Awaiter WakeEvent::wait() { return {*this, never}; }
inline WakeEvent::Awaiter WakeEvent::wait_until(Nanoseconds deadline) { return {*this, deadline}; }

}  // namespace hummer
