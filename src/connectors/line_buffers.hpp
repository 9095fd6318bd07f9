// LineBuffer and LineBufferPool: the memory that blocks of lines lie in.
//
// A source fills a buffer, hands out a block that points into it, and lets the
// block's batch keep it. When everybody downstream has dropped it, only the
// pool's reference is left and the buffer serves again. In a fused chain that
// is the case at the next call, so one buffer goes round and stays in cache.
//
// Memory: the pool keeps at most `kept_buffers`; beyond that it makes buffers
// that nobody keeps. How many are in flight is bounded by the channels' credits
// (back-pressure), not here. Buffers larger than usual (a long line) are never
// kept.
//
// The buffer also owns a reference to the input's name, so that
// TextBlock::origin is valid for as long as the block's bytes are: whoever keeps
// the buffer keeps both.
//
// Thread: the pool belongs to its source; a buffer's last reference may be
// dropped on any thread, and its bytes are written only while it is unique().
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <hummer/buffer.hpp>

namespace hummer {

class LineBuffer final : public Buffer {
 public:
  // Uninitialised bytes, with read slack behind them.
  static LineBuffer* make(std::size_t capacity_bytes);

  const std::string* origin() const { return origin_.get(); }
  void set_origin(std::shared_ptr<const std::string> origin) { origin_ = std::move(origin); }

 private:
  LineBuffer(char* data, std::size_t size) : Buffer(data, size) {}
  ~LineBuffer() override;

  std::shared_ptr<const std::string> origin_;
};

class LineBufferPool {
 public:
  static constexpr std::size_t kept_buffers = 16;

  explicit LineBufferPool(std::size_t usual_bytes) : usual_bytes_(usual_bytes) {}

  // A unique buffer of at least `bytes`. The most recently used free one comes first.
  // The pool holds its own reference to it: "unique" for the caller means that no batch has it.
  struct Lease {
    BufferRef ref;
    LineBuffer* buffer = nullptr;
  };
  Lease take(std::size_t bytes, const std::shared_ptr<const std::string>& origin);

  std::size_t usual_bytes() const { return usual_bytes_; }

 private:
  std::size_t usual_bytes_;
  std::vector<BufferRef> kept_;
};

}  // namespace hummer
