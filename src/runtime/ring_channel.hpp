// RingChannel: elements from one task to another of the same process.
//
// Single producer, single consumer, a fixed number of slots = credits. A
// producer without credit cannot publish, so memory is bounded by construction
// and back-pressure is visible per edge. Elements without records (controls)
// have credit of their own beyond that of data. Order is kept.
//
// A slot carries the element itself; publish swaps it with the used one that the
// consumer left there, poll hands out a reference and the consumer swaps its own
// used batch in before release: batches go round, no allocator is called.
//
// A barrier that unaligned (unaligned checkpoints) does not travel in the ring: the producer
// announces its epoch and how many elements it has published before, and the consumer, woken at
// once, finds those that it has not taken yet by peek(). The latest announcement counts.
//
// Lifecycle: made by the deployer before either task runs, destroyed after both
// ended. A side that leaves early says so (`abandon_*`), and that is a result of
// the other side's next call, not a hang.
//
// Thread: producer calls on one thread, consumer calls on one thread; gauges
// from any. Memory order: a slot's contents are published by the store to tail_
// (release) and given back by the store to head_ (release); each side caches the
// other's index and reads it only when the cached one says full or empty (see
// rigtorp's SPSCQueue). Sleeping sides are woken through their WakeEvent.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hummer/batch.hpp>

#include "platform/wake_event.hpp"

namespace hummer {

// A barrier on a channel, out of band.
struct OutOfBandBarrier {
  std::uint64_t epoch = 0;
  std::uint64_t position = 0;  // of the first element behind the barrier
  // Runs (in_flight.hpp) of records that come behind those in the ring and before the barrier: what
  // lies in the tasks and buffers of a network behind this channel.
  std::string in_flight;
};

class RingChannel {
 public:
  static constexpr std::uint32_t control_credits = 16;

  // `producer` and `consumer` are notified when the other side has moved.
  RingChannel(std::uint32_t credits, WakeEvent& producer, WakeEvent& consumer)
      : credits_(credits),
        mask_(std::bit_ceil(credits + control_credits) - 1),
        slots_(mask_ + 1),
        producer_(producer),
        consumer_(consumer) {
    HUMMER_ASSERT(credits > 0);
  }
  RingChannel(const RingChannel&) = delete;
  RingChannel& operator=(const RingChannel&) = delete;

  // ---- producer ----

  // Publishes the element and leaves a used batch (or none) in its place; false: no credit.
  bool try_publish(Element& element) {
    const std::uint64_t limit = element.batch.empty() ? credits_ + control_credits : credits_;
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - cached_head_ >= limit) {
      cached_head_ = head_.load(std::memory_order_acquire);
      if (tail - cached_head_ >= limit) return false;
    }
    Element& slot = slots_[tail & mask_].element;
    std::swap(slot.batch, element.batch);
    slot.control = element.control;
    element.control = {};
    if (slot.control.kind == Control::Kind::end) [[unlikely]] {
      end_position_.store(tail + 1, std::memory_order_release);
    }
    tail_.store(tail + 1, std::memory_order_release);
    consumer_.notify();
    return true;
  }
  // A barrier behind all that was published; needs no credit.
  void send_out_of_band(std::uint64_t epoch, std::string in_flight = {}) {
    {
      const std::lock_guard lock(out_of_band_mutex_);
      out_of_band_ = {epoch, tail_.load(std::memory_order_relaxed), std::move(in_flight)};
      has_out_of_band_.store(epoch, std::memory_order_release);
    }
    consumer_.notify();
  }
  bool consumer_gone() const { return consumer_gone_.load(std::memory_order_acquire); }
  void abandon_producer() {
    producer_gone_.store(true, std::memory_order_release);
    consumer_.notify();
  }

  // ---- consumer ----

  // The oldest element, or null. Swap its batch with a used one, then release().
  Element* poll() {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head == cached_tail_) {
      cached_tail_ = tail_.load(std::memory_order_acquire);
      if (head == cached_tail_) return nullptr;
    }
    return &slots_[head & mask_].element;
  }
  void release() {
    head_.store(head_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    producer_.notify();
  }
  // Epoch of the latest announcement; 0: none yet. One that was made before an element was
  // published is seen by who has seen the element.
  std::uint64_t announced() const { return has_out_of_band_.load(std::memory_order_relaxed); }
  // Once, unless a later one has taken its place.
  std::optional<OutOfBandBarrier> take_out_of_band(std::uint64_t epoch) {
    const std::lock_guard lock(out_of_band_mutex_);
    if (out_of_band_.epoch != epoch) return std::nullopt;
    return std::exchange(out_of_band_, {});
  }
  // Behind the end of the stream, once that was published, else 0. Look before announced(), so that
  // no barrier before the end is missed.
  std::uint64_t end_position() const { return end_position_.load(std::memory_order_acquire); }
  // Elements released so far, and one that has been published and not released.
  std::uint64_t position() const { return head_.load(std::memory_order_relaxed); }
  const Element& peek(std::uint64_t position) const { return slots_[position & mask_].element; }
  // Nothing more will come. Look before poll(), so that nothing published earlier is missed.
  bool producer_gone() const { return producer_gone_.load(std::memory_order_acquire); }
  void abandon_consumer() {
    consumer_gone_.store(true, std::memory_order_release);
    producer_.notify();
  }

  // ---- any thread ----

  std::uint32_t credits() const { return credits_; }
  // Elements under way; a snapshot.
  std::uint64_t occupancy() const {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    return tail > head ? tail - head : 0;
  }

 private:
  struct alignas(64) Slot {
    Element element;
  };

  const std::uint32_t credits_;
  const std::uint64_t mask_;
  std::vector<Slot> slots_;
  WakeEvent& producer_;
  WakeEvent& consumer_;

  alignas(64) std::atomic<std::uint64_t> tail_{0};
  std::uint64_t cached_head_ = 0;  // producer's
  alignas(64) std::atomic<std::uint64_t> head_{0};
  std::uint64_t cached_tail_ = 0;  // consumer's
  alignas(64) std::atomic<bool> producer_gone_{false};
  std::atomic<bool> consumer_gone_{false};
  std::atomic<std::uint64_t> has_out_of_band_{0};
  std::atomic<std::uint64_t> end_position_{0};
  std::mutex out_of_band_mutex_;
  OutOfBandBarrier out_of_band_;
};

}  // namespace hummer
