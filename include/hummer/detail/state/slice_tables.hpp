// SliceTables: the state of windows, cut into slices of time: one table of
// accumulators by key for each slice that has records.
//
// Tables of slices that are done are cleared and serve again, so that a window
// costs no allocation; one that is far too large for what it held last is given
// back, since clearing and scanning cost its capacity. So does the largest one of those that go to
// disk.
//
// Snapshots go in steps, table by table (freeze, write_frozen). A table that is done with while one
// is under way is kept until it is written. A piece lists the slices that there are, then sections:
// 1, slice, entries with their end; 0. In a delta a section says what has changed of its slice; in
// a whole piece several may be of one slice, of which all count together.
//
// Thread: one. Cost: O(log slices) per call, plus that of the tables.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <hummer/batch.hpp>
#include <hummer/detail/state/erased_aggregate.hpp>

namespace hummer {

// A store of empty tables.
class SpareTables {
 public:
  // `aggregate` outlives it.
  explicit SpareTables(const ErasedAggregate& aggregate) : aggregate_(&aggregate) {}

  std::shared_ptr<AccumulatorTableBase> take();
  // One with at least twice as much memory, or null.
  std::shared_ptr<AccumulatorTableBase> take_larger(std::size_t bytes);
  void release() { spare_.clear(); }
  void release_but_largest();
  std::size_t memory_bytes() const;
  void give_back(std::shared_ptr<AccumulatorTableBase> table);
  // One that is empty.
  void add(std::shared_ptr<AccumulatorTableBase> table) { spare_.push_back(std::move(table)); }

 private:
  const ErasedAggregate* aggregate_;
  std::vector<std::shared_ptr<AccumulatorTableBase>> spare_;
};

class SliceTables {
 public:
  using Table = AccumulatorTableBase;
  using Slices = std::map<Timestamp, std::shared_ptr<Table>>;

  // `aggregate` outlives it.
  explicit SliceTables(const ErasedAggregate& aggregate)
      : aggregate_(&aggregate), spare_(aggregate) {}

  bool empty() const { return slices_.empty(); }
  // By where they begin, in order.
  const Slices& all() const { return slices_; }
  SpareTables& spare() { return spare_; }
  std::size_t memory_bytes() const;
  std::size_t entries() const;  // in all tables
  // What is kept beside that until the snapshot under way has it, unless it is leaving, too.
  std::size_t parting_bytes() const;
  // And what has left, is written, and is to serve again.
  std::size_t left_bytes() const { return left_is_written() ? left_->memory_bytes() : 0; }
  // Whether a batch more might take a table and all of them beyond `limit_bytes`, or has.
  bool at_limit(std::size_t limit_bytes) const;
  // Gives back what no slice uses.
  void release_unused();

  // The table of the slice; a new one is empty.
  Table& at(Timestamp slice);
  // The same, before `more` entries come. Where it would grow and a larger spare one is there, it
  // moves: so the few records that come ahead of the watermark do not make the next slice grow a
  // table of its own, and windows with many keys need one large table instead of two.
  Table& at(Timestamp slice, std::size_t more);
  // The first slice that begins at `time` or later.
  Slices::const_iterator from(Timestamp time) const { return slices_.lower_bound(time); }

  void drop_first();
  // The slice's table, which nobody changes any more as long as somebody has it; it goes on with an
  // empty one. The next snapshot is whole.
  std::shared_ptr<const Table> let_go(Timestamp slice);
  // Between two batches: the largest of those serves again once nobody has it, if there is room for
  // it within these bytes. It is cleared in parts, so that no batch waits for that.
  void clear_left(std::size_t limit_bytes);

  // ---- snapshot ----

  // As AccumulatorTable's; writes the list of slices to `out`.
  bool freeze(bool may_be_delta, ByteWriter& out);
  // Adds sections, one or more of each slice; true: that was all.
  bool write_frozen(GroupedEntries& entries, ByteWriter& out, std::size_t until_bytes);
  // What is added then is of this slice.
  static void begin_section(Timestamp slice, GroupedEntries& entries);

  enum Section : std::uint8_t { end_of_sections, section_follows };
  // The next snapshot is whole.
  void forget_snapshot() { was_frozen_ = false; }

  // Takes the entries of the keys that `owns`; false: not valid. `delta`: of the same subtask as
  // the piece before. merge_restored() once behind the last piece. make_room() → bool comes now and
  // then, and may merge_restored() and put elsewhere what there is, where no delta comes.
  [[nodiscard]] bool restore(ByteReader& in, bool delta, const OwnsKey& owns,
                             const std::function<bool()>& make_room);
  void merge_restored();

 private:
  bool left_is_written() const { return left_.use_count() == 1; }
  void retire(Timestamp slice, std::shared_ptr<Table> table);
  bool next_section(GroupedEntries& entries);

  const ErasedAggregate* aggregate_;
  Slices slices_;
  SpareTables spare_;
  bool was_frozen_ = false;
  // Done with before they were written.
  std::vector<std::pair<Timestamp, std::shared_ptr<Table>>> parting_;
  std::shared_ptr<Table> left_;  // the largest one
  Table* writing_ = nullptr;     // its section has begun
  Slices restoring_;             // of one subtask
};

}  // namespace hummer
