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
// half runs in the same slot both use one table: see co_located_state.hpp. Where they don't, and
// keys hardly repeat within an epoch, records pass, each as a part of its own (FoldingChoice).
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

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
  std::string pair_name;  // equal in both halves of an aggregate; empty: no common table
};

template <typename In, typename K, typename KeyOf, typename Aggregate>
class PartialAggregateOperator final : public Operator {
  using Accumulator = typename Aggregate::Accumulator;
  using State = CoLocatedState<K, Accumulator>;

 public:
  PartialAggregateOperator(KeyOf key_of, Aggregate aggregate, PartialAggregateOptions options)
      : keys_(std::move(key_of)), aggregate_(std::move(aggregate)), options_(options) {}

  void declare(Output& out) const override { out.add_port(type_of<KeyValue<K, Accumulator>>()); }

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
    choice_.open();
    return {};
  }

  OperatorResult process(Batch& in, Output& out) override {
    if (emitting_) {
      if (const OperatorResult answer = emit(out); answer != OperatorResult::done) return answer;
    }
    if (!choice_.folds()) return pass(in, out);
    const auto records = in.values<In>();
    const std::size_t first = in.position();
    AccumulatorTable<K, Accumulator>& table = state_->table;
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
    if (shares_table()) {
      choice_.fold_shared(records.size() - first);
    } else {
      choice_.fold(records.size() - first);
    }
    if (!options_.hold_until_end && !timer_set_) {
      timer_set_ = true;
      context().call_at(context().now() + options_.epoch_ms * 1'000'000);
    }
    (void)memory_.set(table.memory_bytes());  // whatever the others hold: it can't do with less
    // The batch is taken: what is emitted now belongs to it, and the next call starts empty.
    const bool ends = !shares_table() && choice_.is_due() && choice_.ends_epoch(table.size());
    if (ends || table.at_limit(limit_bytes_)) return emit(out);
    return OperatorResult::done;
  }

  OperatorResult idle(Output& out) override {
    if (options_.hold_until_end || state_->table.empty() ||
        state_->table.memory_bytes() > small_bytes) {
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

  // With the merge half. Then records are always folded, unless that is forbidden: its own keys are
  // where they belong, and an epoch that ended early would copy them.
  bool shares_table() const { return state_->merge_joined && !state_->outgrown; }

  // Each record as a part of its own.
  OperatorResult pass(Batch& in, Output& out) {
    const auto records = in.values<In>();
    const BatchRun run = next_run(in, out.batch(), out.soft_limit());
    RecordInHand in_hand(in);
    {
      auto collector = out.collector<KeyValue<K, Accumulator>>();
      for (std::size_t i = run.first; i < run.first + run.count; ++i) {
        in_hand.set(i);
        Accumulator accumulator{};
        aggregate_.add(accumulator, true, records[i]);
        collector(KeyValue<K, Accumulator>{key_for_output(keys_.take(0, records[i]), collector),
                                           std::move(accumulator)});
      }
    }
    in_hand.set(run.first + run.count);
    choice_.pass(run.count);
    return run.first + run.count == records.size() ? OperatorResult::done : OperatorResult::more;
  }

  OperatorResult emit(Output& out) {
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
    const OperatorResult answer = emit_table<K, Accumulator>(
        state_->table, cursor_, out,
        [&](const K& key) { return !paired_ || !state_->owns(key, context()); },
        [&](const Accumulator& accumulator) {
          ++parts_out_;
          return accumulator;
        });
    if (answer != OperatorResult::done) return answer;
    emitting_ = false;
    state_->handing_on = false;
    const std::uint64_t parts = std::exchange(parts_out_, 0);
    if (paired_) choice_.hand_on_shared(parts);
    if (!paired_) {
      choice_.end_epoch(parts);
      state_->table.clear();
    } else if (!ending_) {
      state_->table.set_dense(false);
      state_->keep_owned(context());
      // Its own keys stay: only what comes on top of them can be handed on.
      limit_bytes_ =
          std::max(limit_bytes_, std::min(2 * state_->table.memory_bytes(), most_paired_bytes_));
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
  FoldingChoice choice_{options_.folding};
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
