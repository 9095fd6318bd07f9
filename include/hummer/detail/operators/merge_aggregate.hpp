// MergeAggregateOperator: merges the partial state of all upstream subtasks and
// emits KeyValue<K, Result>; the owner of its keys' state.
//
// Emits once per key at the end, or (`emit_epochs`) the keys that changed, every
// `epoch_ms` and as soon as input pauses while the table is small.
// State: accumulator by key (spilling_accumulators.hpp). Where the partial half runs
// in the same slot both use one table, while it is small: see co_located_state.hpp. What goes
// beyond this one's share of memory is on disk: see spilled_accumulators.hpp.
#pragma once

#include <memory>
#include <utility>

#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/detail/operators/emit_keyed.hpp>
#include <hummer/detail/operators/partial_aggregate.hpp>
#include <hummer/detail/operators/record_keys.hpp>
#include <hummer/detail/operators/spilling_accumulators.hpp>
#include <hummer/detail/operators/view_check.hpp>
#include <hummer/detail/state/table_state.hpp>

namespace hummer {

template <typename K, typename Aggregate>
class MergeAggregateOperator : public Operator {
  using Accumulator = typename Aggregate::Accumulator;
  using Result = typename Aggregate::Result;
  using State = CoLocatedState<K, Accumulator>;
  using Own = SpillingAccumulators<K, Aggregate>;

 public:
  MergeAggregateOperator(Aggregate aggregate, bool emit_epochs, std::string pair_name = {},
                         std::int64_t epoch_ms = 100)
      : aggregate_(std::move(aggregate)),
        emit_epochs_(emit_epochs),
        pair_name_(std::move(pair_name)),
        epoch_ms_(epoch_ms) {}

  void declare(Output& out) const override { out.add_port(type_of<KeyValue<K, Result>>()); }

  Status open() override {
    own_.open(context(), !emit_epochs_);
    if (pair_name_.empty() || !own_.table().empty()) return {};
    auto state = State::find(context(), pair_name_);
    if (state->partial_alone) return {};
    state->merge_joined = true;
    state->key_groups = static_cast<std::uint32_t>(context().key_groups());
    pair_ = std::move(state);
    return {};
  }

  OperatorResult process(Batch& in, Output&) override {
    const auto records = in.values<KeyValue<K, Accumulator>>();
    const std::size_t first = in.position();
    RecordInHand in_hand(in);
    return update(
        records.size() - first, in_hand,
        [&](std::size_t i) -> const K& { return records[first + i].key; },
        [&](Accumulator& accumulator, bool is_new, std::size_t i) {
          constexpr bool safe =
              noexcept(aggregate_.merge(accumulator, is_new, records[first + i].value));
          in_hand.set_unless<safe>(first + i);
          aggregate_.merge(accumulator, is_new, records[first + i].value);
        });
  }

  OperatorResult idle(Output& out) override {
    return emit_epochs_ && !changed_.empty() ? emit_changed(out) : OperatorResult::done;
  }
  OperatorResult timer(std::int64_t, Output& out) override {
    timer_set_ = false;
    return emit_changed(out);
  }
  OperatorResult end(Output& out) override {
    if (emit_epochs_) {
      const OperatorResult answer = emit_changed(out);
      if (answer == OperatorResult::done) own_.retire();  // nobody asks for it any more
      return answer;
    }
    if (pair_ && pair_->outgrown) pair_.reset();
    if (pair_) {
      HUMMER_ASSERT(!pair_->handing_on);  // the partial half's end came first
      fold_own();
    } else if (own_.spilled()) {
      return emit_spilled(out);
    }
    const HashRange own = pair_ ? pair_->owned_hashes(context()) : HashRange{};
    const OperatorResult answer = emit_table<K, Result>(
        pair_ ? pair_->table : own_.table(), cursor_, out,
        [&](const K& key) { return !pair_ || own.has(key_hash(key)); },
        [&](const Accumulator& accumulator) { return aggregate_.result(accumulator); });
    // A snapshot from here on emits nothing twice.
    if (!pair_ && answer == OperatorResult::done) own_.retire();
    return answer;
  }
  OperatorResult flush(Output& out) override {
    return emit_epochs_ ? emit_changed(out) : OperatorResult::done;
  }

  std::vector<StateDescription> states() override { return {table_state<K, Accumulator>()}; }
  Status snapshot(ByteWriter& out) override {
    HUMMER_ASSERT(!pair_);
    return own_.snapshot(out);
  }
  OperatorResult snapshot_rest(ByteWriter& out) override { return own_.snapshot_rest(out); }
  Status restore(ByteReader& in) override {
    own_.open(context(), !emit_epochs_);
    return own_.restore(in);
  }

 protected:
  const Aggregate& aggregate() const { return aggregate_; }

  // Updates the accumulators of the next `count` records of a batch: key_of(i), and
  // add(accumulator, is_new, i).
  template <typename KeyOf, typename Add>
  OperatorResult update(std::size_t count, RecordInHand& in_hand, KeyOf&& key_of, Add&& add) {
    if (own_.limited()) leave_pair();
    const bool joins = pair_ && (!pair_->handing_on || pair_->table.has_room_for(count));
    if (joins && !pair_->handing_on) fold_own();
    AccumulatorTable<K, Accumulator>& table = joins ? pair_->table : own_.table();
    if (own_.must_fetch()) {
      if (Status status = own_.fetch(count, key_of); !status.ok()) {
        return context().fail(std::move(status));
      }
    }
    table.update(count, key_of, add);
    if (emit_epochs_) {
      changed_.update(count, key_of, [](std::uint64_t&, bool, std::size_t) {});
      if (!timer_set_) {
        timer_set_ = true;
        context().call_at(context().now() + epoch_ms_ * 1'000'000);
      }
    }
    in_hand.set_end();
    if (own_.limited()) {
      // That of the partial half counts the common one until it has ended.
      const bool counts = pair_ && pair_->partial_ended;
      return answer(own_.keep_within_share(changed_.memory_bytes() +
                                           (counts ? pair_->table.memory_bytes() : 0)));
    }
    return OperatorResult::done;
  }

 private:
  OperatorResult answer(Status status) {
    return status.ok() ? OperatorResult::done : context().fail(std::move(status));
  }

  // At the end: what is on disk and in memory, merged.
  OperatorResult emit_spilled(Output& out) {
    if (scan_ == nullptr) scan_ = own_.scan_all();
    const hummer::Result<bool> prepared = scan_->prepare();
    if (!prepared.ok()) return context().fail(prepared.status());
    if (!*prepared) return OperatorResult::more;
    AccumulatorScan<K, Accumulator> entries(*scan_);
    auto collector = out.collector<KeyValue<K, Result>>();
    while (!collector.full()) {
      const hummer::Result<bool> found = entries.next();
      if (!found.ok()) return context().fail(found.status());
      if (!*found) {
        scan_.reset();
        own_.retire();
        return OperatorResult::done;
      }
      collector(KeyValue<K, Result>{key_for_output(entries.key, collector),
                                    aggregate_.result(entries.value)});
    }
    return OperatorResult::more;
  }
  // The keys that changed since the last time, with their totals.
  OperatorResult emit_changed(Output& out) {
    auto collector = out.collector<KeyValue<K, Result>>();
    if (collector.full()) return OperatorResult::more;
    Status fetched;
    cursor_ = changed_.scan(cursor_, [&](const K& key, std::uint64_t) {
      if (own_.must_fetch()) {
        fetched = own_.fetch(1, [&](std::size_t) -> const K& { return key; });
        if (!fetched.ok()) return false;
      }
      collector(KeyValue<K, Result>{key_for_output(key, collector),
                                    aggregate_.result(*own_.table().find_or_add(key).first)});
      return !collector.full();
    });
    if (!fetched.ok()) return context().fail(std::move(fetched));
    if (cursor_ != changed_.scan_end) return OperatorResult::more;
    cursor_ = 0;
    changed_.clear();
    return own_.limited() ? answer(own_.keep_within_share(0)) : OperatorResult::done;
  }

  // With a limit to memory: goes on with a table of its own where the common one has outgrown its
  // room. Where the partial half has ended, which looked at that, it keeps the common one: as it is
  // while there is room for it, since to leave keys out of it takes as much memory again.
  void leave_pair() {
    if (!pair_) return;
    const bool large = pair_->partial_ended && !own_.has_room_for(4 * pair_->table.memory_bytes());
    if (!pair_->outgrown && !large) return;
    if (!pair_->outgrown) {
      fold_own();
      pair_->keep_owned(context());
      own_.table() = std::move(pair_->table);
    }
    pair_.reset();
  }
  // What arrived while the partial half was handing on.
  void fold_own() {
    if (own_.table().empty()) return;
    own_.table().scan(0, [&](const K& key, const Accumulator& other) {
      const auto [accumulator, is_new] = pair_->table.find_or_add(key);
      aggregate_.merge(*accumulator, is_new, other);
      return true;
    });
    own_.table() = {};
  }

  Aggregate aggregate_;
  const bool emit_epochs_;
  const std::string pair_name_;
  const std::int64_t epoch_ms_;
  std::shared_ptr<State> pair_;  // null: alone
  Own own_{aggregate_};
  std::unique_ptr<SpilledScan> scan_;  // of the emission in hand
  // A set of keys. Its values are of the type that counts have, whose table is compiled anyway; an
  // entry needs as much memory with a byte.
  KeyTable<K, std::uint64_t> changed_;
  std::size_t cursor_ = 0;
  bool timer_set_ = false;
};

// Of a partial operator with a bypass: input 0 has parts, input 1 records.
template <typename In, typename K, typename KeyOf, typename Aggregate>
class MergeAggregateOperatorWithBypass final : public MergeAggregateOperator<K, Aggregate> {
  using Accumulator = typename Aggregate::Accumulator;

 public:
  MergeAggregateOperatorWithBypass(KeyOf key_of, Aggregate aggregate, bool emit_epochs,
                                   std::string pair_name = {})
      : MergeAggregateOperator<K, Aggregate>(std::move(aggregate), emit_epochs,
                                             std::move(pair_name)),
        keys_(std::move(key_of)) {}

  OperatorResult process_input(int input, Batch& in, Output& out) override {
    return input == 0 ? this->process(in, out) : add(in);
  }

 private:
  OperatorResult add(Batch& in) {
    const auto records = in.values<In>();
    const std::size_t first = in.position();
    const Aggregate& aggregate = this->aggregate();
    RecordInHand in_hand(in);
    return this->update(
        records.size() - first, in_hand,
        [&](std::size_t i) -> K {
          in_hand.set_unless<std::is_same_v<KeyOf, Identity>>(first + i);
          return keys_.take(i, records[first + i]);
        },
        [&](Accumulator& accumulator, bool is_new, std::size_t i) {
          constexpr bool safe = noexcept(aggregate.add(accumulator, is_new, records[first + i]));
          in_hand.set_unless<safe>(first + i);
          aggregate.add(accumulator, is_new, records[first + i]);
        });
  }

  RecordKeys<In, K, KeyOf> keys_;
};

// The running total after every record, with its time; behind a hash exchange. Totals of one key
// come in order; those of different keys may change places within a batch, as the table takes
// them.
template <typename In, typename K, typename KeyOf, typename Aggregate>
class RunningAggregateOperator final : public Operator {
  using Accumulator = typename Aggregate::Accumulator;
  using Result = typename Aggregate::Result;

 public:
  RunningAggregateOperator(KeyOf key_of, Aggregate aggregate)
      : keys_(std::move(key_of)), aggregate_(std::move(aggregate)) {}

  void declare(Output& out) const override { out.add_port(type_of<KeyValue<K, Result>>()); }

  Status open() override {
    state_.open(context(), false);
    return {};
  }
  OperatorResult process(Batch& in, Output& out) override {
    const auto records = in.values<In>();
    Batch& target = out.batch();
    const BatchRun run = next_run(in, target, out.soft_limit());
    {
      RecordInHand in_hand(in);
      const bool timed = in.has_timestamps();
      if (timed) pad_timestamps(target, run.used);
      auto collector = out.collector<KeyValue<K, Result>>();
      const auto key_at = [&](std::size_t i) -> K {
        in_hand.set(run.first + i);
        return keys_.take(i, records[run.first + i]);
      };
      if (state_.must_fetch()) {
        if (Status status = state_.fetch(run.count, key_at); !status.ok()) {
          return context().fail(std::move(status));
        }
      }
      state_.table().update(
          run.count, key_at, [&](Accumulator& accumulator, bool is_new, std::size_t i) {
            in_hand.set(run.first + i);
            K key = keys_.taken(i, records[run.first + i]);
            aggregate_.add(accumulator, is_new, records[run.first + i]);
            if constexpr (!keys_in_buffers) key = key_for_output(key, collector);
            collector(KeyValue<K, Result>{std::move(key), aggregate_.result(accumulator)});
            if (timed) target.timestamps().push_back(in.timestamps()[run.first + i]);
          });
      in_hand.set(run.first + run.count);
    }
    if (!in.has_timestamps() && target.has_timestamps()) pad_timestamps(target, target.size());
    const Status views = check_new_views<KeyValue<K, Result>>(context(), in, target, run.used);
    if (!views.ok()) return context().fail(views);
    if (state_.limited()) {
      if (Status status = state_.keep_within_share(0); !status.ok()) {
        return context().fail(std::move(status));
      }
    }
    return in.finished() ? OperatorResult::done : OperatorResult::more;
  }
  // The snapshot behind the end is written in one go, so it should be small.
  OperatorResult end(Output&) override {
    state_.retire();
    return OperatorResult::done;
  }

  std::vector<StateDescription> states() override { return {table_state<K, Accumulator>()}; }
  Status snapshot(ByteWriter& out) override { return state_.snapshot(out); }
  OperatorResult snapshot_rest(ByteWriter& out) override { return state_.snapshot_rest(out); }
  Status restore(ByteReader& in) override {
    state_.open(context(), false);
    return state_.restore(in);
  }

 private:
  // A view of the record's own text would be gone with the input.
  static constexpr bool keys_in_buffers = RecordKeys<In, K, KeyOf>::in_buffers;

  RecordKeys<In, K, KeyOf> keys_;
  Aggregate aggregate_;
  SpillingAccumulators<K, Aggregate> state_{aggregate_};
};

}  // namespace hummer
