// ReadyQueue: the coroutines that can go on now, first in, first out.
//
// A ring that doubles when it is full: push and pop are a few instructions, and
// nothing is allocated once the ring has found its size. Thread: one.
#pragma once

#include <coroutine>
#include <cstddef>
#include <utility>
#include <vector>

namespace hummer {

class ReadyQueue {
 public:
  ReadyQueue() : ring_(64) {}

  bool empty() const { return head_ == tail_; }
  std::size_t size() const { return tail_ - head_; }

  void push(std::coroutine_handle<> handle) {
    if (size() == ring_.size()) grow();
    ring_[tail_++ & (ring_.size() - 1)] = handle;
  }

  // REQUIRES: !empty().
  std::coroutine_handle<> pop() { return ring_[head_++ & (ring_.size() - 1)]; }

  void clear() { head_ = tail_ = 0; }

 private:
  void grow() {
    std::vector<std::coroutine_handle<>> larger(ring_.size() * 2);
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) larger[i] = ring_[(head_ + i) & (ring_.size() - 1)];
    ring_ = std::move(larger);
    head_ = 0;
    tail_ = count;
  }

  std::vector<std::coroutine_handle<>> ring_;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace hummer
