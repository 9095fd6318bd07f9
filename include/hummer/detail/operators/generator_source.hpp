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

#include <optional>
#include <string>
#include <utility>
#include <vector>

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

// The part that needs neither the records' type nor the functions: it says which indexes come when.
class GeneratorSourceBase : public SourceOperator {
 public:
  bool has_splits() const override { return options_.splits != 0; }
  bool takes_all_pieces() const override { return has_splits(); }
  Status restore(ByteReader& in) override;
  std::vector<StateDescription> states() override;
  Status snapshot(ByteWriter& out) override;
  Status open() override;
  std::string describe_produced(std::size_t record) const override;
  OperatorResult produce(Output& out) override;

 protected:
  GeneratorSourceBase(const GeneratorOptions& options, bool timed)
      : options_(options), timed_(timed) {}

  // Makes the records of the next `count` indexes of `range`, which stays as it is.
  virtual void fill(const IndexRange& range, Batch& target, std::uint64_t count) = 0;
  virtual Status check_views(Batch& out, std::size_t first) const = 0;
  virtual Timestamp time_of(std::uint64_t index) = 0;
  // Where the records of this call have times.
  bool stamps() const { return timed_ && options_.timestamps; }

 private:
  Status open_splits();
  SplitId split_of(const IndexRange& range) const;
  IndexRange* next_split(Batch& target);
  void make(IndexRange& range, Batch& target, std::uint64_t count);
  void follow_with_watermark(Output& out, std::uint64_t count);
  double records_per_nanosecond() const;
  std::uint64_t records_due();
  std::int64_t time_of_next_record() const;

  const GeneratorOptions options_;
  const bool timed_;
  IndexRanges ranges_;
  IndexRange run_ = {};                     // what the last call began with; step 0: unknown
  std::size_t run_used_ = 0;                // where that is in the output
  std::uint32_t until_watermark_ = 0;       // records
  std::uint64_t made_ = 0;                  // since started_at_
  std::optional<std::int64_t> started_at_;  // nanoseconds of context().now()
};

template <StreamType T, typename Function, typename TimestampFunction = NoTimestamps>
class GeneratorSource final : public GeneratorSourceBase {
  static constexpr bool timed = !std::is_same_v<TimestampFunction, NoTimestamps>;

 public:
  explicit GeneratorSource(Function function, const GeneratorOptions& options = {},
                           TimestampFunction timestamp = {})
      : GeneratorSourceBase(options, timed),
        function_(std::move(function)),
        timestamp_(std::move(timestamp)) {}

  void declare(Output& out) const override { out.add_port(type_of<T>()); }

 private:
  void fill(const IndexRange& range, Batch& target, std::uint64_t count) override {
    const std::size_t used = target.size();
    target.reserve(static_cast<std::uint32_t>(used + count));
    T* to = target.mutable_values<T>() + used;
    const std::uint64_t step = range.step;
    std::uint64_t made = 0;
    try {
      LocalFunction<Function> function(function_);
      // Added up: the vector units have no 64-bit multiplication.
      std::uint64_t index = range.next;
      const auto make = [&]() -> decltype(auto) { return function(index); };
      if constexpr (small_records<T>) {
        HUMMER_UNROLL
        for (; made < count; ++made, index += step) put_record(to + made, make, target);
      } else {
        for (; made < count; ++made, index += step) put_record(to + made, make, target);
      }
    } catch (...) {
      target.set_size(used + made);
      throw;
    }
    if constexpr (timed) {
      if (stamps()) stamp_all(room_for_times(target, used, count), range, count);
    }
    target.set_size(used + count);
  }
  void stamp_all(Timestamp* times, const IndexRange& range, std::uint64_t count) {
    LocalFunction<TimestampFunction> timestamp(timestamp_);
    std::uint64_t index = range.next;
    const std::uint64_t step = range.step;
    for (std::uint64_t i = 0; i < count; ++i, index += step) times[i] = timestamp(index);
  }
  Status check_views(Batch& out, std::size_t first) const override {
    return check_new_views<T>(context(), Batch(), out, first);
  }
  Timestamp time_of(std::uint64_t index) override { return timestamp_(index); }

  Function function_;
  TimestampFunction timestamp_;
};

}  // namespace hummer
