// SpillingAccumulators<K, Aggregate>: an aggregate's table that keeps within its operator's share
// of memory, with what goes beyond it on disk (hummer/detail/state/spilled_accumulators.hpp).
//
// Without a limit to memory it is the table and nothing else. With one the operator calls
// keep_within_share() once per batch; where it looks at single keys (`deltas` false) it also
// fetches those of a batch first, as soon as must_fetch() says that some may be on disk.
//
// A full table leaves as a whole, is sorted and written in the background, and counts until then:
// so a table is full when it has half of the room, but three quarters of it as long as nothing was
// ever on disk. The operator goes on with another one at once: the one that left before it, if that
// is written, and else a new one. Two tables take turns, so that their memory stays.
//
// Lifecycle: made with the aggregate, which outlives it; open() in restore and in open, more than
// once if need be. Thread: that of the operator.
#pragma once

#include <memory>
#include <utility>

#include <hummer/detail/memory_account.hpp>
#include <hummer/detail/state/spilled_accumulators.hpp>

namespace hummer {

// What needs no type of the keys or the accumulators.
class SpillingAccumulatorsBase {
 public:
  bool limited() const { return memory_.limited(); }
  bool has_room_for(std::size_t bytes) const { return bytes <= memory_.share_bytes(); }
  // Some of it is on disk.
  bool spilled() const { return !spilled_.empty(); }
  bool must_fetch() const { return !deltas_ && spilled(); }

  // After a batch. `beside`: bytes that the operator holds beside the table; `of_entries`: that its
  // accumulators hold beside themselves, and which leave with them.
  Status keep_within_share(std::size_t beside, std::size_t of_entries = 0);
  // Everything, once; the table leaves for it. REQUIRES: spilled().
  std::unique_ptr<SpilledScan> scan_all();
  // At the end: nobody asks for it any more. Its memory goes with the operator: giving back
  // gigabytes takes longer than the last records, on their way to the next operator, may wait.
  void retire();

  // Nothing is written to the spill directory for it. Of what is in memory alone: version, whether
  // it is a delta, and in steps the entries of the table. Once there is something on disk: version,
  // whether the runs are a delta, those written since the last snapshot, and whether the table's
  // entries are, which else take the place of all that the piece before had of its table (they are
  // in the newer runs); then those entries, and runs as they are: blocks of entries, oldest run
  // first; an empty one ends it.
  Status snapshot(ByteWriter& out);
  OperatorResult snapshot_rest(ByteWriter& out);
  // Merges what an earlier subtask wrote of the keys that are owned here. What is too much goes to
  // disk meanwhile.
  Status restore(ByteReader& in);

 protected:
  explicit SpillingAccumulatorsBase(const ErasedAggregate& aggregate);
  ~SpillingAccumulatorsBase();
  void open(OperatorContext& context, bool deltas);
  Status fetch_key(std::string_view key) { return spilled_.fetch(*table_, key); }
  std::shared_ptr<AccumulatorTableBase> table_;

 private:
  // An empty one takes its place.
  void let_table_go(std::size_t of_entries);
  std::shared_ptr<AccumulatorTableBase> next_table();
  void clear_left_table(std::size_t beside);
  std::size_t full_bytes(std::size_t beside) const;
  bool is_too_large(std::size_t full, std::size_t of_entries) const;
  Status make_room(std::size_t beside);
  OperatorResult write_runs(ByteWriter& out);
  KeyGroups groups_of(std::string_view block) const;
  Status undecodable() const;
  Status restore_table(ByteReader& in, bool delta);
  Status restore_newest(ByteReader& in);
  Status restore_runs(ByteReader& in);
  // What the last piece had of its table goes over its runs.
  Status take_newest();
  [[nodiscard]] bool restore_entry(const SpilledEntry& entry, const OwnsKey& owns,
                                   ByteReader value);
  // The table of the snapshot under way.
  AccumulatorTableBase& frozen_table() { return parting_ != nullptr ? *parting_ : *table_; }
  // Those of which are not counted as leaving.
  std::size_t parting_bytes() const {
    const bool counted = parting_ == left_ && spilled_.leaving();
    return parting_ == nullptr || counted ? 0 : parting_->memory_bytes();
  }
  std::size_t left_bytes() const {
    const bool counted = left_ == parting_ || spilled_.leaving();
    return left_ == nullptr || counted ? 0 : left_->memory_bytes() + left_of_entries_;
  }

  const ErasedAggregate& aggregate_;
  OperatorContext* context_ = nullptr;
  MemoryUse memory_;
  bool deltas_ = false;
  std::shared_ptr<AccumulatorTableBase> retired_;
  SpilledAccumulators spilled_;
  std::shared_ptr<AccumulatorTableBase> left_;  // the last one that left
  std::size_t left_of_entries_ = 0;
  // Of the snapshot under way.
  GroupedEntries entries_;
  std::shared_ptr<AccumulatorTableBase> parting_;  // left before it was written
  bool writes_table_ = false;
  std::unique_ptr<SpilledBlocks> blocks_;  // null: it is of the table alone
  // While state is restored: the entries of a table that lies above runs.
  std::unique_ptr<AccumulatorTableBase> newest_;
};

// The aggregate, made ahead of what refers to it.
template <typename K, typename Aggregate>
struct OwnErasedAggregate {
  ErasedAggregateOf<K, Aggregate> erased;
};

template <typename K, typename Aggregate>
class SpillingAccumulators : private OwnErasedAggregate<K, Aggregate>,
                             public SpillingAccumulatorsBase {
  using Accumulator = typename Aggregate::Accumulator;

 public:
  using Table = AccumulatorTable<K, Accumulator>;

  explicit SpillingAccumulators(const Aggregate& aggregate)
      : OwnErasedAggregate<K, Aggregate>{ErasedAggregateOf<K, Aggregate>(aggregate)},
        SpillingAccumulatorsBase(this->erased) {}

  using SpillingAccumulatorsBase::open;
  Table& table() { return static_cast<Table&>(*table_); }

  template <typename KeyOf>
  Status fetch(std::size_t count, KeyOf&& key_of) {
    for (std::size_t i = 0; i < count; ++i) {
      HUMMER_TRY(fetch_key(typename TableKey<K>::Bytes(key_of(i))));
    }
    return {};
  }
};

}  // namespace hummer
