#include "platform/wake_event.hpp"

namespace hummer {

WakeEvent::~WakeEvent() {
  if (!has_waiter()) return;
  // A stopping executor destroys frames in any order, so this one may go before its waiter's.
  HUMMER_ASSERT(awaiter_->executor_->is_stopping());
  awaiter_->event_ = nullptr;
}

void WakeEvent::Node::deliver(Executor& executor) { executor.post(event_.awaiter_->handle_); }

void WakeEvent::prepare_wait() {
  [[maybe_unused]] const std::uint32_t before =
      state_.exchange(State::preparing, std::memory_order_seq_cst);
  HUMMER_ASSERT(before == State::idle);  // one waiter at a time
#if !defined(__SANITIZE_THREAD__)
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

void WakeEvent::cancel_wait() {
  const std::uint32_t before = state_.exchange(State::idle, std::memory_order_acquire);
  HUMMER_ASSERT(before == State::preparing || before == State::notified_early);
}

bool WakeEvent::suspend(Awaiter& awaiter) {
  awaiter_ = &awaiter;
  std::uint32_t expected = State::preparing;
  if (state_.compare_exchange_strong(expected, State::waiting, std::memory_order_acq_rel)) {
    return true;
  }
  HUMMER_ASSERT(expected == State::notified_early);  // else: wait() without prepare_wait()
  state_.store(State::idle, std::memory_order_relaxed);
  return false;
}

void WakeEvent::notify_waiter() {
  std::uint32_t state = state_.load(std::memory_order_relaxed);
  while (true) {
    if (state == State::preparing) {
      if (state_.compare_exchange_weak(state, State::notified_early, std::memory_order_acq_rel)) {
        return;
      }
    } else if (state == State::waiting) {
      if (state_.compare_exchange_weak(state, State::notifying, std::memory_order_acq_rel)) break;
    } else {
      return;  // idle, or notified by another
    }
  }
  // The waiter can't run before it is posted here, so what suspend() wrote stands.
  Executor& executor = *awaiter_->executor_;
  const std::coroutine_handle<> waiter = awaiter_->handle_;
  state_.store(State::notified, std::memory_order_release);
  if (executor.is_current()) {
    executor.post(waiter);
  } else {
    executor.post_from_anywhere(node_);  // from here on the event may be gone
  }
}

bool WakeEvent::Awaiter::await_resume() {
  if (!suspended_) return true;
  suspended_ = false;
  timer_.disarm();
  if (timed_out_) return false;  // time_out() left the event idle
  event_->state_.store(State::idle, std::memory_order_relaxed);
  return true;
}

void WakeEvent::Awaiter::time_out(void* self) {
  auto& awaiter = *static_cast<Awaiter*>(self);
  std::uint32_t expected = State::waiting;
  // Else notified: the waiter is on its way through the inbox or the ready queue.
  if (awaiter.event_->state_.compare_exchange_strong(expected, State::idle,
                                                     std::memory_order_acq_rel)) {
    awaiter.timed_out_ = true;
    awaiter.executor_->post(awaiter.handle_);
  }
}

WakeEvent::Awaiter::~Awaiter() {
  if (!suspended_ || event_ == nullptr) return;
  // Suspended still: the executor stops and destroys the frame.
  std::uint32_t state = event_->state_.load(std::memory_order_relaxed);
  while (state == State::notifying ||
         !event_->state_.compare_exchange_weak(state, State::idle, std::memory_order_acq_rel)) {
    state = event_->state_.load(std::memory_order_relaxed);
  }
}

}  // namespace hummer
