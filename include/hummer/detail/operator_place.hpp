// OperatorPlace and OperatorReport: the two halves of what stands behind an OperatorContext. The
// driver writes the place, which the operator reads; the operator writes the report, which the
// driver reads. Neither has a lock: one thread at a time, that of the operator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <hummer/detail/key_groups.hpp>
#include <hummer/detail/key_hash.hpp>
#include <hummer/detail/memory_account.hpp>
#include <hummer/status.hpp>

namespace hummer {

class SourceSplits;

inline constexpr std::size_t default_snapshot_step_bytes = 256 * 1024;

// What each member means is said where OperatorContext answers it.
struct OperatorPlace {
  std::string name;
  std::string uid = {};
  int subtask = 0;
  int parallelism = 1;
  int key_groups = default_key_groups;
  std::uint64_t run = 0;
  std::uint32_t attempt = 0;
  bool bounded = true;
  bool checks_views = false;
  bool leaves_memory = false;
  std::uint64_t epoch = 0;
  std::uint64_t superseded_epoch = 0;
  std::size_t snapshot_step_bytes = default_snapshot_step_bytes;
  std::shared_ptr<MemoryAccount> memory = nullptr;  // null: nobody counts
  std::string spill_directory = {};
  bool restored = false;
  bool delta_follows = false;
  bool may_write_delta = false;
  SourceSplits* splits = nullptr;
  RestoredKeys* restored_keys = nullptr;  // null: what is read says nothing of its keys

  // Whether the state of a key with this hash belongs to the subtask.
  bool owns(std::uint64_t hash) const {
    const auto groups = static_cast<std::uint32_t>(key_groups);
    const std::uint32_t group = key_group(hash, groups);
    if (restored_keys != nullptr && !restored_keys->at_hand.holds(group)) {
      restored_keys->contradicted = true;
    }
    return static_cast<int>(group_owner(group, static_cast<std::uint32_t>(parallelism), groups)) ==
           subtask;
  }
};

struct OperatorReport {
  Status failure;
  bool wrote_delta = false;
  std::vector<KeyGroupBlock> key_group_blocks;  // of what the call at hand has written; in order
  std::uint64_t bytes = 0;
  std::uint64_t bytes_expected = 0;
  std::uint64_t further_records = 0;
  std::uint64_t late_records = 0;
};

}  // namespace hummer
