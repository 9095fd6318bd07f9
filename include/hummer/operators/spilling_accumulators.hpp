// SpillingAccumulators<K, Aggregate>: an aggregate's table that keeps within its operator's share
// of memory, with what goes beyond it on disk (state/cold_accumulators.hpp).
//
// Without a limit to memory it is the table and nothing else. With one the operator calls
// keep_within_share() once per batch; where it looks at single keys (`deltas` false) it also
// fetches those of a batch first, as soon as must_fetch() says that some may be on disk.
//
// Lifecycle: open() in restore and in open, more than once if need be. Thread: that of the
// operator.
#pragma once

#include <memory>
#include <utility>

#include <hummer/memory_account.hpp>
#include <hummer/operators/table_snapshot.hpp>
#include <hummer/state/cold_accumulators.hpp>

namespace hummer {

template <typename K, typename Aggregate>
class SpillingAccumulators {
  using Accumulator = typename Aggregate::Accumulator;
  using Cold = ColdAccumulators<K, Accumulator>;

 public:
  using Table = AccumulatorTable<K, Accumulator>;
  using Scan = typename Cold::Scan;

  void open(OperatorContext& context, const Aggregate& aggregate, bool deltas) {
    context_ = &context;
    aggregate_ = &aggregate;
    memory_.open(context.memory(), true);
    deltas_ = deltas;
    if (deltas) {
      cold_.open_deltas(context, [&aggregate](Accumulator& older, const Accumulator& newer) {
        aggregate.merge(older, false, newer);
      });
    } else {
      cold_.open_values(context);
    }
  }

  Table& table() { return table_; }
  bool limited() const { return memory_.limited(); }
  bool has_room_for(std::size_t bytes) const { return bytes <= memory_.share_bytes(); }
  // Some of it is on disk.
  bool spilled() const { return !cold_.empty(); }
  bool must_fetch() const { return !deltas_ && spilled(); }

  // After a batch. `beside`: bytes that the operator holds beside the table.
  Status keep_within_share(std::size_t beside) {
    const std::size_t share = memory_.share_bytes();
    const std::size_t room = share - std::min(share, beside + cold_.memory_bytes());
    // A snapshot of the table that is being written is finished first.
    if (!table_.frozen() &&
        (table_.at_limit(room) || (table_.memory_bytes() > room && !table_.empty()))) {
      HUMMER_TRY(cold_.put(table_));
      table_.clear();
      if (table_.memory_bytes() > room) table_ = Table();  // the share has become smaller
    }
    return memory_.set(table_.memory_bytes() + beside + cold_.memory_bytes());
  }
  template <typename KeyOf>
  Status fetch(std::size_t count, KeyOf&& key_of) {
    return cold_.fetch(table_, count, key_of);
  }
  // Everything; the table is empty then. REQUIRES: spilled().
  Result<Scan> scan_all() {
    HUMMER_TRY(cold_.put(table_));
    table_ = {};
    return cold_.scan();
  }
  // At the end: nobody asks for it any more. Its memory goes with the operator: giving back
  // gigabytes takes longer than the last records, on their way to the next operator, may wait.
  void retire() {
    retired_ = std::exchange(table_, {});
    cold_.clear();
  }

  // See table_snapshot.hpp. Once there is something on disk snapshots are whole: the table goes
  // there too, and what is there then is read in steps.
  Status snapshot(ByteWriter& out) {
    frozen_.reset();
    if (!cold_.used()) return begin_table_snapshot(table_, *context_, out);
    HUMMER_TRY(cold_.put(table_));
    table_.clear();
    frozen_ = cold_.scan_bytes();
    out.put_value(table_snapshot_version);
    out.put_value(std::uint8_t{0});  // no delta
    return {};
  }
  Answer snapshot_rest(ByteWriter& out) {
    if (!cold_.used()) return table_snapshot_rest(table_, *context_, out);
    while (out.size() < context_->snapshot_step_bytes()) {
      const Result<bool> found = frozen_->next();
      if (!found.ok()) return context_->fail(found.status());
      if (!*found) {
        frozen_.reset();
        out.put_value(Table::end_of_entries);
        return Answer::done;
      }
      out.put_value(Table::entry_follows);
      out.put(frozen_->entry().key.data(), frozen_->entry().key.size());
      out.put(frozen_->entry().value.data(), frozen_->entry().value.size());
    }
    return Answer::more;
  }
  // Merges what an earlier subtask wrote of the keys that are owned here. What is too much goes to
  // disk meanwhile.
  Status restore(ByteReader& in) {
    return restore_table(
        table_, *context_, in,
        [&](Accumulator& accumulator, bool is_new, const Accumulator& other) {
          aggregate_->merge(accumulator, is_new, other);
        },
        [&] { return limited() ? keep_within_share(0) : Status(); });
  }

 private:
  OperatorContext* context_ = nullptr;
  const Aggregate* aggregate_ = nullptr;
  MemoryUse memory_;
  bool deltas_ = false;
  Table table_;
  Table retired_;
  Cold cold_;
  std::unique_ptr<ColdScan> frozen_;  // of the snapshot under way
};

}  // namespace hummer
