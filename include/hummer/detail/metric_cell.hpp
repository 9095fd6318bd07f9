// MetricCell: a number that one thread writes and any may read. Written with relaxed stores, no
// read-modify-write: adding costs a load and a store.
#pragma once

#include <atomic>
#include <cstdint>

namespace hummer {

template <typename T = std::uint64_t>
class MetricCell {
 public:
  MetricCell() = default;
  explicit MetricCell(T value) : value_(value) {}
  void add(T amount) { set(get() + amount); }
  void set(T value) { value_.store(value, std::memory_order_relaxed); }
  T get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<T> value_{};
};

}  // namespace hummer
