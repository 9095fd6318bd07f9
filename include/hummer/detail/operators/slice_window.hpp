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
// SliceWindowBase: all of it that needs no type of the records, keys and accumulators.
// SliceWindowResults: how results go out. SliceWindowOperator: how records come in.
//
// Input: RecordInput or PartialInput (window_input.hpp) takes records apart.
// SliceWindowOperatorWithBypass has both, where a partial operator also passes records as they are.
//
// State: watermark and, in steps, slices with their tables; restored by the keys it owns. At the
// same parallelism it goes on with its own watermark. At another one those of the earlier subtasks
// may differ (an unaligned checkpoint does not wait for the slowest): windows begin again at the
// lowest, and slices of a subtask that was ahead join when its watermark is reached, so that no
// window of its keys goes out twice. In processing time they begin again at the clock, which may be
// behind that of the machine that saved: nothing is late by it, and what was restored waits until
// it has come so far.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <hummer/detail/operators/record_text.hpp>
#include <hummer/detail/operators/slice_runs.hpp>
#include <hummer/detail/operators/spilling_slices.hpp>
#include <hummer/detail/operators/window_input.hpp>
#include <hummer/detail/operators/window_results.hpp>
#include <hummer/detail/state/sliding_merge.hpp>
#include <hummer/detail/state/table_state.hpp>

namespace hummer {

class SliceWindowBase : public Operator {
 public:
  Status open() override;
  OperatorResult process(Batch& in, Output& out) override;
  OperatorResult watermark(Timestamp time, Output& out) override;
  OperatorResult timer(std::int64_t, Output& out) override;
  OperatorResult end(Output& out) override { return advance(end_of_time, out); }
  Status snapshot(ByteWriter& out) override;
  OperatorResult snapshot_rest(ByteWriter& out) override;
  Status restore(ByteReader& in) override;

 protected:
  using Table = AccumulatorTableBase;

  // `aggregate` is the operator's own.
  SliceWindowBase(const WindowGrid& grid, std::int64_t lateness_ms,
                  const ErasedAggregate& aggregate, const KeyCodec& keys);
  ~SliceWindowBase() override;

  // ---- how records come in ----

  // Of the batch's records; fewer: they have none.
  virtual std::span<const Timestamp> times(Batch& in) = 0;
  // Folds the records of a run into a table.
  virtual void fold(Table& table, Batch& in, const SliceRuns::Run& run, RecordInHand& in_hand) = 0;
  // Adds the keys of a run to a set.
  virtual void add_keys(HashTable& keys, Batch& in, const SliceRuns::Run& run) = 0;

  // ---- how results of a window go out ----
  // True: those were all.

  // From `cursor` on, which moves.
  virtual Result<bool> emit_table(const Table& table, std::size_t& cursor, const TimeWindow& window,
                                  Output& out) = 0;
  // `only`: null, or of these keys.
  virtual Result<bool> emit_scan(SpilledScan& scan, const HashTable* only, const TimeWindow& window,
                                 Output& out) = 0;
  virtual Result<bool> emit_keys(const HashTable& keys, std::size_t& cursor, SpillingSlices& slices,
                                 const TimeWindow& window, Output& out) = 0;

  SliceRuns runs_;

 private:
  // What a subtask of the earlier run had.
  struct Restored {
    Timestamp watermark;
    SpillingSlices slices;
    std::vector<std::pair<Timestamp, SpillingSlices>> ahead;
  };

  bool processing_time() const { return grid_.domain == TimeDomain::processing; }
  // Windows up to here have gone out.
  Timestamp fired_until() const { return std::max(fired_until_, watermark_); }

  // ---- state ----
  void open_state();
  SpillingSlices new_slices();
  bool restore_into(SpillingSlices& slices, bool delta, ByteReader& in, Status& room);
  Status take_restored();
  Status make_room_for_restored();
  void place(Timestamp time, SpillingSlices slices);
  void join(SpillingSlices& slices);
  Status keep_within_share();
  bool is_beyond_memory(const TimeWindow& window) const;

  // ---- windows ----
  void add_run(Batch& in, const SliceRuns::Run& run, RecordInHand& in_hand);
  void mark(Batch& in, const SliceRuns::Run& run);
  OperatorResult advance(Timestamp time, Output& out);
  OperatorResult advance_to(Timestamp time, Output& out);
  bool next_window(Timestamp time);
  SliceTables::Slices::const_iterator first_waiting() const;
  Timestamp first_window(Timestamp slice) const;
  OperatorResult emit(Output& out);
  OperatorResult emit_from_disk(const HashTable* only, const TimeWindow& window, Output& out);
  OperatorResult refine(Output& out);
  OperatorResult answer(const Result<bool>& all);
  void drop_done();
  void arm();

  const WindowGrid grid_;
  const std::int64_t lateness_ms_;
  const ErasedAggregate& aggregate_;
  const KeyCodec& keys_;
  SpillingSlices slices_;
  MemoryUse memory_;
  SlidingMerge sliding_;
  std::vector<Timestamp> times_;  // of processing time
  Timestamp watermark_ = no_timestamp;
  Timestamp fired_until_ = no_timestamp;  // while several windows go out
  std::vector<Restored> restored_;        // until open()
  // Restored from subtasks that were ahead, by their watermarks.
  std::map<Timestamp, std::vector<SpillingSlices>> ahead_;

  TimeWindow window_{};                // goes out
  const Table* result_ = nullptr;      // of it, where that is in memory,
  std::unique_ptr<SpilledScan> scan_;  // or this; or of a window with new results
  std::size_t cursor_ = 0;

  std::map<Timestamp, HashTable> dirty_;  // sets of keys, by the start of their windows
  std::size_t refine_cursor_ = 0;
  bool refining_ = false;
};

template <typename K, typename Aggregate>
struct AggregateOfWindow {
  explicit AggregateOfWindow(Aggregate own) : aggregate(std::move(own)) {}
  AggregateOfWindow(const AggregateOfWindow&) = delete;
  AggregateOfWindow& operator=(const AggregateOfWindow&) = delete;
  const Aggregate aggregate;
  const ErasedAggregateOf<K, Aggregate> erased{aggregate};
};

template <typename K, typename Aggregate, typename Finish>
class SliceWindowResults : private AggregateOfWindow<K, Aggregate>, public SliceWindowBase {
  using Accumulator = typename Aggregate::Accumulator;
  using Out = typename Finish::Output;

 public:
  SliceWindowResults(const WindowGrid& grid, std::int64_t lateness_ms, Aggregate aggregate,
                     Finish finish)
      : AggregateOfWindow<K, Aggregate>(std::move(aggregate)),
        SliceWindowBase(grid, lateness_ms, this->erased, key_codec<K>()),
        finish_(std::move(finish)) {}

  void declare(Output& out) const override { out.add_port(type_of<Out>()); }
  std::vector<StateDescription> states() override {
    return {table_state<K, Accumulator>("windows")};
  }

 protected:
  const Aggregate& aggregate() const { return AggregateOfWindow<K, Aggregate>::aggregate; }

  template <typename Input>
  void fold_from(Input& input, AccumulatorTableBase& table, Batch& in, const SliceRuns::Run& run,
                 RecordInHand& in_hand) {
    const auto records = in.values<typename Input::Record>().subspan(in.position());
    const std::size_t first = in.position();
    const auto note = [&](std::size_t i) { in_hand.set(first + i); };
    auto& typed = static_cast<AccumulatorTable<K, Accumulator>&>(table);
    if (this->runs_.in_order()) {
      input.fold(typed, aggregate(), records, [](std::size_t i) { return i; }, note);
    } else {
      const std::uint32_t* const indexes = this->runs_.indexes() + run.first;
      input.fold_some(
          typed, aggregate(), records, run.count, [&](std::size_t i) { return indexes[i]; }, note);
    }
  }
  template <typename Input>
  void add_keys_from(Input& input, HashTable& keys, Batch& in, const SliceRuns::Run& run) {
    const auto records = in.values<typename Input::Record>().subspan(in.position());
    for (std::size_t i = 0; i < run.count; ++i) {
      const std::size_t at = this->runs_.in_order() ? i : this->runs_.indexes()[run.first + i];
      keys.find_or_add(typename TableKey<K>::Bytes(input.key(i, records[at])));
    }
  }

 private:
  Result<bool> emit_table(const Table& table, std::size_t& cursor, const TimeWindow& window,
                          Output& out) override {
    return put_out(window, out, [&](Collector<Out>& collector) -> Result<bool> {
      cursor = static_cast<const AccumulatorTable<K, Accumulator>&>(table).scan(
          cursor, [&](const K& key, const Accumulator& accumulator) {
            finish_(key, window, accumulator, collector);
            return !collector.full();
          });
      return cursor == Table::scan_end;
    });
  }
  Result<bool> emit_scan(SpilledScan& scan, const HashTable* only, const TimeWindow& window,
                         Output& out) override {
    return put_out(window, out, [&](Collector<Out>& collector) -> Result<bool> {
      AccumulatorScan<K, Accumulator> entries(scan);
      do {
        const Result<bool> found = entries.next();
        if (!found.ok()) return found;
        if (!*found) return true;
        if (only == nullptr || only->find(typename TableKey<K>::Bytes(entries.key)) != nullptr) {
          finish_(entries.key, window, std::as_const(entries.value), collector);
        }
      } while (!collector.full());
      return false;
    });
  }
  Result<bool> emit_keys(const HashTable& keys, std::size_t& cursor, SpillingSlices& slices,
                         const TimeWindow& window, Output& out) override {
    return put_out(window, out, [&](Collector<Out>& collector) -> Result<bool> {
      Status added;
      cursor = keys.visit_from(cursor, [&](const FoundEntry& found) {
        Accumulator total{};
        added = slices.add_up(found.key, window.start_ms, window.end_ms, &total);
        if (!added.ok()) return false;
        finish_(TableKey<K>::of(found.key), window, std::as_const(total), collector);
        return !collector.full();
      });
      if (!added.ok()) return added;
      return cursor == HashTable::scan_end;
    });
  }

  // fill(collector) puts results of the window out, and answers whether those were all.
  template <typename Fill>
  Result<bool> put_out(const TimeWindow& window, Output& out, Fill&& fill) {
    Batch& batch = out.batch();
    const std::size_t used = batch.size();
    Result<bool> all = false;
    {
      auto collector = out.collector<Out>();
      all = fill(collector);
    }
    if (!all.ok()) return all;
    stamp(batch, used, batch.size(), time_before(window.end_ms, 1));
    copy_record_text<Accumulator, Out>(Batch(), batch, used);
    if (const Status views = check_new_views<Out>(context(), Batch(), batch, used); !views.ok()) {
      return views;
    }
    return all;
  }

  Finish finish_;
};

template <typename Input, typename K, typename Aggregate, typename Finish>
class SliceWindowOperator final : public SliceWindowResults<K, Aggregate, Finish> {
 public:
  SliceWindowOperator(Input input, WindowGrid grid, std::int64_t lateness_ms, Aggregate aggregate,
                      Finish finish)
      : SliceWindowResults<K, Aggregate, Finish>(grid, lateness_ms, std::move(aggregate),
                                                 std::move(finish)),
        input_(std::move(input)) {}

 private:
  std::span<const Timestamp> times(Batch& in) override { return input_.times(in); }
  void fold(AccumulatorTableBase& table, Batch& in, const SliceRuns::Run& run,
            RecordInHand& in_hand) override {
    this->fold_from(input_, table, in, run, in_hand);
  }
  void add_keys(HashTable& keys, Batch& in, const SliceRuns::Run& run) override {
    this->add_keys_from(input_, keys, in, run);
  }

  Input input_;
};

// Of a partial operator with a bypass: input 0 has parts, input 1 records.
template <typename Parts, typename Records, typename K, typename Aggregate, typename Finish>
class SliceWindowOperatorWithBypass final : public SliceWindowResults<K, Aggregate, Finish> {
 public:
  SliceWindowOperatorWithBypass(Records records, WindowGrid grid, std::int64_t lateness_ms,
                                Aggregate aggregate, Finish finish)
      : SliceWindowResults<K, Aggregate, Finish>(grid, lateness_ms, std::move(aggregate),
                                                 std::move(finish)),
        records_(std::move(records)) {}

  OperatorResult process_input(int input, Batch& in, Output& out) override {
    has_parts_ = input == 0;
    return this->process(in, out);
  }

 private:
  std::span<const Timestamp> times(Batch& in) override {
    return has_parts_ ? parts_.times(in) : records_.times(in);
  }
  void fold(AccumulatorTableBase& table, Batch& in, const SliceRuns::Run& run,
            RecordInHand& in_hand) override {
    if (has_parts_) {
      this->fold_from(parts_, table, in, run, in_hand);
    } else {
      this->fold_from(records_, table, in, run, in_hand);
    }
  }
  void add_keys(HashTable& keys, Batch& in, const SliceRuns::Run& run) override {
    if (has_parts_) {
      this->add_keys_from(parts_, keys, in, run);
    } else {
      this->add_keys_from(records_, keys, in, run);
    }
  }

  bool has_parts_ = true;
  Parts parts_;
  Records records_;
};

}  // namespace hummer
