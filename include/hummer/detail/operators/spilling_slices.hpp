// SpillingSlices: the slices of a window operator, with what has no room in its share
// of memory on disk (hummer/detail/state/spilled_slices.hpp).
//
// Without a limit to memory it is the tables (hummer/detail/state/slice_tables.hpp) and nothing
// else. With one the operator calls keep_within() once per batch: when two thirds of the room are
// full the largest tables leave, until a third of it holds the others. The background makes one run
// of them; until then they count, and there is a third for what comes. A slice goes on in an empty
// table; its records never look at the disk. The largest and not the oldest, because runs should be
// large: what a slice that has been there for long gets late is little, and goes on fitting in.
//
// Where a window has something on disk, scan() merges what its slices have there and their tables,
// in order of the keys' hashes; add_up() looks one key up.
//
// Snapshots: once something is on disk they are whole; tables and what is on disk are sections of
// their own, so nothing moves for a snapshot. A table that goes to disk while one is under way
// stays in memory until it is written.
//
// Lifecycle: open() before anything else, once or more. Thread: that of the operator. Errors: those
// of the disk.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <hummer/detail/state/slice_tables.hpp>
#include <hummer/detail/state/spilled_slices.hpp>
#include <hummer/operator.hpp>
#include <hummer/windows.hpp>

namespace hummer {

class SpillingSlices {
 public:
  using Table = AccumulatorTableBase;

  // `aggregate` outlives it.
  explicit SpillingSlices(const ErasedAggregate& aggregate)
      : aggregate_(&aggregate), tables_(aggregate), spilled_(aggregate) {}
  void open(OperatorContext& context) {
    context_ = &context;
    spilled_.open(context);
  }

  // A slice with all that it has on disk has an empty one.
  SliceTables& tables() { return tables_; }
  const SliceTables& tables() const { return tables_; }
  bool empty() const { return tables_.empty(); }
  std::size_t memory_bytes() const {
    return tables_.memory_bytes() + tables_.parting_bytes() + tables_.left_bytes() +
           spilled_.memory_bytes() + entries_.memory_bytes();
  }

  void drop_first();
  // All of the other one, too.
  void absorb(SpillingSlices& other);

  // ---- beyond memory ----

  Status keep_within(std::size_t room);
  Status spill_all();
  // Whether some of the slices from `start` on, before `end`, have something on disk.
  bool has_spilled(Timestamp start, Timestamp end) const;
  // Whether a scan of them costs less than looking so many keys up.
  bool scan_is_cheaper(Timestamp start, Timestamp end, std::size_t keys) const;
  // Adds what these slices have of a key (as a table has its bytes) to an accumulator, a new one.
  Status add_up(std::string_view key, Timestamp start, Timestamp end, void* total);
  // Every key of these slices with its total. The tables stay as they are meanwhile.
  std::unique_ptr<SpilledScan> scan(Timestamp start, Timestamp end);

  // ---- snapshot ----

  // As SliceTables's.
  bool freeze(bool may_be_delta, ByteWriter& out);
  // True: that was all.
  Result<bool> write_frozen(ByteWriter& out, std::size_t until_bytes);
  // All of it at once, as whole.
  Status write_whole(ByteWriter& out);

 private:
  struct Section {
    Timestamp slice;
    std::unique_ptr<SpilledScan> scan;
    bool begun;
  };

  void spill(std::size_t left_bytes);
  std::size_t full_bytes(std::size_t room) const;

  const ErasedAggregate* aggregate_;
  OperatorContext* context_ = nullptr;
  SliceTables tables_;
  SpilledSlices spilled_;
  GroupedEntries entries_;        // of the snapshot under way
  std::vector<Section> writing_;  // of the snapshot under way, the first one last
};

}  // namespace hummer
