// OperatorPlace and OperatorReport: the two halves of what stands behind an OperatorContext. The
// driver writes the place, which the operator reads; the operator writes the report, which the
// driver reads. Neither has a lock: one thread at a time, that of the operator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <hummer/detail/key_hash.hpp>
#include <hummer/detail/memory_account.hpp>
#include <hummer/status.hpp>

namespace hummer {

class SourceSplits;

inline constexpr std::size_t default_snapshot_step_bytes = 64 * 1024;

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
  std::uint64_t epoch = 0;
  std::uint64_t superseded_epoch = 0;
  std::size_t snapshot_step_bytes = default_snapshot_step_bytes;
  std::shared_ptr<MemoryAccount> memory = nullptr;  // null: nobody counts
  std::string spill_directory = {};
  bool restored = false;
  bool delta_follows = false;
  bool may_write_delta = false;
  SourceSplits* splits = nullptr;
};

struct OperatorReport {
  Status failure;
  bool wrote_delta = false;
  std::uint64_t bytes = 0;
  std::uint64_t bytes_expected = 0;
  std::uint64_t further_records = 0;
  std::uint64_t late_records = 0;
};

}  // namespace hummer
