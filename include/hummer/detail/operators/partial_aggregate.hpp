// PartialAggregateOperator: folds records into partial state ahead of the
// exchange, so that one record per key and epoch crosses it instead of one per
// input record (Slash, section 5; the first, bounded form of the epoch).
//
// An epoch ends, and the partial state goes out as KeyValue<K, Accumulator>:
//   - before the table would outgrow `limit_bytes`,
//   - at flush (a barrier) and at the end,
//   - where the stream does not end: `epoch_ms` after its first record, or as soon
//     as input pauses while the table is small.
// It keeps nothing beyond an epoch's end, so it has nothing to save. Where the merge
// half runs in the same slot both use one table: see co_located_state.hpp. Where keys hardly repeat
// within an epoch records pass (FoldingChoice), by port 1 where they are no larger than parts, else
// each as a part of its own; where both use one table those of the slot's own keys go on into it,
// and only those of others pass, unless whole batches do. So it is when the common table becomes
// large; then those of others are folded in a table of their own.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/detail/operators/emit_keyed.hpp>
#include <hummer/detail/operators/folding_choice.hpp>
#include <hummer/detail/operators/record_keys.hpp>
#include <hummer/detail/state/co_located_state.hpp>
#include <hummer/identity.hpp>

namespace hummer {

struct PartialAggregateOptions {
  std::size_t limit_bytes = 64 << 20;
  std::int64_t epoch_ms = 100;
  bool hold_until_end = true;  // no epochs by time or pause
  Folding folding = Folding::automatic;
  bool bypass = true;     // where records are small
  std::string pair_name;  // equal in both halves of an aggregate; empty: no common table
};

template <typename In, typename K, typename KeyOf, typename Aggregate>
class PartialAggregateOperator final : public Operator {
  using Accumulator = typename Aggregate::Accumulator;
  using Table = AccumulatorTable<K, Accumulator>;
  using State = CoLocatedState<K, Accumulator>;
  using Part = KeyValue<K, Accumulator>;

 public:
  // Whether those that may pass are small enough to pass as they are.
  static constexpr bool passes_records = passes_as_it_is<In, Part>;

  PartialAggregateOperator(KeyOf key_of, Aggregate aggregate, PartialAggregateOptions options)
      : keys_(std::move(key_of)), aggregate_(std::move(aggregate)), options_(options) {}

  void declare(Output& out) const override {
    out.add_port(type_of<Part>());
    if (has_bypass_) out.add_port(type_of<In>());
  }

  Status open() override {
    // With a limit to memory it hands on sooner, and the common table ends before it is large: only
    // the merge half's own can go to disk.
    memory_.open(context().memory(), false);
    if (memory_.limited()) {
      const std::size_t share =
          context().memory()->limit_bytes() / static_cast<std::size_t>(context().parallelism());
      limit_bytes_ = std::min(limit_bytes_, share / 16);
      most_paired_bytes_ = share / 4;
    }
    state_ = State::find(context(), options_.pair_name);
    choice_.open(!context().leaves_memory(), options_.hold_until_end);
    return {};
  }

  OperatorResult process(Batch& in, Output& out) override {
    if (emitting_) {
      if (const OperatorResult answer = emit(out); answer != OperatorResult::done) return answer;
    }
    if (in.finished()) return OperatorResult::done;
    if constexpr (passes_records) {
      if (has_bypass_ && !choice_.folds() && in.position() == 0) return pass_batch(in, out);
    }
    if (divided_) return divide(in, out);
    if (!choice_.folds()) return pass_parts(in, out);
    const auto records = in.values<In>();
    const std::size_t first = in.position();
    Table& table = state_->table;
    RecordInHand in_hand(in);
    const auto add = [&](Accumulator& accumulator, bool is_new, std::size_t i) {
      constexpr bool safe = noexcept(aggregate_.add(accumulator, is_new, records[first + i]));
      in_hand.set_unless<safe>(first + i);
      aggregate_.add(accumulator, is_new, records[first + i]);
    };
    if constexpr (std::is_same_v<In, std::string_view> && std::is_same_v<K, In> &&
                  std::is_same_v<KeyOf, Identity>) {
      table.update_views(records.subspan(first), add);  // the keys are the column as it lies
    } else {
      table.update(
          records.size() - first,
          [&](std::size_t i) -> K {
            in_hand.set_unless<std::is_same_v<KeyOf, Identity>>(first + i);
            return keys_.take(i, records[first + i]);
          },
          add);
    }
    in_hand.set(records.size());
    const std::size_t count = records.size() - first;
    if (shares_table()) {
      choice_.fold_shared(count, share_of_others(count));
    } else {
      choice_.fold(count);
    }
    begin_epoch();
    (void)memory_.set(table.memory_bytes());  // whatever the others hold: it can't do with less
    // The batch is taken: what is emitted now belongs to it, and the next call starts empty.
    const bool ends = choice_.is_due() && choice_.ends_epoch(parts_held());
    if (ends || table.at_limit(limit_bytes_)) return emit(out);
    return OperatorResult::done;
  }

  OperatorResult idle(Output& out) override {
    const Table& held = divided_ ? other_keys_ : state_->table;
    if (options_.hold_until_end || held.empty() || held.memory_bytes() > small_bytes) {
      return OperatorResult::done;
    }
    return emit(out);
  }
  OperatorResult timer(std::int64_t, Output& out) override {
    timer_set_ = false;
    return emit(out);
  }
  OperatorResult watermark(Timestamp, Output& out) override {
    return emitting_ ? emit(out) : OperatorResult::done;
  }
  OperatorResult flush(Output& out) override { return emit(out); }
  OperatorResult end(Output& out) override {
    ending_ = true;
    return emit(out);
  }

 private:
  static constexpr std::size_t small_bytes = 256 << 10;
  static constexpr std::size_t room_for_deltas = 8192;  // keys of each length

  // With the merge half.
  bool shares_table() const { return state_->merge_joined && !state_->outgrown; }
  // Of so many records, or keys, about how many other subtasks own.
  std::size_t share_of_others(std::size_t count) const {
    const auto subtasks = static_cast<std::size_t>(context().parallelism());
    return count - count / subtasks;
  }
  // To be handed on. Of a common table only its new keys are; what has come from others meanwhile
  // counts, too.
  std::size_t parts_held() const {
    const std::size_t keys = state_->table.size();
    return shares_table() ? share_of_others(keys - std::min(keys, keys_before_)) : keys;
  }
  void begin_epoch() {
    if (options_.hold_until_end || timer_set_) return;
    timer_set_ = true;
    context().call_at(context().now() + options_.epoch_ms * 1'000'000);
  }
  void pass_part(const K& key, const In& record, Collector<Part>& out) {
    Accumulator accumulator{};
    aggregate_.add(accumulator, true, record);
    out(Part{key_for_output(key, out), std::move(accumulator)});
  }

  OperatorResult pass_batch(Batch& in, Output& out) {
    const std::size_t records = in.size();
    if (in.unique()) in.timestamps().clear();  // nobody asks for them
    const OperatorResult answer = hand_on(in, out.batch(1), context());
    if (answer != OperatorResult::done) return answer;
    choice_.pass(records);
    return divided_ && state_->table.at_limit(most_paired_bytes_) ? emit(out) : answer;
  }

  // Each record as a part of its own.
  OperatorResult pass_parts(Batch& in, Output& out) {
    const auto records = in.values<In>();
    const BatchRun run = next_run(in, out.batch(), out.soft_limit());
    RecordInHand in_hand(in);
    {
      auto collector = out.collector<Part>();
      for (std::size_t i = run.first; i < run.first + run.count; ++i) {
        in_hand.set(i);
        pass_part(keys_.take(0, records[i]), records[i], collector);
      }
    }
    in_hand.set(run.first + run.count);
    choice_.pass(run.count);
    return run.first + run.count == records.size() ? OperatorResult::done : OperatorResult::more;
  }

  // Records of own keys go into the common table, those of others pass or are folded by themselves.
  OperatorResult divide(Batch& in, Output& out) {
    const auto records = in.values<In>();
    const BatchRun run = next_run(in, out.batch(has_bypass_ ? 1 : 0), out.soft_limit());
    const std::span<const In> taken = records.subspan(run.first, run.count);
    RecordInHand in_hand(in);
    const auto [own, others] = find_owners(taken, run.first, in_hand);
    fold_some(state_->table, own, taken, run.first, in_hand);
    choice_.fold_shared(own.size(), 0);
    if (choice_.folds()) {
      fold_some(other_keys_, others, taken, run.first, in_hand);
      choice_.fold(others.size());
      begin_epoch();
    } else {
      pass_some(others, taken, run.first, in_hand, out);
      choice_.pass(others.size());
    }
    const std::size_t next = run.first + run.count;
    in_hand.set(next);
    (void)memory_.set(state_->table.memory_bytes() + other_keys_.memory_bytes());
    const bool ends = choice_.is_due() && choice_.ends_epoch(other_keys_.size());
    if (ends || other_keys_.at_limit(limit_bytes_) || state_->table.at_limit(most_paired_bytes_)) {
      if (const OperatorResult answer = emit(out); answer != OperatorResult::done) return answer;
    }
    return next == records.size() ? OperatorResult::done : OperatorResult::more;
  }
  struct Divided {
    std::span<const std::uint32_t> own;
    std::span<const std::uint32_t> others;
  };
  Divided find_owners(std::span<const In> records, std::size_t first, RecordInHand& in_hand) {
    own_records_.resize(std::max(own_records_.size(), records.size()));
    other_records_.resize(own_records_.size());
    std::uint32_t* own = own_records_.data();
    std::uint32_t* others = other_records_.data();
    for (std::size_t from = 0; from < records.size(); from += HashDivider::most) {
      const std::size_t count = std::min(records.size() - from, HashDivider::most);
      for (std::size_t i = 0; i < count; ++i) {
        in_hand.set(first + from + i);
        divider_.template set<K>(i, keys_.take(from + i, records[from + i]));
      }
      divider_.template hash<K>(count);
      const std::size_t owned = divider_.divide(count, owned_hashes_);
      for (const std::uint8_t i : divider_.inside(owned)) {
        *own++ = static_cast<std::uint32_t>(from) + i;
      }
      for (const std::uint8_t i : divider_.outside(count - owned)) {
        *others++ = static_cast<std::uint32_t>(from) + i;
      }
    }
    return {{own_records_.data(), own}, {other_records_.data(), others}};
  }
  void pass_some(std::span<const std::uint32_t> which, std::span<const In> records,
                 std::size_t first, RecordInHand& in_hand, Output& out) {
    if constexpr (passes_records) {
      if (has_bypass_) {
        auto collector = out.collector<In>(1);
        for (const std::uint32_t i : which) collector.emit(records[i]);
        return;
      }
    }
    auto collector = out.collector<Part>();
    for (const std::uint32_t i : which) {
      in_hand.set(first + i);
      pass_part(keys_.taken(i, records[i]), records[i], collector);
    }
  }
  void fold_some(Table& table, std::span<const std::uint32_t> which, std::span<const In> records,
                 std::size_t first, RecordInHand& in_hand) {
    table.update(
        which.size(), [&](std::size_t i) -> K { return keys_.taken(which[i], records[which[i]]); },
        [&](Accumulator& accumulator, bool is_new, std::size_t i) {
          in_hand.set(first + which[i]);
          aggregate_.add(accumulator, is_new, records[which[i]]);
        });
  }

  // What others own, where the table has only own keys.
  OperatorResult emit_of_others(Output& out) {
    emitting_ = true;
    const OperatorResult answer = emit_table<K, Accumulator>(
        other_keys_, cursor_, out, [](const K&) { return true; },
        [](const Accumulator& accumulator) { return accumulator; });
    if (answer != OperatorResult::done) return answer;
    emitting_ = false;
    choice_.end_epoch(other_keys_.size());
    if (!ending_ && !state_->table.at_limit(most_paired_bytes_)) {
      other_keys_.clear();
      return OperatorResult::done;
    }
    other_keys_ = {};
    if (!ending_) {
      divided_ = false;
      return emit(out);
    }
    state_->partial_ended = true;
    (void)memory_.set(0);
    return OperatorResult::done;
  }

  OperatorResult emit(Output& out) {
    if (divided_) return emit_of_others(out);
    if (!emitting_) {
      emitting_ = true;
      if (!ending_ && state_->table.at_limit(most_paired_bytes_)) state_->outgrown = true;
      paired_ = shares_table();
      state_->partial_alone = !paired_;
      // Room for the deltas of others, which come meanwhile: also where a table is still small.
      if (paired_) {
        state_->table.set_dense(true);
        state_->table.make_room_for(room_for_deltas);
      }
      state_->handing_on = true;
    }
    const HashRange own = state_->owned_hashes(context());
    const OperatorResult answer = emit_table<K, Accumulator>(
        state_->table, cursor_, out,
        [&](const K& key) { return !paired_ || !own.has(key_hash(key)); },
        [&](const Accumulator& accumulator) {
          ++parts_out_;
          return accumulator;
        });
    if (answer != OperatorResult::done) return answer;
    emitting_ = false;
    state_->handing_on = false;
    const std::uint64_t parts = std::exchange(parts_out_, 0);
    choice_.end_epoch(parts);
    if (!paired_) {
      state_->table.clear();
    } else if (!ending_) {
      state_->table.set_dense(false);
      // An epoch of a large table is a scan of the own keys too, and leaves others out of it.
      divided_ = !choice_.folds() || state_->table.at_limit(limit_bytes_);
      Table rest = state_->keep_owned(context());
      if (divided_) {
        owned_hashes_ = own;
        other_keys_ = std::move(rest);
      }
      keys_before_ = state_->table.size();
    } else {
      state_->partial_ended = true;  // the merge half passes over what it does not own
      (void)memory_.set(0);
    }
    return OperatorResult::done;
  }

  RecordKeys<In, K, KeyOf> keys_;
  Aggregate aggregate_;
  PartialAggregateOptions options_;
  MemoryUse memory_;
  std::shared_ptr<State> state_;
  const bool has_bypass_ = passes_records && options_.bypass;
  FoldingChoice choice_{options_.folding};
  // The common table has own keys only.
  bool divided_ = false;
  Table other_keys_;
  HashRange owned_hashes_;
  HashDivider divider_;
  std::vector<std::uint32_t> own_records_;  // of a batch
  std::vector<std::uint32_t> other_records_;
  std::size_t keys_before_ = 0;  // of the common table, when the epoch began
  std::size_t cursor_ = 0;
  std::uint64_t parts_out_ = 0;  // of the emission in hand
  bool emitting_ = false;
  bool paired_ = false;  // of the emission in hand
  bool ending_ = false;
  std::size_t limit_bytes_ = options_.limit_bytes;
  std::size_t most_paired_bytes_ = SIZE_MAX;
  bool timer_set_ = false;
};

}  // namespace hummer
