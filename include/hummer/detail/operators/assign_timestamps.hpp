// AssignTimestampsOperator: gives each record its event time and makes the
// watermarks; those of its input end here, and so does what that says of being inactive. See
// hummer/watermarks.hpp.
//
// A watermark goes out behind every n-th record (WatermarkSettings::every), if it has moved, and
// ends its batch; what has moved since goes out when nothing more is at hand and ahead of the end,
// so nothing is held back; that of a periodic generator by a timer too. With idleness,
// Control::inactive follows when no record has come for so long (also when none has come at all).
// The next record takes it back: behind it goes a watermark, or Control::active where that has not
// moved. Time in which the task could take no input does not count, nor does that for which a split
// was paused by its alignment: what waited there would be late.
//
// With an alignment it answers `blocked` while it is too far ahead of its group, and so holds back
// its source.
//
// Fused behind a source with splits (hummer/source_splits.hpp) it has a generator for each of them,
// idleness is that of a split, and a split that is too far ahead is refused by the source. Its
// watermark is the least of the splits that count; it is inactive while none does. Records of no
// split, which an unaligned checkpoint had in flight, move no watermark.
//
// State: its watermark (see hummer/detail/state/restored_watermark.hpp), and that of each split,
// which goes with the split; how far the generator is ahead of it, and the records since the last
// n-th one.
#pragma once

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/detail/state/restored_watermark.hpp>
#include <hummer/source_splits.hpp>
#include <hummer/watermarks.hpp>

namespace hummer {

// The part that needs neither the records' type nor the generator's: it says when which watermark
// goes out.
class AssignTimestampsBase : public Operator {
 public:
  bool makes_watermarks() const override { return true; }
  bool is_aligned() const override { return settings_.alignment.has_value(); }
  bool takes_all_pieces() const override { return true; }
  bool one_for_one() const override { return true; }
  bool can_skip_record() const override { return true; }
  Status restore(ByteReader& in) override;
  std::vector<StateDescription> states() override;
  Status snapshot(ByteWriter& out) override;
  Status open() override;
  OperatorResult process(Batch& in, Output& out) override;
  OperatorResult end(Output& out) override;
  Status close() override;
  OperatorResult inactive(Output&) override { return OperatorResult::done; }
  // Also when a split has begun, become idle or ended.
  OperatorResult idle(Output& out) override;
  OperatorResult timer(std::int64_t now, Output& out) override;

 protected:
  // A generator: that of a split, by its number; that of all records; or one that nobody
  // hears, of records that belong to no split.
  using Which = SplitNumber;
  static constexpr Which of_all = no_split;
  static constexpr Which unheard = no_split - 1;

  // The settings of WatermarkSettings.
  struct Settings {
    std::int64_t idle_ms;
    std::optional<WatermarkAlignment> alignment;
    std::int64_t ahead_ms;
    std::int64_t interval_ms;
    std::uint32_t every_records;
    bool asks_periodically;
  };
  explicit AssignTimestampsBase(Settings settings) : settings_(std::move(settings)) {}

  virtual void add_generator() = 0;  // of the next split
  virtual void restore_generator(Which which, Timestamp watermark) = 0;
  virtual Timestamp generated(Which which) const = 0;
  virtual Timestamp periodic(Which which, Timestamp now_ms) = 0;
  // Times of the records from `at` on, which it moves, in times_: up to the next record behind
  // which a watermark is due that has moved(): then true. Else to the end of the batch.
  virtual bool stamp_records(const Batch& in, std::size_t& at, Which which) = 0;

  // For stamp_records, behind `records` more.
  bool is_nth(std::size_t records);
  bool moved(Which which, Timestamp time) {
    return which == of_all ? time > watermark_ : split_moved(which, time);
  }

  Settings settings_;
  std::uint32_t since_ = 0;  // records since the last n-th one
  std::vector<Timestamp> times_;

 private:
  struct Split {
    std::int64_t last_record_at = 0;
    bool timed_out = false;
  };

  bool split_moved(Which which, Timestamp time);
  void process_split(Batch& in, Output& out);
  void take_new_splits();
  Timestamp lowest_split() const;
  void follow_splits(Output& out);
  void time_out_splits();
  void ask_splits(std::int64_t now);
  void arm_splits();
  bool too_far_ahead() const;
  void align(Timestamp time);
  void leave();
  Timestamp latest() const;
  void advance(Timestamp time, Output& out);
  std::int64_t idle_ns() const { return settings_.idle_ms * 1'000'000; }
  std::int64_t interval_ns() const { return settings_.interval_ms * 1'000'000; }
  std::int64_t idle_at(std::int64_t last_record_at) const;
  void arm();
  bool stamp_run(Batch& in, Batch& target, Which which);
  void hand_on(Batch& in, std::size_t first, std::size_t end, Batch& target);

  std::optional<WatermarkAlignment::Member> member_;
  Timestamp watermark_ = no_timestamp;
  RestoredWatermark restored_;
  RestoredWatermark restored_latest_;
  RestoredWatermark restored_since_;  // records; those of its own piece, or the fewest
  bool inactive_ = false;
  std::int64_t last_record_at_ = 0;
  std::int64_t ask_at_ = 0;      // a periodic generator, the next time
  std::vector<Split> by_split_;  // by number
  std::unordered_map<SplitId, Timestamp> restored_splits_;
  bool armed_ = false;  // with splits: a timer is to come
};

template <StreamType T, typename TimestampOf, typename Generator>
class AssignTimestampsOperator final : public AssignTimestampsBase {
 public:
  AssignTimestampsOperator(TimestampOf timestamp_of, const WatermarkSettings<Generator>& settings)
      : AssignTimestampsBase({settings.idle_ms, settings.alignment, settings.ahead_ms,
                              settings.interval_ms, settings.every_records,
                              asks_periodically<Generator>}),
        timestamp_of_(std::move(timestamp_of)),
        of_all_(settings.generator) {}

  void declare(Output& out) const override { out.add_port(type_of<T>()); }

 private:
  void add_generator() override { by_split_.push_back(of_all_); }
  void restore_generator(Which which, [[maybe_unused]] Timestamp watermark) override {
    Generator& generator = generator_of(which);
    if constexpr (requires { generator.restore(watermark); }) generator.restore(watermark);
  }
  Timestamp generated(Which which) const override {
    return which == of_all ? of_all_.watermark() : by_split_[which].watermark();
  }
  Timestamp periodic(Which which, [[maybe_unused]] Timestamp now_ms) override {
    Generator& generator = generator_of(which);
    if constexpr (asks_periodically<Generator>) return generator.periodic(now_ms);
    return generator.watermark();
  }
  Generator& generator_of(Which which) { return which == of_all ? of_all_ : by_split_[which]; }

  bool stamp_records(const Batch& in, std::size_t& at, Which which) override {
    if (which == unheard) {
      Generator alone = of_all_;
      while (at < in.size()) (void)stamp_some(in, at, alone);
      return false;
    }
    Generator& generator = generator_of(which);
    while (at < in.size()) {
      if (stamp_some(in, at, generator) && moved(which, generator.watermark())) return true;
    }
    return false;
  }
  // Up to the n-th record (true), or the end of the batch.
  bool stamp_some(const Batch& in, std::size_t& at, Generator& generator) {
    const std::size_t begin = at;
    const std::size_t end =
        at + std::min<std::size_t>(in.size() - at, settings_.every_records - since_);
    try {
      stamp_all(in.values<T>().data(), at, end, generator);
    } catch (...) {
      (void)is_nth(at - begin);
      throw;
    }
    return is_nth(end - begin);
  }
  void stamp_all(const T* records, std::size_t& place, std::size_t end, Generator& generator) {
    LocalFunction<TimestampOf> timestamp_of(timestamp_of_);
    LocalValue<Generator> local_generator(generator);
    Timestamp* const times = times_.data();
    const auto stamp_one = [&](std::size_t i) {
      times[i] = static_cast<Timestamp>(timestamp_of(records[i]));
      (*local_generator).record(records[i], times[i]);
    };
    std::size_t at = place;  // a local: the stores might change what is elsewhere
    try {
      if constexpr (small_records<T>) {
        HUMMER_UNROLL
        for (; at < end; ++at) stamp_one(at);
      } else {
        for (; at < end; ++at) stamp_one(at);
      }
    } catch (...) {
      place = at;
      throw;
    }
    place = at;
  }

  TimestampOf timestamp_of_;
  Generator of_all_;
  std::vector<Generator> by_split_;  // by number
};

}  // namespace hummer
