#include "platform/timer.hpp"

#include <hummer/status.hpp>

namespace hummer {

TimerHeap::~TimerHeap() {
  for (Timer* timer : heap_) timer->heap_ = nullptr;
}

void TimerHeap::arm(Timer& timer, Nanoseconds when) {
  timer.disarm();
  timer.heap_ = this;
  timer.when_ = when;
  timer.sequence_ = next_sequence_++;
  heap_.push_back(&timer);
  timer.index_ = heap_.size() - 1;
  sift_up(timer.index_);
}

void TimerHeap::disarm(Timer& timer) {
  HUMMER_ASSERT(timer.heap_ == this && heap_[timer.index_] == &timer);
  const std::size_t index = timer.index_;
  timer.heap_ = nullptr;
  Timer* last = heap_.back();
  heap_.pop_back();
  if (last == &timer) return;
  place(index, last);
  sift_up(index);
  sift_down(last->index_);
}

std::size_t TimerHeap::fire(Nanoseconds now) {
  // Timers armed by the functions called here have a later sequence number, so that
  // one that re-arms itself for the past cannot keep the loop here.
  const std::uint64_t first_new = next_sequence_;
  std::size_t fired = 0;
  while (!heap_.empty()) {
    Timer& timer = *heap_.front();
    if (timer.when_ > now || timer.sequence_ >= first_new) break;
    disarm(timer);
    timer.function_(timer.context_);  // may destroy the timer
    ++fired;
  }
  return fired;
}

void TimerHeap::place(std::size_t index, Timer* timer) {
  heap_[index] = timer;
  timer->index_ = index;
}

void TimerHeap::sift_up(std::size_t index) {
  Timer* timer = heap_[index];
  while (index > 0) {
    const std::size_t parent = (index - 1) / 2;
    if (!before(*timer, *heap_[parent])) break;
    place(index, heap_[parent]);
    index = parent;
  }
  place(index, timer);
}

void TimerHeap::sift_down(std::size_t index) {
  Timer* timer = heap_[index];
  while (true) {
    std::size_t child = 2 * index + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && before(*heap_[child + 1], *heap_[child])) ++child;
    if (!before(*heap_[child], *timer)) break;
    place(index, heap_[child]);
    index = child;
  }
  place(index, timer);
}

}  // namespace hummer
