// BufferPool: the buffers of one transport end, used again and again.
//
// take() gives the buffer that came back last (still in the processor's cache) or
// a new one; dropping the last reference, on any thread, brings it back. At most
// `max_free` wait here, the others are freed. Buffers are aligned to 64 and have
// read slack; they may outlive the pool.
//
// Bound: there are as many buffers as are referenced: the credits of the channel
// and what the batches downstream hold, which their channels' credits bound.
// Thread: take() one, the rest any. Cost: one lock per buffer, none per record.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include <hummer/buffer.hpp>

namespace hummer {

// Of all pools that share it. Any thread.
struct BufferMetrics {
  std::atomic<std::size_t> held_bytes{0};  // in use or waiting in a pool
  std::atomic<std::size_t> used_bytes{0};
};

class BufferPool {
 public:
  // `metrics`: where it counts too; may be null.
  BufferPool(std::size_t buffer_bytes, std::size_t max_free,
             std::shared_ptr<BufferMetrics> metrics = nullptr);
  BufferRef take();
  std::size_t buffer_bytes() const { return buffer_bytes_; }

 private:
  class Shelf;
  class PooledBuffer;
  std::size_t buffer_bytes_;
  std::shared_ptr<Shelf> shelf_;
};

}  // namespace hummer
