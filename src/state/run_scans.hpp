// Scans over runs of a spilled store, oldest run first, in order of hash and key:
//
//   RunCursor     one run
//   MergingScan   several as one: of equal keys the newest value, or what all are together
//
// They hold on to their runs, and see nothing of what becomes of the store. Thread: one at a time.
// Errors: those of the disk, and values that cannot be put together, with the store's name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hummer/detail/state/spilled_store.hpp>

#include "state/spilled_run.hpp"

namespace hummer {

using Run = std::shared_ptr<const SpilledRun>;

// How much a scan reads of each run at a time: there may be a dozen of them, and several scans. The
// same of one that is held for long.
constexpr std::size_t read_bytes_of_scan = 16 << 10;
constexpr std::size_t read_bytes_of_held = 4 << 10;

inline bool before(const SpilledEntry& a, const SpilledEntry& b) {
  return a.hash != b.hash ? a.hash < b.hash : a.key < b.key;
}
inline bool same_key(const SpilledEntry& a, const SpilledEntry& b) {
  return a.hash == b.hash && a.key == b.key;
}

// Hash and first bytes of the key as a number in the order of entries: of two whose numbers differ
// the smaller comes first.
__extension__ using OrderNumber = unsigned __int128;
inline OrderNumber order_number(const SpilledEntry& entry) {
  std::uint64_t first_bytes = 0;
  std::memcpy(&first_bytes, entry.key.data(), std::min(entry.key.size(), sizeof first_bytes));
  return OrderNumber{entry.hash} << 64 | __builtin_bswap64(first_bytes);
}

// From front to back, or from some block on.
class RunCursor {
 public:
  explicit RunCursor(Run run) : run_(std::move(run)) {}
  RunCursor(Run run, std::size_t first_block, std::size_t read_bytes_at_once)
      : run_(std::move(run)), block_(first_block), read_bytes_(read_bytes_at_once) {}

  // False: its end.
  Result<bool> next();
  const SpilledEntry& entry() const { return entry_; }

 private:
  Run run_;
  std::size_t block_ = 0;
  std::size_t read_bytes_ = read_bytes_of_scan;
  std::string space_;
  std::vector<std::pair<std::size_t, std::size_t>> parts_;  // of the blocks in `space_`
  std::size_t part_ = 0;
  std::size_t at_ = 0;
  SpilledEntry entry_;
};

class MergingScan final : public SpilledScan {
 public:
  // `as_of`: what options.now said. `keep_removed`: there are older runs than these, or who reads
  // wants to know.
  MergingScan(std::vector<RunCursor> cursors, const SpilledStoreOptions& options,
              std::int64_t as_of, std::string name, bool keep_removed);
  MergingScan(const MergingScan&) = delete;
  MergingScan& operator=(const MergingScan&) = delete;

  Result<bool> next() override;
  const SpilledEntry& entry() const override { return entry_; }

 private:
  // Of a cursor that has an entry.
  struct Head {
    OrderNumber order;
    RunCursor* cursor;
  };

  Result<bool> step();
  // Cursors whose entry was used go on; those at their end are heads no more.
  Status advance_used();
  // Of several heads with this number: the least key's entry, of equal ones the newest, or what
  // all are together.
  Status take_of_several(OrderNumber order);

  const SpilledStoreOptions options_;
  const std::int64_t as_of_;
  const std::string name_;
  const bool keep_removed_;
  std::vector<RunCursor> cursors_;
  std::vector<Head> heads_;        // oldest run first
  std::vector<std::size_t> used_;  // of them, in order
  SpilledEntry entry_;
  std::string together_;
  std::string both_;
};

}  // namespace hummer
