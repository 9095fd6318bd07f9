// PartialWindowOperator: folds records into partial results by key and slice ahead
// of the exchange (DESIGN: the epoch); SliceWindowOperator merges them behind it.
//
// The parts of a slice go out when the watermark has passed its end, before the
// watermark does, so that the owners have them when their windows fire; all go out
// before the tables would outgrow `limit_bytes`, at flush and at the end. It keeps
// nothing beyond an epoch's end, so it has nothing to save. Parts of slices that the watermark has
// passed before (records within the allowed lateness) wait for no other one: they go out as soon as
// nothing more is at hand.
//
// Where keys hardly repeat within a slice, folding first is only in the way: then records pass
// (FoldingChoice). Where one with its time is no larger than a part, whole batches go on as they
// are by port 1, the bypass (passes_records); others become a part each.
#pragma once

#include <map>
#include <utility>

#include <hummer/detail/operators/emit_keyed.hpp>
#include <hummer/detail/operators/folding_choice.hpp>
#include <hummer/detail/operators/slice_runs.hpp>
#include <hummer/detail/operators/window_input.hpp>
#include <hummer/detail/state/slice_tables.hpp>

namespace hummer {

template <typename In, typename K, typename KeyOf, typename Aggregate>
class PartialWindowOperator final : public Operator {
  using Accumulator = typename Aggregate::Accumulator;
  using Table = AccumulatorTable<K, Accumulator>;
  using Part = SlicePartial<K, Accumulator>;

 public:
  // Whether those that may pass are small enough to pass as they are, with their times.
  static constexpr bool passes_records = passes_as_it_is<In, Part, sizeof(Timestamp)>;

  PartialWindowOperator(KeyOf key_of, WindowGrid grid, Aggregate aggregate, std::size_t limit_bytes,
                        Folding folding = Folding::automatic, bool bypass = true)
      : input_{std::move(key_of)},
        grid_(grid),
        aggregate_(std::move(aggregate)),
        limit_bytes_(limit_bytes),
        has_bypass_(passes_records && bypass),
        choice_(folding) {}

  void declare(Output& out) const override {
    out.add_port(type_of<Part>());
    if (has_bypass_) out.add_port(type_of<In>());
  }
  Status open() override {
    // Restored, it does not know how far the owners are: until the next watermark nothing waits.
    watermark_ = context().restored() ? end_of_time : no_timestamp;
    choice_.open(!context().leaves_memory(), false);
    return grid_.check();
  }

  OperatorResult process(Batch& in, Output& out) override {
    if (emitting_) {
      if (const OperatorResult answer = emit(emit_until_, out); answer != OperatorResult::done)
        return answer;
    }
    if (in.finished()) return OperatorResult::done;
    const std::span<const Timestamp> times = input_.times(in);
    if (times.size() != in.size()) {
      return context().fail({ErrorCode::invalid_argument, no_event_time});
    }
    if (!choice_.folds()) {
      if constexpr (passes_records) {
        if (has_bypass_ && in.position() == 0) return pass_batch(in, out);
      }
      return pass_parts(in, times, out);
    }
    const std::size_t first = in.position();
    runs_.group(grid_, times.subspan(first));
    const auto records = in.values<In>().subspan(first);
    {
      RecordInHand in_hand(in);
      const auto note = [&](std::size_t i) { in_hand.set(first + i); };
      for (const SliceRuns::Run& run : runs_.runs()) {
        if (grid_.last_end(run.slice) <= run.slice) continue;  // between two windows
        auto& table = static_cast<Table&>(slices_.at(run.slice, run.count));
        folded_[run.slice] += run.count;
        choice_.fold(run.count);
        if (runs_.in_order()) {
          input_.fold(table, aggregate_, records, [](std::size_t i) { return i; }, note);
        } else {
          const std::uint32_t* const indexes = runs_.indexes() + run.first;
          input_.fold_some(
              table, aggregate_, records, run.count, [&](std::size_t i) { return indexes[i]; },
              note);
        }
      }
      in_hand.set(in.size());
    }
    const bool ends = choice_.is_due() && choice_.ends_epoch(parts_held());
    return ends || at_limit() ? emit(end_of_time, out) : OperatorResult::done;
  }

  OperatorResult watermark(Timestamp time, Output& out) override {
    watermark_ = time;
    return emit(time, out);
  }
  OperatorResult idle(Output& out) override { return emit(watermark_, out); }
  OperatorResult flush(Output& out) override { return emit(end_of_time, out); }
  OperatorResult end(Output& out) override { return emit(end_of_time, out); }

 private:
  bool at_limit() const {
    std::size_t bytes = 0;
    for (const auto& [slice, table] : slices_.all()) {
      if (table->at_limit(limit_bytes_)) return true;
      bytes += table->empty() ? 0 : table->memory_bytes();
    }
    return slices_.all().size() > 1 && bytes > 2 * limit_bytes_;
  }

  std::uint64_t parts_held() const {
    std::uint64_t parts = 0;
    for (const auto& [slice, table] : slices_.all()) parts += table->size();
    return parts;
  }

  // The slices that end by `time`.
  OperatorResult emit(Timestamp time, Output& out) {
    emitting_ = true;
    emit_until_ = time;
    while (!slices_.empty() && time_after(slices_.all().begin()->first, grid_.slice_ms()) <= time) {
      if (out.full()) return OperatorResult::more;
      const auto& first = *slices_.all().begin();
      const Timestamp slice = first.first;
      const auto& table = static_cast<const Table&>(*first.second);
      auto collector = out.collector<Part>();
      cursor_ = table.scan(cursor_, [&](const K& key, const Accumulator& accumulator) {
        emit_one(key, slice, accumulator, collector);
        return !collector.full();
      });
      if (cursor_ != Table::scan_end) return OperatorResult::more;
      cursor_ = 0;
      records_out_ += std::exchange(folded_[slice], 0);
      folded_.erase(slice);
      parts_out_ += table.size();
      slices_.drop_first();
    }
    emitting_ = false;
    if (parts_out_ > 0) {
      choice_.hand_on(records_out_, parts_out_);
      records_out_ = parts_out_ = 0;
    }
    return OperatorResult::done;
  }

  template <typename AnyAccumulator>
  static void emit_one(const K& key, Timestamp slice, AnyAccumulator&& accumulator,
                       Collector<Part>& out) {
    out(Part{key_for_output(key, out), slice, std::forward<AnyAccumulator>(accumulator)});
  }

  OperatorResult pass_batch(Batch& in, Output& out) {
    const std::size_t records = in.size();
    const OperatorResult answer = hand_on(in, out.batch(1), context());
    if (answer == OperatorResult::done) choice_.pass(records);
    return answer;
  }

  OperatorResult pass_parts(Batch& in, std::span<const Timestamp> times, Output& out) {
    const auto records = in.values<In>();
    RecordInHand in_hand(in);
    std::size_t i = in.position();
    // Where a slice begins takes a division, and the next record is mostly of the same one.
    const std::int64_t slice_ms = grid_.slice_ms();
    Timestamp slice = no_timestamp, slice_end = no_timestamp;
    bool in_window = false;
    {
      auto collector = out.collector<Part>();
      for (; i < records.size() && !collector.full(); ++i) {
        in_hand.set(i);
        if (times[i] < slice || times[i] >= slice_end || slice == no_timestamp) {
          slice = grid_.slice_of(times[i]);
          slice_end = time_after(slice, slice_ms);
          in_window = grid_.last_end(slice) > slice;
        }
        if (!in_window) continue;  // between two windows
        Accumulator accumulator{};
        aggregate_.add(accumulator, true, records[i]);
        emit_one(input_.key(0, records[i]), slice, std::move(accumulator), collector);
      }
    }
    choice_.pass(i - in.position());
    in_hand.set(i);
    return i == records.size() ? OperatorResult::done : OperatorResult::more;
  }

  RecordInput<In, K, KeyOf> input_;
  const WindowGrid grid_;
  const Aggregate aggregate_;
  const std::size_t limit_bytes_;
  const bool has_bypass_;
  SliceRuns runs_;
  const ErasedAggregateOf<K, Aggregate> erased_{aggregate_};
  SliceTables slices_{erased_};
  Timestamp watermark_ = no_timestamp;
  bool emitting_ = false;
  Timestamp emit_until_ = no_timestamp;
  std::size_t cursor_ = 0;
  FoldingChoice choice_;
  std::map<Timestamp, std::uint64_t> folded_;  // records by slice
  // Of the emission in hand.
  std::uint64_t records_out_ = 0;
  std::uint64_t parts_out_ = 0;
};

}  // namespace hummer
