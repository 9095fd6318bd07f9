// SpillingAccumulators<K, Aggregate>: an aggregate's table that keeps within its operator's share
// of memory, with what goes beyond it on disk (hummer/detail/state/spilled_accumulators.hpp).
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

#include <hummer/detail/memory_account.hpp>
#include <hummer/detail/operators/table_snapshot.hpp>
#include <hummer/detail/state/spilled_accumulators.hpp>

namespace hummer {

template <typename K, typename Aggregate>
class SpillingAccumulators {
  using Accumulator = typename Aggregate::Accumulator;
  using Cold = SpilledAccumulators<K, Accumulator>;

 public:
  using Table = AccumulatorTable<K, Accumulator>;
  using Scan = typename Cold::Scan;

  void open(OperatorContext& context, const Aggregate& aggregate, bool deltas) {
    context_ = &context;
    aggregate_ = &aggregate;
    memory_.open(context.memory(), true);
    deltas_ = deltas;
    if (deltas) {
      spilled_.open_deltas(context, [&aggregate](Accumulator& older, const Accumulator& newer) {
        aggregate.merge(older, false, newer);
      });
    } else {
      spilled_.open_values(context);
    }
  }

  Table& table() { return table_; }
  bool limited() const { return memory_.limited(); }
  bool has_room_for(std::size_t bytes) const { return bytes <= memory_.share_bytes(); }
  // Some of it is on disk.
  bool spilled() const { return !spilled_.empty(); }
  bool must_fetch() const { return !deltas_ && spilled(); }

  // After a batch. `beside`: bytes that the operator holds beside the table.
  Status keep_within_share(std::size_t beside) {
    const std::size_t share = memory_.share_bytes();
    const std::size_t room = share - std::min(share, beside + spilled_.memory_bytes());
    // A snapshot of the table that is being written is finished first.
    if (!table_.frozen() &&
        (table_.at_limit(room) || (table_.memory_bytes() > room && !table_.empty()))) {
      HUMMER_TRY(spilled_.put(table_));
      table_.clear();
      if (table_.memory_bytes() > room) table_ = Table();  // the share has become smaller
    }
    return memory_.set(table_.memory_bytes() + beside + spilled_.memory_bytes());
  }
  template <typename KeyOf>
  Status fetch(std::size_t count, KeyOf&& key_of) {
    return spilled_.fetch(table_, count, key_of);
  }
  // Everything; the table is empty then. REQUIRES: spilled().
  Result<Scan> scan_all() {
    HUMMER_TRY(spilled_.put(table_));
    table_ = {};
    return spilled_.scan();
  }
  // At the end: nobody asks for it any more. Its memory goes with the operator: giving back
  // gigabytes takes longer than the last records, on their way to the next operator, may wait.
  void retire() {
    retired_ = std::exchange(table_, {});
    spilled_.clear();
  }

  // Of what is in memory alone see table_snapshot.hpp. Once there is something on disk the table
  // goes there too, and a snapshot is runs as they are, or those written since the last one: a
  // version, whether it is a delta, and blocks of entries, oldest run first; an empty one ends it.
  Status snapshot(ByteWriter& out) {
    blocks_.reset();
    if (!spilled_.used()) return begin_table_snapshot(table_, *context_, out);
    HUMMER_TRY(spilled_.put(table_));
    table_.clear();
    SpilledStore::Frozen frozen = spilled_.freeze(context_->may_write_delta());
    if (frozen.delta) context_->wrote_delta();
    blocks_ = std::move(frozen.blocks);
    out.put_value(runs_snapshot_version);
    out.put_value(static_cast<std::uint8_t>(frozen.delta));
    return {};
  }
  OperatorResult snapshot_rest(ByteWriter& out) {
    if (blocks_ == nullptr) return table_snapshot_rest(table_, *context_, out);
    while (out.size() < context_->snapshot_step_bytes()) {
      const Result<std::string_view> block = blocks_->next();
      if (!block.ok()) return context_->fail(block.status());
      out.put_text(*block);
      if (!block->empty()) continue;
      blocks_.reset();
      return OperatorResult::done;
    }
    return OperatorResult::more;
  }
  // Merges what an earlier subtask wrote of the keys that are owned here. What is too much goes to
  // disk meanwhile.
  Status restore(ByteReader& in) {
    std::uint8_t version = 0;
    std::uint8_t delta = 0;
    if (!in.get_value(version) || !in.get_value(delta)) return table_undecodable(*context_);
    if (version == runs_snapshot_version) return restore_runs(in);
    if (version != table_snapshot_version) return table_undecodable(*context_);
    return restore_table(
        table_, *context_, delta != 0, in,
        [&](Accumulator& accumulator, bool is_new, const Accumulator& other) {
          aggregate_->merge(accumulator, is_new, other);
        },
        [&] { return limited() ? keep_within_share(0) : Status(); });
  }

 private:
  static constexpr std::uint8_t runs_snapshot_version = 3;
  static constexpr std::size_t restored_at_once_bytes = 64 << 10;

  // A delta goes over what came before it as later runs go over earlier ones, wherever that is.
  Status restore_runs(ByteReader& in) {
    std::size_t bytes = 0;  // since the table was looked at
    for (std::string_view block; in.get_text(block); in.let_go()) {
      if (block.empty()) return limited() ? keep_within_share(0) : Status();
      for (std::size_t at = 0; at < block.size();) {
        if (!restore_entry(block, at)) return table_undecodable(*context_);
      }
      bytes += block.size();
      if (!limited() || bytes < restored_at_once_bytes) continue;
      bytes = 0;
      HUMMER_TRY(keep_within_share(0));
    }
    return table_undecodable(*context_);
  }
  [[nodiscard]] bool restore_entry(std::string_view block, std::size_t& at) {
    SpilledEntry entry;
    if (!read_spilled_entry(block, at, entry) || entry.removed) return false;
    ByteReader key_bytes(entry.key);
    K key{};
    Accumulator other{};
    if (!Codec<K>::decode(key_bytes, key) || !decode_accumulator(entry.value, other)) return false;
    if (!context_->owns_key(key)) return true;
    const auto [accumulator, is_new] = table_.find_or_add(key);
    if (deltas_) {
      aggregate_->merge(*accumulator, is_new, other);
    } else {
      *accumulator = std::move(other);
    }
    return true;
  }

  OperatorContext* context_ = nullptr;
  const Aggregate* aggregate_ = nullptr;
  MemoryUse memory_;
  bool deltas_ = false;
  Table table_;
  Table retired_;
  Cold spilled_;
  std::unique_ptr<SpilledBlocks> blocks_;  // of the snapshot under way; null: it is of the table
};

}  // namespace hummer
