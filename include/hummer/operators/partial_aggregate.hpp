// PartialAggregateOperator: folds records into partial state ahead of the
// exchange, so that one record per key and epoch crosses it instead of one per
// input record (Slash, section 5; the first, bounded form of the epoch).
//
// An epoch ends, and the partial state goes out as KeyValue<K, Accumulator>:
//   - before the table would outgrow `limit_bytes`,
//   - at flush (a barrier) and at the end,
//   - where the stream does not end: `epoch_ms` after its first record, or as soon
//     as input pauses while the table is small.
// It keeps nothing beyond an epoch's end, so it has nothing to save.
#pragma once

#include <functional>
#include <utility>

#include <hummer/identity.hpp>
#include <hummer/operators/emit_keyed.hpp>
#include <hummer/state/accumulator_table.hpp>

namespace hummer {

struct PartialAggregateOptions {
  std::size_t limit_bytes = 16 << 20;
  std::int64_t epoch_ms = 100;
  bool hold_until_end = true;  // no epochs by time or pause
};

template <typename In, typename K, typename KeyOf, typename Aggregate>
class PartialAggregateOperator final : public Operator {
  using Accumulator = typename Aggregate::Accumulator;

 public:
  PartialAggregateOperator(KeyOf key_of, Aggregate aggregate, PartialAggregateOptions options)
      : key_of_(std::move(key_of)), aggregate_(std::move(aggregate)), options_(options) {}

  void declare(Output& out) const override { out.add_port(type_of<KeyValue<K, Accumulator>>()); }

  Answer process(Batch& in, Output& out) override {
    if (emitting_) {
      if (const Answer answer = emit(out); answer != Answer::done) return answer;
    }
    const auto records = in.values<In>();
    const std::size_t first = in.position();
    const auto add = [&](Accumulator& accumulator, bool is_new, std::size_t i) {
      aggregate_.add(accumulator, is_new, records[first + i]);
    };
    if constexpr (std::is_same_v<In, std::string_view> && std::is_same_v<K, In> &&
                  std::is_same_v<KeyOf, Identity>) {
      table_.update_views(records.subspan(first), add);  // the keys are the column as it lies
    } else {
      table_.update(
          records.size() - first,
          [&](std::size_t i) -> K { return K(std::invoke(key_of_, records[first + i])); }, add);
    }
    in.advance_to(records.size());
    if (!options_.hold_until_end && !timer_set_) {
      timer_set_ = true;
      context().call_at(context().now() + options_.epoch_ms * 1'000'000);
    }
    // The batch is taken: what is emitted now belongs to it, and the next call starts empty.
    if (table_.at_limit(options_.limit_bytes)) return emit(out);
    return Answer::done;
  }

  Answer idle(Output& out) override {
    if (options_.hold_until_end || table_.empty() || table_.memory_bytes() > small_bytes) {
      return Answer::done;
    }
    return emit(out);
  }
  Answer timer(std::int64_t, Output& out) override {
    timer_set_ = false;
    return emit(out);
  }
  Answer watermark(Timestamp, Output& out) override {
    return emitting_ ? emit(out) : Answer::done;
  }
  Answer flush(Output& out) override { return emit(out); }
  Answer end(Output& out) override { return emit(out); }

 private:
  static constexpr std::size_t small_bytes = 256 << 10;

  Answer emit(Output& out) {
    emitting_ = true;
    const Answer answer = emit_table<K, Accumulator>(table_, cursor_, out,
                                                     [](const Accumulator& a) { return a; });
    if (answer != Answer::done) return answer;
    emitting_ = false;
    table_.clear();
    return Answer::done;
  }

  KeyOf key_of_;
  Aggregate aggregate_;
  PartialAggregateOptions options_;
  AccumulatorTable<K, Accumulator> table_;
  std::size_t cursor_ = 0;
  bool emitting_ = false;
  bool timer_set_ = false;
};

}  // namespace hummer
