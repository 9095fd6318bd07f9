// Buffer: reference-counted bytes that batches point into.
//
// A batch of text is a list of views; the bytes live in buffers (a mapped file, a received network
// frame, an arena chunk), and the batch keeps one reference to each. One rule: a buffer is writable
// only while there is a single reference to it (`unique()`).
//
// Readers may load up to `read_slack_bytes` past `size()`: text kernels use whole vector registers
// without a scalar tail.
//
// Lifecycle: made with one reference; destroyed by whoever drops the last one, on that thread.
// Thread: the count is atomic, the bytes are not synchronised (a ring channel publishes them).
// Cost: one atomic per reference taken per batch, never per record.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace hummer {

inline constexpr std::size_t read_slack_bytes = 64;

class Buffer {
 public:
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  char* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool unique() const { return references_.load(std::memory_order_acquire) == 1; }
  bool contains(const char* at, std::size_t length) const {
    return at >= data_ && at + length <= data_ + size_;
  }

  void add_reference() { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop_reference() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }

 protected:
  Buffer(char* data, std::size_t size) : data_(data), size_(size) {}
  virtual ~Buffer() = default;
  virtual void destroy() { delete this; }

  char* data_;
  std::size_t size_;

 private:
  std::atomic<std::uint32_t> references_{1};
};

// Owns one reference. A moved-from or default one is empty.
class BufferRef {
 public:
  BufferRef() = default;
  // Takes over the reference that `buffer` was made with.
  static BufferRef adopt(Buffer* buffer) {
    BufferRef ref;
    ref.buffer_ = buffer;
    return ref;
  }
  // Heap bytes, uninitialised, with read slack behind them.
  static BufferRef allocate(std::size_t size_bytes);

  BufferRef(const BufferRef& other) : buffer_(other.buffer_) {
    if (buffer_) buffer_->add_reference();
  }
  BufferRef(BufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  BufferRef& operator=(BufferRef other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~BufferRef() {
    if (buffer_) buffer_->drop_reference();
  }

  explicit operator bool() const { return buffer_ != nullptr; }
  Buffer* operator->() const { return buffer_; }
  Buffer& operator*() const { return *buffer_; }
  Buffer* get() const { return buffer_; }
  friend bool operator==(const BufferRef& a, const BufferRef& b) { return a.buffer_ == b.buffer_; }

 private:
  Buffer* buffer_ = nullptr;
};

}  // namespace hummer
