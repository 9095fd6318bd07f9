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

#include <optional>
#include <utility>

#include <hummer/memory_account.hpp>
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
  // Some of it is on disk.
  bool spilled() const { return !cold_.empty(); }
  bool must_fetch() const { return !deltas_ && spilled(); }

  // After a batch. `beside`: bytes that the operator holds beside the table.
  Status keep_within_share(std::size_t beside) {
    const std::size_t share = memory_.share_bytes();
    const std::size_t room = share - std::min(share, beside + cold_.memory_bytes());
    if (table_.at_limit(room) || (table_.memory_bytes() > room && !table_.empty())) {
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
  void clear() {
    table_.clear();
    cold_.clear();
  }

  Status snapshot(ByteWriter& out) { return cold_.snapshot(table_, out); }
  // Merges what an earlier subtask wrote of the keys that are owned here.
  Status restore(ByteReader& in) {
    Status kept;
    std::size_t until_look = entries_per_look;
    const bool valid = table_.restore(
        in,
        [&](const K& key) {
          // Between two entries: the table may be emptied here.
          if (kept.ok() && limited() && --until_look == 0) {
            until_look = entries_per_look;
            kept = keep_within_share(0);
          }
          if (!kept.ok() || !context_->owns_key(key)) return false;
          if (must_fetch()) kept = fetch(1, [&](std::size_t) -> const K& { return key; });
          return kept.ok();
        },
        [&](auto& accumulator, bool is_new, const auto& other) {
          aggregate_->merge(accumulator, is_new, other);
        });
    HUMMER_TRY(std::move(kept));
    if (valid) return {};
    return {ErrorCode::corrupt_record, "the state of an aggregate cannot be decoded"};
  }

 private:
  static constexpr std::size_t entries_per_look = 256;

  OperatorContext* context_ = nullptr;
  const Aggregate* aggregate_ = nullptr;
  MemoryUse memory_;
  bool deltas_ = false;
  Table table_;
  Cold cold_;
};

}  // namespace hummer
