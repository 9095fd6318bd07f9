// RingStorage: the memory of a ring: a segment that both ends see, or this end's half of a ring
// that is mirrored over one-sided writes. Empty: no ring.
//
// Thread: a value.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "platform/remote_memory.hpp"
#include "platform/shared_memory.hpp"

namespace hummer {

class RingStorage {
 public:
  RingStorage() = default;
  RingStorage(std::unique_ptr<SharedSegment> shared) : shared_(std::move(shared)) {}
  RingStorage(std::shared_ptr<RemoteMemory> remote) : remote_(std::move(remote)) {}

  bool empty() const { return shared_ == nullptr && remote_ == nullptr; }
  // REQUIRES: !empty().
  std::span<char> bytes() const { return remote_ ? remote_->bytes() : shared_->bytes(); }
  // Null: both ends see the same memory.
  const std::shared_ptr<RemoteMemory>& remote() const { return remote_; }

 private:
  std::unique_ptr<SharedSegment> shared_;
  std::shared_ptr<RemoteMemory> remote_;
};

}  // namespace hummer
