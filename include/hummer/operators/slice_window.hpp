// SliceWindowOperator: tumbling and sliding windows per key, from slices.
//
// A record (or a partial result from PartialWindowOperator) updates the one slice
// that its time falls into; when the watermark reaches the end of a window, its
// slices' merge goes out, key by key (state/sliding_merge.hpp). So sliding windows
// cost a record what tumbling ones do. Windows without records give nothing.
//
// Records behind the watermark still count in those of their windows that are not
// complete. With `lateness_ms`, a window stays open so much longer: records that
// come to it change its result, which goes out again behind their batch, for the keys
// that changed. Later ones are dropped and counted; LateRecordsOperator has taken most of
// them out before.
//
// In processing time windows end by the clock: those that it has passed go out
// by a timer. At the end of the stream all go out.
//
// Input: RecordInput or PartialInput (window_input.hpp) takes records apart.
// State: watermark and, in steps, slices with their tables; restored by the keys it owns. The
// watermarks of earlier subtasks may differ (an unaligned checkpoint does not wait for the
// slowest): windows begin again at the lowest, and slices of a subtask that was ahead join when its
// watermark is reached, so that no window of its keys goes out twice.
#pragma once

#include <map>
#include <utility>

#include <hummer/operators/call_at_wall_time.hpp>
#include <hummer/operators/slice_runs.hpp>
#include <hummer/operators/view_check.hpp>
#include <hummer/operators/window_input.hpp>
#include <hummer/operators/window_results.hpp>
#include <hummer/state/sliding_merge.hpp>
#include <hummer/state/table_state.hpp>

namespace hummer {

template <typename Input, typename K, typename Aggregate, typename Finish>
class SliceWindowOperator final : public Operator {
  using Accumulator = typename Aggregate::Accumulator;
  using Table = AccumulatorTable<K, Accumulator>;
  using Slices = SliceTables<K, Accumulator>;
  using Out = typename Finish::Output;

 public:
  SliceWindowOperator(Input input, WindowGrid grid, std::int64_t lateness_ms, Aggregate aggregate,
                      Finish finish)
      : input_(std::move(input)),
        grid_(grid),
        lateness_ms_(lateness_ms),
        aggregate_(std::move(aggregate)),
        finish_(std::move(finish)) {}

  void declare(Output& out) const override { out.add_port(type_of<Out>()); }
  Status open() override {
    memory_.open(context().memory(), false);
    take_restored();
    const Status status = grid_.check();
    if (status.ok() && processing_time()) arm();
    return status;
  }

  Answer process(Batch& in, Output& out) override {
    if (refining_) {
      if (const Answer answer = refine(out); answer != Answer::done) return answer;
    }
    if (in.finished()) return Answer::done;
    const std::size_t first = in.position();
    if (processing_time()) {
      times_.assign(in.size() - first, context().wall_time_ms());
      runs_.group(grid_, times_);
    } else {
      const std::span<const Timestamp> times = input_.times(in);
      if (times.size() != in.size()) {
        return context().fail({ErrorCode::invalid_argument, no_event_time});
      }
      runs_.group(grid_, times.subspan(first));
    }
    {
      RecordInHand in_hand(in);
      for (const SliceRuns::Run& run : runs_.runs()) add_run(in, run, in_hand);
      in_hand.set(in.size());
    }
    if (memory_.limited()) {
      if (Status status = memory_.set(slices_.memory_bytes()); !status.ok()) {
        return context().fail(std::move(status));
      }
    }
    if (processing_time()) arm();
    if (dirty_.empty()) return Answer::done;
    refining_ = true;
    return refine(out);
  }

  Answer watermark(Timestamp time, Output& out) override {
    return processing_time() ? Answer::done : advance(time, out);
  }
  Answer timer(std::int64_t, Output& out) override {
    if (!processing_time()) return Answer::done;
    const Answer answer = advance(context().wall_time_ms(), out);
    if (answer == Answer::done) arm();
    return answer;
  }
  Answer end(Output& out) override { return advance(end_of_time, out); }

  std::vector<StateDescription> states() override {
    return {table_state<K, Accumulator>("windows")};
  }
  Status snapshot(ByteWriter& out) override {
    std::string bytes;
    ByteWriter slices(bytes);
    const bool delta = slices_.freeze(context().may_write_delta(), slices);
    if (delta) context().wrote_delta();
    out.put_value(snapshot_version);
    out.put_value(static_cast<std::uint8_t>(delta));
    out.put_value(watermark_);
    std::uint32_t ahead = 0;
    for (const auto& [time, all] : ahead_) ahead += static_cast<std::uint32_t>(all.size());
    out.put_value(ahead);
    for (auto& [time, all] : ahead_) {
      for (Slices& each : all) {
        out.put_value(time);
        each.write_whole(out);
      }
    }
    out.put(slices.view().data(), slices.size());
    return {};
  }
  Answer snapshot_rest(ByteWriter& out) override {
    return slices_.write_frozen(out, context().snapshot_step_bytes()) ? Answer::done : Answer::more;
  }
  Status restore(ByteReader& in) override {
    std::uint8_t version = 0;
    std::uint8_t delta = 0;
    Timestamp time = 0;
    std::uint32_t ahead = 0;
    bool valid = in.get_value(version) && version == snapshot_version && in.get_value(delta) &&
                 in.get_value(time) && in.get_value(ahead) && (delta == 0 || !restored_.empty());
    if (valid && delta == 0) restored_.emplace_back();
    if (valid) {
      Restored& subtask = restored_.back();
      subtask.watermark = time;
      subtask.ahead.clear();
      for (; valid && ahead > 0; --ahead) {
        Timestamp of_slices = 0;
        Slices slices;
        valid = in.get_value(of_slices) && restore_into(slices, false, in);
        if (valid) subtask.ahead.emplace_back(of_slices, std::move(slices));
      }
      valid = valid && restore_into(subtask.slices, delta != 0, in);
    }
    if (!valid) return {ErrorCode::corrupt_record, "the state of a window cannot be decoded"};
    return {};
  }

 private:
  static constexpr std::uint8_t snapshot_version = 3;

  bool processing_time() const { return grid_.domain == TimeDomain::processing; }

  // What a subtask of the earlier run had.
  struct Restored {
    Timestamp watermark = no_timestamp;
    Slices slices;
    std::vector<std::pair<Timestamp, Slices>> ahead;
  };
  bool restore_into(Slices& slices, bool delta, ByteReader& in) {
    return slices.restore(
        in, delta, [&](const K& key) { return context().owns_key(key); }, aggregate_);
  }
  void take_restored() {
    if (restored_.empty()) return;
    watermark_ = end_of_time;
    for (const Restored& subtask : restored_) watermark_ = std::min(watermark_, subtask.watermark);
    for (Restored& subtask : restored_) {
      place(subtask.watermark, std::move(subtask.slices));
      for (auto& [time, slices] : subtask.ahead) place(time, std::move(slices));
    }
    restored_.clear();
  }
  // Slices of a subtask whose watermark was at `time`.
  void place(Timestamp time, Slices slices) {
    slices.settle(aggregate_);
    if (slices.empty()) return;
    if (time > watermark_ && !processing_time()) {
      ahead_[time].push_back(std::move(slices));
    } else {
      join(slices);
    }
  }
  void join(const Slices& slices) {
    for (const auto& [slice, table] : slices.all()) {
      merge_tables(slices_.at(slice, table->size(), aggregate_), *table, aggregate_);
    }
    sliding_.forget();
  }

  // Windows up to here have gone out.
  Timestamp fired_until() const { return std::max(fired_until_, watermark_); }

  void add_run(Batch& in, const SliceRuns::Run& run, RecordInHand& in_hand) {
    const Timestamp last_end = grid_.last_end(run.slice);
    if (last_end <= run.slice) return;  // between two windows
    if (time_after(last_end, lateness_ms_) <= watermark_) {
      context().count_late(run.count);
      return;
    }
    const auto add = [&](Table& table) { fold(table, in, run, in_hand); };
    add(slices_.at(run.slice, run.count, aggregate_));
    const bool some_have_fired =
        time_after(grid_.first_start(run.slice), grid_.size_ms) <= fired_until();
    if (!some_have_fired) return;
    if (!grid_.is_tumbling()) sliding_.late(slices_, run.slice, add);
    if (lateness_ms_ > 0) mark(in, run);
  }

  void fold(Table& table, Batch& in, const SliceRuns::Run& run, RecordInHand& in_hand) {
    const auto records = in.values<typename Input::Record>().subspan(in.position());
    const std::size_t first = in.position();
    if (runs_.in_order()) {
      input_.fold(
          table, aggregate_, records, [](std::size_t i) { return i; },
          [&](std::size_t i) { in_hand.set(first + i); });
    } else {
      const std::uint32_t* const indexes = runs_.indexes() + run.first;
      input_.fold_some(
          table, aggregate_, records, run.count, [&](std::size_t i) { return indexes[i]; },
          [&](std::size_t i) { in_hand.set(first + i); });
    }
  }

  // The keys of the run have new results in the windows that have gone out and are still open.
  void mark(Batch& in, const SliceRuns::Run& run) {
    const auto records = in.values<typename Input::Record>().subspan(in.position());
    for (Timestamp start = grid_.first_start(run.slice); start <= grid_.last_start(run.slice);
         start = time_after(start, grid_.slide_ms)) {
      const Timestamp end = time_after(start, grid_.size_ms);
      if (end > fired_until()) break;
      if (time_after(end, lateness_ms_) <= watermark_) continue;
      dirty_[start].update(
          run.count,
          [&](std::size_t i) {
            const std::size_t at = runs_.in_order() ? i : runs_.indexes()[run.first + i];
            return input_.key(records[at]);
          },
          [](bool&, bool, std::size_t) {});
    }
  }

  Answer advance(Timestamp time, Output& out) {
    while (!ahead_.empty() && ahead_.begin()->first <= time) {
      const Answer answer = advance_to(ahead_.begin()->first, out);
      if (answer != Answer::done) return answer;
      for (const auto& slices : ahead_.begin()->second) join(slices);
      ahead_.erase(ahead_.begin());
    }
    return advance_to(time, out);
  }
  Answer advance_to(Timestamp time, Output& out) {
    if (refining_) {
      if (const Answer answer = refine(out); answer != Answer::done) return answer;
    }
    for (;;) {
      if (result_ == nullptr && !next_window(time)) break;
      if (const Answer answer = emit(out); answer != Answer::done) return answer;
      result_ = nullptr;
      fired_until_ = window_.end_ms;
      drop_done();
    }
    watermark_ = std::max(watermark_, time);
    drop_done();
    return Answer::done;
  }

  // The first window that is complete at `time` and holds a slice, and its table.
  bool next_window(Timestamp time) {
    const auto slice = first_waiting();
    if (slice == slices_.all().end()) return false;
    const Timestamp start = first_window(slice->first);
    const Timestamp end = time_after(start, grid_.size_ms);
    if (end > time) return false;
    window_ = {start, end};
    result_ = grid_.is_tumbling()
                  ? slice->second.get()
                  : &sliding_.window(slices_, start, end, time_after(start, grid_.slide_ms));
    return true;
  }
  typename Slices::Slices::const_iterator first_waiting() const {
    const Timestamp fired = fired_until();
    auto slice = slices_.from(time_before(fired, grid_.size_ms));
    while (slice != slices_.all().end() && grid_.last_end(slice->first) <= fired) ++slice;
    return slice;
  }
  // Of those that have not gone out, and hold the slice.
  Timestamp first_window(Timestamp slice) const {
    const Timestamp start = grid_.first_start(slice);
    const Timestamp after = time_before(fired_until(), grid_.size_ms);
    if (after == no_timestamp || start > after) return start;
    return time_after(grid_.floor(after, grid_.slide_ms), grid_.slide_ms);
  }

  Answer emit(Output& out) {
    if (out.full()) return Answer::more;
    Batch& batch = out.batch();
    const std::size_t used = batch.size();
    {
      auto collector = out.collector<Out>();
      cursor_ = result_->scan(cursor_, [&](const K& key, const Accumulator& accumulator) {
        finish_(key, window_, accumulator, collector);
        return !collector.full();
      });
    }
    stamp(batch, used, batch.size(), time_before(window_.end_ms, 1));
    if (const Status views = check_new_views<Out>(Batch(), batch, used); !views.ok()) {
      return context().fail(views);
    }
    if (cursor_ != Table::scan_end) return Answer::more;
    cursor_ = 0;
    return Answer::done;
  }

  // New results of the keys that late records have changed.
  Answer refine(Output& out) {
    while (!dirty_.empty()) {
      if (out.full()) return Answer::more;
      const auto& [start, keys] = *dirty_.begin();
      const TimeWindow window{start, time_after(start, grid_.size_ms)};
      Batch& batch = out.batch();
      const std::size_t used = batch.size();
      {
        auto collector = out.collector<Out>();
        refine_cursor_ = keys.scan(refine_cursor_, [&](const K& key, bool) {
          finish_(key, window, total_of(key, window), collector);
          return !collector.full();
        });
      }
      stamp(batch, used, batch.size(), time_before(window.end_ms, 1));
      if (const Status views = check_new_views<Out>(Batch(), batch, used); !views.ok()) {
        return context().fail(views);
      }
      if (refine_cursor_ != keys.scan_end) return Answer::more;
      refine_cursor_ = 0;
      dirty_.erase(dirty_.begin());
    }
    refining_ = false;
    return Answer::done;
  }
  Accumulator total_of(const K& key, const TimeWindow& window) const {
    Accumulator total{};
    bool is_new = true;
    for (auto slice = slices_.from(window.start_ms);
         slice != slices_.all().end() && slice->first < window.end_ms; ++slice) {
      if (const Accumulator* const part = slice->second->find(key)) {
        aggregate_.merge(total, is_new, *part);
        is_new = false;
      }
    }
    return total;
  }

  void drop_done() {
    const Timestamp done = fired_until();
    while (!slices_.empty() &&
           time_after(grid_.last_end(slices_.all().begin()->first), lateness_ms_) <= done) {
      slices_.drop_first();
    }
  }

  // Processing time: asks to be called when the next window ends.
  void arm() {
    const auto slice = first_waiting();
    if (slice == slices_.all().end()) return;
    call_at_wall_time(context(), time_after(first_window(slice->first), grid_.size_ms));
  }

  Input input_;
  const WindowGrid grid_;
  const std::int64_t lateness_ms_;
  const Aggregate aggregate_;
  Finish finish_;
  SliceRuns runs_;
  Slices slices_;
  MemoryUse memory_;
  SlidingMerge<K, Accumulator, Aggregate> sliding_{aggregate_};
  std::vector<Timestamp> times_;  // of processing time
  Timestamp watermark_ = no_timestamp;
  Timestamp fired_until_ = no_timestamp;  // while several windows go out
  std::vector<Restored> restored_;        // until open()
  // Restored from subtasks that were ahead, by their watermarks.
  std::map<Timestamp, std::vector<Slices>> ahead_;

  TimeWindow window_{};  // goes out
  const Table* result_ = nullptr;
  std::size_t cursor_ = 0;

  std::map<Timestamp, KeyTable<K, bool>> dirty_;  // by the start of their windows
  std::size_t refine_cursor_ = 0;
  bool refining_ = false;
};

}  // namespace hummer
