#include "connectors/line_buffers.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace hummer {
namespace {

constexpr std::align_val_t line_alignment{64};

}  // namespace

LineBuffer* LineBuffer::make(std::size_t capacity_bytes) {
  auto* bytes =
      static_cast<char*>(::operator new(capacity_bytes + read_slack_bytes, line_alignment));
  // The slack is read, never used: defined bytes keep the checkers quiet.
  std::memset(bytes + capacity_bytes, 0, read_slack_bytes);
  return new LineBuffer(bytes, capacity_bytes);
}

LineBuffer::~LineBuffer() { ::operator delete(data_, line_alignment); }

LineBufferPool::Lease LineBufferPool::take(std::size_t bytes,
                                           const std::shared_ptr<const std::string>& origin) {
  Lease lease;
  if (bytes <= usual_bytes_) {
    const auto free = std::find_if(kept_.begin(), kept_.end(),
                                   [](const BufferRef& ref) { return ref->unique(); });
    if (free != kept_.end()) {
      lease = {*free, static_cast<LineBuffer*>(free->get())};
    }
  }
  if (lease.buffer == nullptr) {
    lease.buffer = LineBuffer::make(std::max(bytes, usual_bytes_));
    lease.ref = BufferRef::adopt(lease.buffer);
    if (bytes <= usual_bytes_ && kept_.size() < kept_buffers) kept_.push_back(lease.ref);
  }
  lease.buffer->set_origin(origin);
  return lease;
}

}  // namespace hummer
