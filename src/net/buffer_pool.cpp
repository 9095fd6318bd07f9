#include "net/buffer_pool.hpp"

#include <cstring>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "net/transport.hpp"

namespace hummer {

class BufferPool::Shelf {
 public:
  Shelf(std::size_t max_free, std::shared_ptr<BufferMetrics> metrics)
      : max_free_(max_free),
        metrics_(metrics != nullptr ? std::move(metrics) : std::make_shared<BufferMetrics>()) {
    free_.reserve(max_free);
  }
  ~Shelf();
  BufferMetrics& metrics() { return *metrics_; }

  PooledBuffer* take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return nullptr;
    PooledBuffer* buffer = free_.back();
    free_.pop_back();
    return buffer;
  }
  bool put(PooledBuffer* buffer) {
    const std::lock_guard lock(mutex_);
    if (free_.size() == max_free_) return false;
    free_.push_back(buffer);
    return true;
  }

 private:
  const std::size_t max_free_;
  const std::shared_ptr<BufferMetrics> metrics_;
  std::mutex mutex_;
  std::vector<PooledBuffer*> free_;
};

class BufferPool::PooledBuffer final : public Buffer {
 public:
  explicit PooledBuffer(std::size_t size_bytes)
      : Buffer(static_cast<char*>(::operator new(size_bytes + read_slack_bytes,
                                                 std::align_val_t(transport_alignment))),
               size_bytes) {
    std::memset(data_ + size_bytes, 0, read_slack_bytes);
  }
  ~PooledBuffer() override { ::operator delete(data_, std::align_val_t(transport_alignment)); }

  // While it is out it keeps its shelf alive, while it is on the shelf it does not.
  void leave(std::shared_ptr<Shelf> shelf) { shelf_ = std::move(shelf); }

 protected:
  void destroy() override {
    const std::shared_ptr<Shelf> shelf = std::move(shelf_);
    const std::size_t bytes = size();
    BufferMetrics& metrics = shelf->metrics();
    metrics.used_bytes.fetch_sub(bytes, std::memory_order_relaxed);
    if (shelf->put(this)) return;
    metrics.held_bytes.fetch_sub(bytes, std::memory_order_relaxed);
    delete this;
  }

 private:
  std::shared_ptr<Shelf> shelf_;
};

BufferPool::Shelf::~Shelf() {
  for (PooledBuffer* buffer : free_) {
    metrics_->held_bytes.fetch_sub(buffer->size(), std::memory_order_relaxed);
    delete buffer;
  }
}

BufferPool::BufferPool(std::size_t buffer_bytes, std::size_t max_free,
                       std::shared_ptr<BufferMetrics> metrics)
    : buffer_bytes_(buffer_bytes), shelf_(std::make_shared<Shelf>(max_free, std::move(metrics))) {}

BufferRef BufferPool::take() {
  PooledBuffer* buffer = shelf_->take();
  if (buffer != nullptr) {
    buffer->add_reference();  // from none to one
  } else {
    buffer = new PooledBuffer(buffer_bytes_);
    shelf_->metrics().held_bytes.fetch_add(buffer->size(), std::memory_order_relaxed);
  }
  shelf_->metrics().used_bytes.fetch_add(buffer->size(), std::memory_order_relaxed);
  buffer->leave(shelf_);
  return BufferRef::adopt(buffer);
}

}  // namespace hummer
