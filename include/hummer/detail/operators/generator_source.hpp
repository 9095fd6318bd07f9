// GeneratorSource: records made from their index.
//
//   GeneratorSource<long, F>(function, {.count = 1'000'000})    T function(std::uint64_t index)
//
// The function must be pure: the record of an index is the same whenever it is
// made, so a restored job goes on where it was. Subtask s of p makes the
// indexes s, s + p, s + 2p, …: event time goes on at the same pace everywhere.
//
// With `timestamp` each record has an event time, and every `watermark_interval`
// records of this subtask a watermark follows: the time of its next record less
// `out_of_order_ms`. REQUIRES: times fall back by no more than that. With
// `timestamps = false` the records travel without their times (8 bytes less each),
// and event time moves by the watermarks alone.
//
// With `records_per_second` (of all subtasks together) the source hands on what
// is due and waits; after a pause it catches up. Without `count` it never ends.
//
// With `splits` = n the source is like a log with n partitions (see hummer/source_splits.hpp): the
// indexes s, s + n, s + 2n, … are split s. Each batch is of one split, that which is furthest
// behind of those that need not wait for others; so watermarks are made for each split, and a
// restore at another parallelism deals the splits anew.
//
// Snapshot: the index. Cost: without a rate limit one clean loop per batch.
#pragma once

#include <limits>
#include <optional>

#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/detail/operators/index_ranges.hpp>
#include <hummer/detail/operators/view_check.hpp>
#include <hummer/source_splits.hpp>

namespace hummer {

// Timestamp function(std::uint64_t index); this one says: no event time.
struct NoTimestamps {
  Timestamp operator()(std::uint64_t) const { return no_timestamp; }
};

struct GeneratorOptions {
  std::optional<std::uint64_t> count = {};
  std::optional<double> records_per_second = {};
  std::uint32_t watermark_interval = 1024;  // records
  Timestamp out_of_order_ms = 0;
  bool timestamps = true;  // false: watermarks only
  std::uint32_t splits = 0;
};

template <StreamType T, typename Function, typename TimestampFunction = NoTimestamps>
class GeneratorSource final : public SourceOperator {
  static constexpr bool timed = !std::is_same_v<TimestampFunction, NoTimestamps>;

 public:
  explicit GeneratorSource(Function function, GeneratorOptions options = {},
                           TimestampFunction timestamp = {})
      : function_(std::move(function)), timestamp_(std::move(timestamp)), options_(options) {}

  void declare(Output& out) const override { out.add_port(type_of<T>()); }
  bool has_splits() const override { return options_.splits != 0; }
  bool takes_all_pieces() const override { return has_splits(); }
  Status restore(ByteReader& in) override {
    std::uint32_t until = 0;
    if (!in.get_value(until) || until > options_.watermark_interval) {
      return {ErrorCode::corrupt_record, "the state of a generator makes no sense"};
    }
    until_watermark_ = until;
    return ranges_.restore(in);
  }
  std::vector<StateDescription> states() override { return {IndexRanges::description()}; }
  Status snapshot(ByteWriter& out) override {
    out.put_value(until_watermark_);
    ranges_.snapshot(out);
    return {};
  }
  Status open() override {
    if (options_.watermark_interval == 0) {
      return {ErrorCode::invalid_argument, "generate: watermark_interval must not be 0"};
    }
    if (options_.records_per_second && !(*options_.records_per_second > 0)) {
      return {ErrorCode::invalid_argument, "generate: records_per_second must be above 0"};
    }
    if (until_watermark_ == 0) until_watermark_ = options_.watermark_interval;
    if (has_splits()) return open_splits();
    if (ranges_.restored() || context().restored()) return {};
    ranges_.add({static_cast<std::uint64_t>(context().subtask()), end_index(),
                 static_cast<std::uint64_t>(context().parallelism())});
    return {};
  }

  std::string describe_produced(std::size_t record) const override {
    if (run_.step == 0 || record < run_used_) return {};  // made of several ranges
    const std::uint64_t index = run_.next + (record - run_used_) * run_.step;
    const std::string at = "index " + std::to_string(index);
    return has_splits() ? "split " + std::to_string(index % options_.splits) + ", " + at : at;
  }

  OperatorResult produce(Output& out) override {
    ranges_.drop_empty();
    if (ranges_.empty()) return OperatorResult::done;
    if (out.full()) return OperatorResult::more;
    Batch& target = out.batch();
    IndexRange* const split = has_splits() ? next_split(target) : nullptr;
    if (has_splits() && split == nullptr) {
      // Nobody says when the others have caught up.
      context().call_at(context().now() + paused_retry_ns);
      return OperatorResult::blocked;
    }
    std::uint64_t count = std::min<std::uint64_t>(split != nullptr ? split->left() : ranges_.left(),
                                                  out.soft_limit() - target.size());
    if (timed) count = std::min<std::uint64_t>(count, until_watermark_);
    bool waits = false;
    if (options_.records_per_second) {
      const std::uint64_t due = records_due();
      waits = due <= count;
      count = std::min(count, due);
    }
    const std::size_t used = target.size();
    if (!ranges_.empty()) run_ = split != nullptr ? *split : ranges_.current();
    if (split == nullptr && count > ranges_.run()) run_.step = 0;
    run_used_ = used;
    if (split != nullptr) {
      fill(*split, target, count);
      if (split->empty()) context().splits()->finish(split_of(*split));
    } else {
      for (std::uint64_t left = count; left > 0; ranges_.drop_empty()) {
        const std::uint64_t run = std::min(left, ranges_.run());
        fill(ranges_.current(), target, run);
        left -= run;
      }
    }
    if (const Status views = check_new_views<T>(context(), Batch(), target, used); !views.ok()) {
      return context().fail(views);
    }
    if (timed) follow_with_watermark(out, count);
    ranges_.drop_empty();
    if (ranges_.empty()) return OperatorResult::done;
    if (!waits) return OperatorResult::more;
    context().call_at(time_of_next_record());
    return OperatorResult::blocked;
  }

 private:
  static constexpr std::int64_t paused_retry_ns = 1'000'000;

  std::uint64_t end_index() const {
    return options_.count.value_or(std::numeric_limits<std::uint64_t>::max());
  }

  // Its indexes have one remainder.
  SplitId split_of(const IndexRange& range) const { return range.next % options_.splits; }

  Status open_splits() {
    SourceSplits& splits = *context().splits();
    if (!ranges_.restored()) {
      for (SplitId id = 0; id < options_.splits; ++id) {
        ranges_.add({id, end_index(), options_.splits});
      }
    }
    for (const IndexRange& range : ranges_.all()) {
      if (range.step != options_.splits) {
        return {ErrorCode::invalid_configuration,
                "generate: the snapshot is of " + std::to_string(range.step) +
                    " splits or subtasks, not of splits = " + std::to_string(options_.splits)};
      }
    }
    ranges_.drop([&](const IndexRange& range) { return !splits.begin(split_of(range)); });
    return {};
  }

  // The one whose records this call makes; null: all must wait for others.
  IndexRange* next_split(Batch& target) {
    SourceSplits& splits = *context().splits();
    IndexRange* const split = ranges_.lowest([&](const IndexRange& range) {
      const SplitId id = split_of(range);
      return !splits.paused(id) && (target.empty() || target.split() == splits.number(id));
    });
    if (split != nullptr) target.set_split(splits.number(split_of(*split)));
    return split;
  }

  void fill(IndexRange& range, Batch& target, std::uint64_t count) {
    const std::size_t used = target.size();
    target.reserve(static_cast<std::uint32_t>(used + count));
    T* to = target.mutable_values<T>() + used;
    const std::uint64_t first = range.next;
    const std::uint64_t step = range.step;
    std::uint64_t made = 0;
    try {
      LocalFunction<Function> function(function_);
      // Added up: the vector units have no 64-bit multiplication.
      std::uint64_t index = first;
      if constexpr (small_records<T>) {
        HUMMER_UNROLL
        for (; made < count; ++made, index += step) put(to + made, function(index), target);
      } else {
        for (; made < count; ++made, index += step) put(to + made, function(index), target);
      }
    } catch (...) {
      target.set_size(used + made);
      throw;
    }
    if (timed && options_.timestamps) {
      pad_timestamps(target, used);
      target.timestamps().resize(used + count);
      Timestamp* times = target.timestamps().data() + used;
      LocalFunction<TimestampFunction> timestamp(timestamp_);
      std::uint64_t index = first;
      for (std::uint64_t i = 0; i < count; ++i, index += step) times[i] = timestamp(index);
    }
    target.set_size(used + count);
    range.advance(count);
    made_ += count;
  }
  template <typename Result>
  static void put(T* to, Result&& result, Batch& target) {
    if constexpr (std::is_same_v<T, std::string_view> &&
                  std::is_same_v<std::remove_cvref_t<Result>, std::string>) {
      new (to) T(target.copy_text(result));
    } else {
      new (to) T(std::forward<Result>(result));
    }
  }

  void follow_with_watermark(Output& out, std::uint64_t count) {
    until_watermark_ -= static_cast<std::uint32_t>(count);
    if (until_watermark_ != 0) return;
    until_watermark_ = options_.watermark_interval;
    std::optional<Timestamp> time;
    for (const IndexRange& range : ranges_.all()) {
      if (range.empty()) continue;
      const Timestamp next = timestamp_(range.next) - options_.out_of_order_ms;
      time = time ? std::min(*time, next) : next;
    }
    if (time) out.set_control(Control::watermark(*time));
  }

  double records_per_nanosecond() const {
    return *options_.records_per_second / context().parallelism() / 1e9;
  }
  std::uint64_t records_due() {
    if (!started_at_) started_at_ = context().now();
    const auto passed = static_cast<double>(context().now() - *started_at_);
    const auto allowed = static_cast<std::uint64_t>(passed * records_per_nanosecond()) + 1;
    return allowed > made_ ? allowed - made_ : 0;
  }
  std::int64_t time_of_next_record() const {
    const double wait = static_cast<double>(made_) / records_per_nanosecond();
    return *started_at_ + static_cast<std::int64_t>(wait) + 1;
  }

  Function function_;
  TimestampFunction timestamp_;
  GeneratorOptions options_;
  IndexRanges ranges_;
  IndexRange run_ = {};                     // what the last call began with; step 0: unknown
  std::size_t run_used_ = 0;                // where that is in the output
  std::uint32_t until_watermark_ = 0;       // records
  std::uint64_t made_ = 0;                  // since started_at_
  std::optional<std::int64_t> started_at_;  // nanoseconds of context().now()
};

}  // namespace hummer
