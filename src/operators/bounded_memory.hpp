// BoundedMemory: what an operator over a whole bounded input may hold, and what it tells its
// account of it (hummer/detail/memory_account.hpp).
//
//   memory.open(context());                     // once, in open()
//   memory.bytes(memory_bytes)                  // when the first record comes: the other operators
//                                               // of the process have opened by then
//   memory.set_used(bytes); memory.set_disk(bytes);
//
// Thread: that of the operator. What was told goes with it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

#include <hummer/detail/memory_account.hpp>
#include <hummer/operator.hpp>

namespace hummer {

class BoundedMemory {
 public:
  // With less no operator of this kind gets along.
  static constexpr std::size_t least_bytes = std::size_t{1} << 20;

  BoundedMemory() = default;
  ~BoundedMemory() {
    if (account_ == nullptr) return;
    set_disk(0);
    // Elastic: it never fails for the limit.
    static_cast<void>(account_->set_own(0).ok());
  }
  BoundedMemory(const BoundedMemory&) = delete;
  BoundedMemory& operator=(const BoundedMemory&) = delete;

  void open(MemoryAccount* account) {
    if (account == nullptr) return;
    account_ = account->shared_from_this();
    account_->set_elastic();
  }
  // The smaller of what it is given and its share.
  std::size_t bytes(std::size_t given) const {
    const std::size_t share = account_ == nullptr ? given : account_->share_bytes();
    return std::max(std::min(given, share), least_bytes);
  }
  // Of a call that failed, with the operator's name.
  static OperatorResult fail(OperatorContext& context, const Status& status) {
    return context.fail(
        status.with_context("'" + context.name() + "', which spills what has no room in memory"));
  }
  void set_used(std::size_t bytes) {
    if (account_ != nullptr) static_cast<void>(account_->set_own(bytes).ok());
  }
  void set_disk(std::size_t bytes) {
    if (account_ != nullptr && bytes != disk_bytes_) account_->change_disk(disk_bytes_, bytes);
    disk_bytes_ = bytes;
  }

 private:
  std::shared_ptr<MemoryAccount> account_;
  std::size_t disk_bytes_ = 0;
};

}  // namespace hummer
