// SliceWindowOperator: tumbling and sliding windows per key, from slices.
//
// A record (or a partial result from PartialWindowOperator) updates the one slice
// that its time falls into; when the watermark reaches the end of a window, its
// slices' merge goes out, key by key (hummer/detail/state/sliding_merge.hpp). So sliding windows
// cost a record what tumbling ones do. Windows without records give nothing.
//
// Records behind the watermark still count in those of their windows that are not
// complete. With `lateness_ms`, a window stays open so much longer: records that
// come to it change its result, which goes out again behind their batch, for the keys
// that changed. Later ones are dropped and counted; LateRecordsOperator has taken most of
// them out before.
//
// With a limit to memory what has no room goes to disk (spilling_slices.hpp), and a window that has
// something there goes out as one merged scan of its slices, in memory that does not grow with the
// number of keys. A sliding window is then read from all its slices, each time: size / slide times
// what a tumbling one reads. So is one whose merge would have no room. A batch with late records,
// within the lateness, looks their keys up, or reads the windows that they change where they are
// many.
//
// In processing time windows end by the clock: those that it has passed go out
// by a timer. At the end of the stream all go out.
//
// Input: RecordInput or PartialInput (window_input.hpp) takes records apart.
// State: watermark and, in steps, slices with their tables; restored by the keys it owns. At the
// same parallelism it goes on with its own watermark. At another one those of the earlier subtasks
// may differ (an unaligned checkpoint does not wait for the slowest): windows begin again at the
// lowest, and slices of a subtask that was ahead join when its watermark is reached, so that no
// window of its keys goes out twice. In processing time they begin again at the clock, which may be
// behind that of the machine that saved: nothing is late by it, and what was restored waits until
// it has come so far.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <hummer/detail/operators/call_at_wall_time.hpp>
#include <hummer/detail/operators/record_text.hpp>
#include <hummer/detail/operators/slice_runs.hpp>
#include <hummer/detail/operators/spilling_slices.hpp>
#include <hummer/detail/operators/window_input.hpp>
#include <hummer/detail/operators/window_results.hpp>
#include <hummer/detail/state/restored_watermark.hpp>
#include <hummer/detail/state/sliding_merge.hpp>
#include <hummer/detail/state/table_state.hpp>

namespace hummer {

template <typename Input, typename K, typename Aggregate, typename Finish>
class SliceWindowOperator final : public Operator {
  using Accumulator = typename Aggregate::Accumulator;
  using Slices = SpillingSlices<K, Aggregate>;
  using Table = typename Slices::Table;
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
    open_state();
    HUMMER_TRY(grid_.check());
    HUMMER_TRY(take_restored());
    if (processing_time()) arm();
    return {};
  }

  OperatorResult process(Batch& in, Output& out) override {
    if (refining_) {
      if (const OperatorResult answer = refine(out); answer != OperatorResult::done) return answer;
    }
    if (in.finished()) return OperatorResult::done;
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
      if (Status status = keep_within_share(); !status.ok()) {
        return context().fail(std::move(status));
      }
    }
    if (processing_time()) arm();
    if (dirty_.empty()) return OperatorResult::done;
    refining_ = true;
    return refine(out);
  }

  OperatorResult watermark(Timestamp time, Output& out) override {
    return processing_time() ? OperatorResult::done : advance(time, out);
  }
  OperatorResult timer(std::int64_t, Output& out) override {
    if (!processing_time()) return OperatorResult::done;
    const OperatorResult answer = advance(context().wall_time_ms(), out);
    if (answer == OperatorResult::done) arm();
    return answer;
  }
  OperatorResult end(Output& out) override { return advance(end_of_time, out); }

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
        HUMMER_TRY(each.write_whole(out));
      }
    }
    out.put(slices.view().data(), slices.size());
    return {};
  }
  OperatorResult snapshot_rest(ByteWriter& out) override {
    const Result<bool> written = slices_.write_frozen(out, context().snapshot_step_bytes());
    if (!written.ok()) return context().fail(written.status());
    return *written ? OperatorResult::done : OperatorResult::more;
  }
  Status restore(ByteReader& in) override {
    std::uint8_t version = 0;
    std::uint8_t delta = 0;
    Timestamp time = 0;
    std::uint32_t ahead = 0;
    Status room;
    bool valid = in.get_value(version) &&
                 (version == snapshot_version || version == version_of_one_section) &&
                 in.get_value(delta) && in.get_value(time) && in.get_value(ahead) &&
                 (delta == 0 || !restored_.empty());
    if (valid && delta == 0) {
      open_state();
      HUMMER_TRY(make_room_for_restored());
      restored_.emplace_back().slices.open(context(), aggregate_);
    }
    if (valid) {
      Restored& subtask = restored_.back();
      subtask.watermark = time;
      subtask.ahead.clear();
      for (; valid && ahead > 0; --ahead) {
        Timestamp of_slices = 0;
        Slices slices;
        slices.open(context(), aggregate_);
        valid = in.get_value(of_slices) && restore_into(slices, false, in, room);
        if (valid) subtask.ahead.emplace_back(of_slices, std::move(slices));
      }
      valid = valid && restore_into(subtask.slices, delta != 0, in, room);
    }
    HUMMER_TRY(room);
    if (!valid) return {ErrorCode::corrupt_record, "the state of a window cannot be decoded"};
    return {};
  }

 private:
  static constexpr std::uint8_t snapshot_version = 4;
  static constexpr std::uint8_t version_of_one_section = 3;  // at most, per slice; read alike

  bool processing_time() const { return grid_.domain == TimeDomain::processing; }

  // What a subtask of the earlier run had.
  struct Restored {
    Timestamp watermark = no_timestamp;
    Slices slices;
    std::vector<std::pair<Timestamp, Slices>> ahead;
  };
  // What there is no room for goes to disk meanwhile: see make_room_for_restored.
  bool restore_into(Slices& slices, bool delta, ByteReader& in, Status& room) {
    const bool may_go = memory_.limited() && !delta && !context().delta_follows();
    return slices.tables().restore(
        in, delta, [&](const K& key) { return context().owns_key(key); }, aggregate_,
        [&] {
          if (!may_go) return true;
          slices.tables().merge_restored(aggregate_);
          if (slices.memory_bytes() > memory_.share_bytes() / 2) room = slices.spill_all();
          return room.ok();
        });
  }
  void open_state() {
    memory_.open(context().memory(), true);
    slices_.open(context(), aggregate_);
  }
  Status take_restored() {
    if (restored_.empty()) return {};
    HUMMER_TRY(make_room_for_restored());
    RestoredWatermark of_subtasks;
    for (const Restored& subtask : restored_) of_subtasks.add(subtask.watermark);
    watermark_ = of_subtasks.of(context());
    if (processing_time()) watermark_ = std::min(watermark_, context().wall_time_ms());
    for (Restored& subtask : restored_) {
      place(subtask.watermark, std::move(subtask.slices));
      for (auto& [time, slices] : subtask.ahead) place(time, std::move(slices));
    }
    restored_.clear();
    return memory_.limited() ? keep_within_share() : Status();
  }
  // Where there is too much of it, all goes to disk. Between two subtasks' pieces: a delta, which
  // replaces what came before it, needs tables.
  Status make_room_for_restored() {
    if (!memory_.limited()) return {};
    std::size_t bytes = 0;
    const auto each = [&](auto&& visit) -> Status {
      for (Restored& subtask : restored_) {
        HUMMER_TRY(visit(subtask.slices));
        for (auto& ahead : subtask.ahead) HUMMER_TRY(visit(ahead.second));
      }
      return {};
    };
    HUMMER_TRY(each([&](Slices& slices) {
      slices.tables().merge_restored(aggregate_);
      bytes += slices.memory_bytes();
      return Status();
    }));
    if (bytes > memory_.share_bytes()) {
      bytes = 0;
      HUMMER_TRY(each([&](Slices& slices) {
        Status status = slices.spill_all();
        bytes += slices.memory_bytes();
        return status;
      }));
    }
    return memory_.set(bytes);
  }
  // Slices of a subtask whose watermark was at `time`.
  void place(Timestamp time, Slices slices) {
    slices.tables().merge_restored(aggregate_);
    if (slices.empty()) return;
    if (time > watermark_) {
      ahead_[time].push_back(std::move(slices));
    } else {
      join(slices);
    }
  }
  void join(Slices& slices) {
    slices_.absorb(slices);
    sliding_.forget();
  }

  // REQUIRES: a limit to memory.
  Status keep_within_share() {
    const std::size_t share = memory_.share_bytes();
    std::size_t ahead = 0;
    for (const auto& [time, all] : ahead_) {
      for (const Slices& each : all) ahead += each.memory_bytes();
    }
    if (slices_.memory_bytes() + ahead + sliding_.memory_bytes() > share) sliding_.forget();
    std::size_t beside = ahead + sliding_.memory_bytes();
    for (const auto& [start, keys] : dirty_) beside += keys.memory_bytes();
    HUMMER_TRY(slices_.keep_within(share - std::min(share, beside)));
    return memory_.set(slices_.memory_bytes() + beside);
  }
  // Whether the window has to be read in order of its keys' hashes, or can't be merged in memory.
  bool is_beyond_memory(const TimeWindow& window) const {
    if (!memory_.limited()) return false;
    if (slices_.has_spilled(window.start_ms, window.end_ms)) return true;
    return !grid_.is_tumbling() &&
           slices_.memory_bytes() +
                   sliding_.needed_bytes(slices_.tables(), window.start_ms, window.end_ms) >
               memory_.share_bytes();
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
    add(slices_.tables().at(run.slice, run.count, aggregate_));
    const bool some_have_fired =
        time_after(grid_.first_start(run.slice), grid_.size_ms) <= fired_until();
    if (!some_have_fired) return;
    if (!grid_.is_tumbling()) sliding_.late(slices_.tables(), run.slice, add);
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
    grid_.each_window(run.slice, [&](const TimeWindow& window) {
      if (window.end_ms > fired_until()) return;
      if (time_after(window.end_ms, lateness_ms_) <= watermark_) return;
      dirty_[window.start_ms].update(
          run.count,
          [&](std::size_t i) -> K {
            const std::size_t at = runs_.in_order() ? i : runs_.indexes()[run.first + i];
            return input_.key(i, records[at]);
          },
          [](std::uint64_t&, bool, std::size_t) {});
    });
  }

  OperatorResult advance(Timestamp time, Output& out) {
    while (!ahead_.empty() && ahead_.begin()->first <= time) {
      const OperatorResult answer = advance_to(ahead_.begin()->first, out);
      if (answer != OperatorResult::done) return answer;
      for (Slices& slices : ahead_.begin()->second) join(slices);
      ahead_.erase(ahead_.begin());
    }
    return advance_to(time, out);
  }
  OperatorResult advance_to(Timestamp time, Output& out) {
    if (refining_) {
      if (const OperatorResult answer = refine(out); answer != OperatorResult::done) return answer;
    }
    for (;;) {
      if (result_ == nullptr && !scan_ && !next_window(time)) break;
      if (const OperatorResult answer = emit(out); answer != OperatorResult::done) return answer;
      result_ = nullptr;
      scan_.reset();
      fired_until_ = window_.end_ms;
      drop_done();
    }
    watermark_ = std::max(watermark_, time);
    drop_done();
    return OperatorResult::done;
  }

  // The first window that is complete at `time` and holds a slice, and its table or scan.
  bool next_window(Timestamp time) {
    const auto slice = first_waiting();
    if (slice == slices_.tables().all().end()) return false;
    const Timestamp start = first_window(slice->first);
    const Timestamp end = time_after(start, grid_.size_ms);
    if (end > time) return false;
    window_ = {start, end};
    if (is_beyond_memory(window_)) {
      sliding_.forget();
      scan_.emplace(slices_.scan(start, end));
    } else if (grid_.is_tumbling()) {
      result_ = slice->second.get();
    } else {
      result_ = &sliding_.window(slices_.tables(), start, end, time_after(start, grid_.slide_ms));
    }
    return true;
  }
  typename Slices::Tables::Slices::const_iterator first_waiting() const {
    const Timestamp fired = fired_until();
    auto slice = slices_.tables().from(time_before(fired, grid_.size_ms));
    while (slice != slices_.tables().all().end() && grid_.last_end(slice->first) <= fired) ++slice;
    return slice;
  }
  // Of those that have not gone out, and hold the slice.
  Timestamp first_window(Timestamp slice) const {
    const Timestamp start = grid_.first_start(slice);
    const Timestamp after = time_before(fired_until(), grid_.size_ms);
    if (after == no_timestamp || start > after) return start;
    return time_after(grid_.floor(after, grid_.slide_ms), grid_.slide_ms);
  }

  OperatorResult emit(Output& out) {
    return put_out(window_, out, [&](Collector<Out>& collector) -> Result<bool> {
      const auto finish = [&](const K& key, const Accumulator& accumulator) {
        finish_(key, window_, accumulator, collector);
        return !collector.full();
      };
      if (scan_) return go_on_scanning(finish);
      cursor_ = result_->scan(cursor_, finish);
      if (cursor_ != Table::scan_end) return false;
      cursor_ = 0;
      return true;
    });
  }

  // New results of the keys that late records have changed.
  OperatorResult refine(Output& out) {
    while (!dirty_.empty()) {
      const TimeWindow window{dirty_.begin()->first,
                              time_after(dirty_.begin()->first, grid_.size_ms)};
      const KeyTable<K, std::uint64_t>& changed = dirty_.begin()->second;
      if (!scan_ && refine_cursor_ == 0 && memory_.limited() &&
          slices_.scan_is_cheaper(window.start_ms, window.end_ms, changed.size())) {
        scan_.emplace(slices_.scan(window.start_ms, window.end_ms));
      }
      const OperatorResult answer =
          put_out(window, out, [&](Collector<Out>& collector) -> Result<bool> {
            if (scan_) {
              return go_on_scanning([&](const K& key, const Accumulator& accumulator) {
                if (changed.find(key) != nullptr) finish_(key, window, accumulator, collector);
                return !collector.full();
              });
            }
            Status found;
            refine_cursor_ = changed.scan(refine_cursor_, [&](const K& key, std::uint64_t) {
              Accumulator total{};
              found = slices_.total_of(key, window.start_ms, window.end_ms, total);
              if (!found.ok()) return false;
              finish_(key, window, std::as_const(total), collector);
              return !collector.full();
            });
            if (!found.ok()) return found;
            if (refine_cursor_ != changed.scan_end) return false;
            refine_cursor_ = 0;
            return true;
          });
      if (answer != OperatorResult::done) return answer;
      scan_.reset();
      dirty_.erase(dirty_.begin());
    }
    refining_ = false;
    return OperatorResult::done;
  }

  // fill(collector) puts results of the window out, and answers whether those were all.
  template <typename Fill>
  OperatorResult put_out(const TimeWindow& window, Output& out, Fill&& fill) {
    if (out.full()) return OperatorResult::more;
    Batch& batch = out.batch();
    const std::size_t used = batch.size();
    Result<bool> all = false;
    {
      auto collector = out.collector<Out>();
      all = fill(collector);
    }
    if (!all.ok()) return context().fail(all.status());
    stamp(batch, used, batch.size(), time_before(window.end_ms, 1));
    copy_record_text<Accumulator, Out>(Batch(), batch, used);
    if (const Status views = check_new_views<Out>(context(), Batch(), batch, used); !views.ok()) {
      return context().fail(views);
    }
    return *all ? OperatorResult::done : OperatorResult::more;
  }
  // visit(key, accumulator) answers whether to go on. True: the scan's end.
  template <typename Visit>
  Result<bool> go_on_scanning(Visit&& visit) {
    for (;;) {
      const Result<bool> found = scan_->next();
      if (!found.ok()) return found;
      if (!*found) return true;
      if (!visit(scan_->key, scan_->value)) return false;
    }
  }
  void drop_done() {
    const Timestamp done = fired_until();
    while (!slices_.empty() && time_after(grid_.last_end(slices_.tables().all().begin()->first),
                                          lateness_ms_) <= done) {
      slices_.drop_first();
    }
  }

  // Processing time: asks to be called when the next window ends, or slices join.
  void arm() {
    Timestamp next = ahead_.empty() ? end_of_time : ahead_.begin()->first;
    if (const auto slice = first_waiting(); slice != slices_.tables().all().end()) {
      next = std::min(next, time_after(first_window(slice->first), grid_.size_ms));
    }
    if (next != end_of_time) call_at_wall_time(context(), next);
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

  TimeWindow window_{};                        // goes out
  const Table* result_ = nullptr;              // of it, where that is in memory,
  std::optional<typename Slices::Scan> scan_;  // or this; or of a window with new results
  std::size_t cursor_ = 0;

  std::map<Timestamp, KeyTable<K, std::uint64_t>> dirty_;  // by the start of their windows
  std::size_t refine_cursor_ = 0;
  bool refining_ = false;
};

}  // namespace hummer
