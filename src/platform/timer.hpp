// Timer and TimerHeap: calls at a point in time, without allocation per timer.
//
// A Timer is a node that its owner keeps (usually inside an awaitable, hence in
// a coroutine's frame). It is armed with Executor::call_at and fires once, on
// the executor's own thread, between two resumes; the function must not block
// and usually only posts a coroutine. It may be armed again from its function.
// Destroying or disarming an armed timer is allowed at any time on that thread.
// Equal times fire in the order in which they were armed.
//
// Thread: the executor's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "platform/time.hpp"

namespace hummer {

class TimerHeap;

class Timer {
 public:
  using Function = void (*)(void* context);

  Timer(Function function, void* context) : function_(function), context_(context) {}
  ~Timer() { disarm(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  bool armed() const { return heap_ != nullptr; }
  void disarm();

 private:
  friend class TimerHeap;
  Function function_;
  void* context_;
  TimerHeap* heap_ = nullptr;
  std::size_t index_ = 0;
  Nanoseconds when_ = 0;
  std::uint64_t sequence_ = 0;
};

// Binary heap ordered by (time, order of arming).
class TimerHeap {
 public:
  TimerHeap() = default;
  ~TimerHeap();
  TimerHeap(const TimerHeap&) = delete;
  TimerHeap& operator=(const TimerHeap&) = delete;

  // Arms `timer`, or moves it when it is armed already.
  void arm(Timer& timer, Nanoseconds when);
  void disarm(Timer& timer);
  bool empty() const { return heap_.empty(); }
  // `never` when there is none.
  Nanoseconds next() const { return heap_.empty() ? never : heap_.front()->when_; }
  // Fires every timer that is due at `now`; a timer armed meanwhile waits for the next call.
  std::size_t fire(Nanoseconds now);

 private:
  static bool before(const Timer& a, const Timer& b) {
    return a.when_ != b.when_ ? a.when_ < b.when_ : a.sequence_ < b.sequence_;
  }
  void place(std::size_t index, Timer* timer);
  void sift_up(std::size_t index);
  void sift_down(std::size_t index);

  std::vector<Timer*> heap_;
  std::uint64_t next_sequence_ = 0;
};

inline void Timer::disarm() {
  if (heap_ != nullptr) heap_->disarm(*this);
}

}  // namespace hummer
