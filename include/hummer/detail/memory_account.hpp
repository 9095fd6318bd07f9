// MemoryAccount: who holds how much of a process's memory.
//
// A tree: process → job → task → operator. Each node has a number of its own and the sum of
// what is below it; the limit is the root's (0: none; docs/memory.md says where it comes from).
// What is counted is what grows with the input: tables, stores, partial state, broadcast state,
// records under way in an async_map, the records of a join's window, channels. Whoever counts does
// it in coarse steps, once per batch at most (MemoryUse below).
//
// What happens at the limit depends on the operator:
//   - one that can put state on disk, or hand it on, asks for its share() and keeps within it.
//     The shares are equal parts of what those leave that can't.
//   - any other one fails its job with `limit_exceeded`, which names it, what it holds, the limit
//     and what to do. Nothing is ever killed for its memory here.
//
// Lifecycle: a node lives as long as anybody holds it or a node below it; what it counted goes with
// it. Thread: any, all calls.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/status.hpp>

namespace hummer {

// A directory on a disk: the usual place for temporary files is memory on many machines.
inline constexpr const char* default_spill_directory = "/var/tmp";
// As a memory limit: what the process's surroundings leave it, platform/memory_limit.hpp.
inline constexpr std::size_t memory_limit_from_environment = SIZE_MAX;

class MemoryAccount : public std::enable_shared_from_this<MemoryAccount> {
 public:
  // What a node and all below it hold, in the order in which they were made; depth 0: the node
  // that was asked.
  struct Metric {
    std::string name;
    int depth = 0;
    std::size_t used_bytes = 0;
    std::size_t disk_bytes = 0;
  };

  // `limit_from`: for messages, where the limit comes from; empty: --memory-limit.
  static std::shared_ptr<MemoryAccount> make_root(std::string name, std::size_t limit_bytes,
                                                  std::string limit_from = {});
  std::shared_ptr<MemoryAccount> make_child(std::string name);
  ~MemoryAccount();
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  const std::string& name() const { return name_; }
  std::size_t limit_bytes() const { return root_->limit_bytes_; }
  bool limited() const { return limit_bytes() != 0; }
  // With all below it.
  std::size_t used_bytes() const { return used_.load(std::memory_order_relaxed); }
  // On disk for lack of room, with all below it.
  std::size_t disk_bytes() const { return disk_.load(std::memory_order_relaxed); }
  std::vector<Metric> metrics() const;

  // From now on this one keeps within its share.
  void set_elastic();
  // What an elastic node may hold now; SIZE_MAX without a limit. Never nothing.
  std::size_t share_bytes() const;

  // This node's own number. limit_exceeded: what is not elastic is over the limit now, and this
  // node, which isn't either, has grown; it counts all the same.
  Status set_own(std::size_t bytes);
  // What it has on disk becomes `to` where it was `from`.
  void change_disk(std::size_t from, std::size_t to);

 private:
  MemoryAccount(std::string name, std::size_t limit_bytes, std::shared_ptr<MemoryAccount> parent);
  // Of the whole tree: what is not elastic.
  std::size_t rigid_bytes() const;
  void collect(int depth, std::vector<Metric>& metrics) const;

  const std::string name_;
  const std::size_t limit_bytes_;  // the root's
  std::string limit_from_;         // likewise
  const std::shared_ptr<MemoryAccount> parent_;
  MemoryAccount* const root_;
  std::atomic<std::size_t> used_{0};
  std::atomic<std::size_t> own_{0};
  std::atomic<std::size_t> disk_{0};
  std::atomic<bool> elastic_{false};
  // The root's: how many are elastic, and what they hold.
  std::atomic<std::size_t> elastic_nodes_{0};
  std::atomic<std::size_t> elastic_bytes_{0};
  struct Children;
  const std::unique_ptr<Children> children_;
};

// What an operator tells its account: only when it has changed by a step. Without an account
// nothing is counted and no share ends.
class MemoryUse {
 public:
  void open(MemoryAccount* account, bool elastic);
  // For a part of an operator that can't go to disk, whatever the rest can: `what` names it.
  void open_part(MemoryAccount* account, std::string_view what);
  bool limited() const { return account_ != nullptr && account_->limited(); }
  std::size_t share_bytes() const {
    return account_ == nullptr ? SIZE_MAX : account_->share_bytes();
  }
  Status set(std::size_t bytes) {
    if (account_ == nullptr || bytes / step_bytes == told_ / step_bytes) return {};
    told_ = bytes;
    return account_->set_own(bytes);
  }

 private:
  static constexpr std::size_t step_bytes = 64 << 10;
  std::shared_ptr<MemoryAccount> part_;  // null: the operator's own
  MemoryAccount* account_ = nullptr;
  std::size_t told_ = 0;
};

}  // namespace hummer
