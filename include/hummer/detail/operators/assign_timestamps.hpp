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

#include <functional>
#include <unordered_map>
#include <utility>

#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/detail/state/restored_watermark.hpp>
#include <hummer/source_splits.hpp>
#include <hummer/watermarks.hpp>

namespace hummer {

template <StreamType T, typename TimestampOf, typename Generator>
class AssignTimestampsOperator final : public Operator {
 public:
  AssignTimestampsOperator(TimestampOf timestamp_of, WatermarkSettings<Generator> settings)
      : timestamp_of_(std::move(timestamp_of)), settings_(std::move(settings)) {}

  void declare(Output& out) const override { out.add_port(type_of<T>()); }
  bool makes_watermarks() const override { return true; }
  bool is_aligned() const override { return settings_.alignment.has_value(); }
  bool takes_all_pieces() const override { return true; }
  bool one_for_one() const override { return true; }
  bool can_skip_record() const override { return true; }

  Status restore(ByteReader& in) override {
    std::uint8_t version = 0;
    Timestamp time = 0;
    std::uint32_t splits = 0;
    bool valid = in.get_value(version) && version >= 1 && version <= state_version &&
                 in.get_value(time) && (version == 1 || in.get_value(splits));
    for (std::uint32_t i = 0; valid && i < splits; ++i) {
      SplitId id = 0;
      Timestamp of_split = 0;
      valid = in.get_value(id) && in.get_value(of_split);
      restored_splits_[id] = of_split;
    }
    Timestamp latest = time;
    std::uint32_t since = 0;
    valid = valid && (version < 3 || (in.get_value(latest) && in.get_value(since)));
    if (!valid) {
      return {ErrorCode::corrupt_record, "the state of assign_timestamps makes no sense"};
    }
    restored_.add(time);
    restored_latest_.add(latest);
    restored_since_.add(since);
    return {};
  }
  std::vector<StateDescription> states() override { return {{"watermark", "i64"}}; }
  Status snapshot(ByteWriter& out) override {
    out.put_value(state_version);
    out.put_value(watermark_);
    const SourceSplits* splits = context().splits();
    out.put_value(static_cast<std::uint32_t>(splits != nullptr ? splits->open().size() : 0));
    if (splits != nullptr) {
      for (const SplitNumber number : splits->open()) {
        out.put_value(splits->id(number));
        out.put_value(splits->watermark(number));
      }
    }
    out.put_value(latest());
    out.put_value(since_);
    return {};
  }
  Status open() override {
    if (settings_.interval_ms < 1) {
      return {ErrorCode::invalid_argument,
              "the interval of a watermark generator must be 1 or more"};
    }
    if (settings_.every_records == 0) {
      return {ErrorCode::invalid_argument, "assign_timestamps: every(0) makes no sense: 1 or more"};
    }
    last_record_at_ = context().input_now();
    ask_at_ = context().now() + interval_ns();
    if (restored_.known()) {
      watermark_ = restored_.of(context());
      restore_generator(settings_.generator, restored_latest_.of(context()));
      since_ = static_cast<std::uint32_t>(restored_since_.of(context())) % settings_.every_records;
    }
    if (settings_.alignment) member_ = settings_.alignment->join();
    if (SourceSplits* splits = context().splits()) {
      if (settings_.alignment) splits->align(*settings_.alignment, settings_.ahead_ms);
      take_new_splits();
      align(lowest_split());
      return {};
    }
    arm();
    align(latest());
    return {};
  }
  OperatorResult end(Output& out) override {
    if (context().splits() == nullptr && latest() > watermark_) {
      advance(latest(), out);
      return OperatorResult::more;
    }
    leave();
    return OperatorResult::done;
  }
  Status close() override {
    leave();
    return {};
  }

  OperatorResult process(Batch& in, Output& out) override {
    if (!out.batch().empty()) return OperatorResult::more;
    if (context().splits() != nullptr) {
      process_split(in, out);
    } else {
      if (too_far_ahead()) return OperatorResult::blocked;
      Generator& generator = settings_.generator;
      bool due =
          stamp_run(in, out.batch(), generator, [&] { return generator.watermark() > watermark_; });
      if (idle_ns() > 0) {
        last_record_at_ = context().input_now();
        if (inactive_) {
          inactive_ = false;
          due = true;
          out.set_control(Control::active());
          ask_at_ = context().now() + interval_ns();
          arm();
        }
      }
      align(latest());
      if (due) advance(generator.watermark(), out);
    }
    return in.finished() ? OperatorResult::done : OperatorResult::more;
  }

  OperatorResult inactive(Output&) override { return OperatorResult::done; }
  // Also when a split has begun, become idle or ended.
  OperatorResult idle(Output& out) override {
    if (SourceSplits* splits = context().splits()) {
      splits->apply_changes();
      take_new_splits();
      follow_splits(out);
    } else if (!inactive_) {
      advance(latest(), out);
    }
    return OperatorResult::done;
  }

  OperatorResult timer(std::int64_t now, Output& out) override {
    if (context().splits() != nullptr) {
      time_out_splits();
      ask_splits(now);
      follow_splits(out);
      arm_splits();
      return OperatorResult::done;
    }
    if (inactive_) return OperatorResult::done;
    if (idle_ns() > 0 && context().input_now() - last_record_at_ >= idle_ns()) {
      inactive_ = true;
      align(end_of_time);
      out.set_control(Control::inactive());
      return OperatorResult::done;
    }
    if constexpr (asks_periodically<Generator>) {
      if (now >= ask_at_) {
        ask_at_ = now + interval_ns();
        advance(settings_.generator.periodic(context().wall_time_ms()), out);
      }
    }
    arm();
    return OperatorResult::done;
  }

 private:
  static constexpr std::uint8_t state_version =
      3;  // 1: without splits; 2: without what the generator is ahead

  struct Split {
    Generator generator;
    std::int64_t last_record_at = 0;
    bool timed_out = false;
  };

  static void restore_generator(Generator& generator, Timestamp watermark) {
    if constexpr (requires { generator.restore(watermark); }) generator.restore(watermark);
  }

  void process_split(Batch& in, Output& out) {
    SourceSplits& splits = *context().splits();
    take_new_splits();
    const SplitNumber number = in.split();
    if (number == no_split) {
      Generator unheard = settings_.generator;
      (void)stamp_run(in, out.batch(), unheard, [] { return false; });
      return;
    }
    Split& split = by_split_[number];
    const auto follow = [&] {
      const Timestamp time = split.generator.watermark();
      if (time > splits.watermark(number)) splits.set_watermark(number, time);
    };
    const bool due = stamp_run(in, out.batch(), split.generator, [&] {
      follow();
      return lowest_split() > watermark_;
    });
    follow();
    if (idle_ns() > 0) {
      split.last_record_at = context().input_now();
      split.timed_out = false;
      if (!armed_) arm_splits();
    }
    if (due || inactive_) {
      follow_splits(out);
    } else {
      align(lowest_split());
    }
  }

  void take_new_splits() {
    SourceSplits& splits = *context().splits();
    if (by_split_.size() == splits.size()) return;
    while (by_split_.size() < splits.size()) {
      const auto number = static_cast<SplitNumber>(by_split_.size());
      by_split_.push_back({settings_.generator, context().input_now()});
      const auto found = restored_splits_.find(splits.id(number));
      if (found == restored_splits_.end()) continue;
      restore_generator(by_split_.back().generator, found->second);
      splits.set_watermark(number, found->second);
    }
    arm_splits();
  }

  Timestamp lowest_split() const {
    const SourceSplits& splits = *context().splits();
    return splits.lowest([&](SplitNumber number) {
      return by_split_[number].timed_out ? end_of_time : splits.watermark(number);
    });
  }

  void follow_splits(Output& out) {
    const Timestamp lowest = lowest_split();
    align(lowest);
    const bool was_inactive = std::exchange(inactive_, lowest == end_of_time);
    if (inactive_) {
      if (!was_inactive) out.set_control(Control::inactive());
    } else if (lowest > watermark_) {
      watermark_ = lowest;
      out.set_control(Control::watermark(lowest));
    } else if (was_inactive) {
      out.set_control(Control::active());
    }
  }

  void time_out_splits() {
    if (idle_ns() == 0) return;
    const std::int64_t now = context().input_now();
    for (const SplitNumber number : context().splits()->open()) {
      Split& split = by_split_[number];
      if (split.timed_out) continue;
      if (context().splits()->take_was_paused(number)) split.last_record_at = now;
      split.timed_out = now - split.last_record_at >= idle_ns();
    }
  }
  void ask_splits([[maybe_unused]] std::int64_t now) {
    if constexpr (asks_periodically<Generator>) {
      if (now < ask_at_) return;
      ask_at_ = now + interval_ns();
      SourceSplits& splits = *context().splits();
      for (const SplitNumber number : splits.open()) {
        Split& split = by_split_[number];
        if (split.timed_out || !splits.counts(number)) continue;
        const Timestamp time = split.generator.periodic(context().wall_time_ms());
        if (time > splits.watermark(number)) splits.set_watermark(number, time);
      }
    }
  }
  // For the split that has waited longest, and for a periodic generator.
  void arm_splits() {
    std::int64_t next = INT64_MAX;
    if (idle_ns() > 0) {
      for (const SplitNumber number : context().splits()->open()) {
        const Split& split = by_split_[number];
        if (!split.timed_out) next = std::min(next, idle_at(split.last_record_at));
      }
    }
    if constexpr (asks_periodically<Generator>) next = std::min(next, ask_at_);
    armed_ = next != INT64_MAX;
    if (armed_) context().call_at(next);
  }

  bool too_far_ahead() const {
    return member_ && latest() != no_timestamp &&
           time_before(latest(), settings_.ahead_ms) > settings_.alignment->lowest();
  }
  void align(Timestamp time) {
    if (member_) settings_.alignment->set(*member_, time);
  }
  void leave() {
    align(end_of_time);
    member_.reset();
  }
  // What the generator has come to; nobody has heard of it where it is ahead of watermark_.
  Timestamp latest() const {
    if (context().splits() != nullptr) return watermark_;
    return std::max(watermark_, settings_.generator.watermark());
  }
  void advance(Timestamp time, Output& out) {
    if (time <= watermark_) return;
    watermark_ = time;
    align(time);
    out.set_control(Control::watermark(time));
  }
  std::int64_t idle_ns() const { return settings_.idle_ms * 1'000'000; }
  std::int64_t interval_ns() const { return settings_.interval_ms * 1'000'000; }
  // In terms of now(), if input is taken until then.
  std::int64_t idle_at(std::int64_t last_record_at) const {
    return context().now() + idle_ns() - (context().input_now() - last_record_at);
  }
  void arm() {
    std::int64_t next = INT64_MAX;
    if (idle_ns() > 0) next = idle_at(last_record_at_);
    if constexpr (asks_periodically<Generator>) next = std::min(next, ask_at_);
    if (next != INT64_MAX) context().call_at(next);
  }

  // Up to the next record behind which a watermark is due that has_moved(): then true. Else to the
  // end of the batch.
  template <typename HasMoved>
  bool stamp_run(Batch& in, Batch& target, Generator& generator, HasMoved&& has_moved) {
    times_.resize(in.size());
    const std::size_t first = in.position();
    std::size_t at = first;
    std::size_t begin = first;
    bool due = false;
    try {
      const auto records = in.values<T>();
      while (at < records.size() && !due) {
        begin = at;
        const std::size_t end =
            at + std::min<std::size_t>(records.size() - at, settings_.every_records - since_);
        stamp_records(records.data(), at, end, generator);
        since_ += static_cast<std::uint32_t>(end - begin);
        if (since_ < settings_.every_records) break;
        since_ = 0;
        due = has_moved();
      }
    } catch (...) {
      since_ += static_cast<std::uint32_t>(at - begin);
      hand_on(in, first, at, target);
      throw;
    }
    hand_on(in, first, at, target);
    return due;
  }
  void stamp_records(const T* records, std::size_t& at, std::size_t end, Generator& generator) {
    LocalFunction<TimestampOf> timestamp_of(timestamp_of_);
    LocalValue<Generator> local_generator(generator);
    Timestamp* const times = times_.data();
    const auto stamp_one = [&](std::size_t i) {
      times[i] = static_cast<Timestamp>(timestamp_of(records[i]));
      (*local_generator).record(records[i], times[i]);
    };
    if constexpr (small_records<T>) {
      HUMMER_UNROLL
      for (; at < end; ++at) stamp_one(at);
    } else {
      for (; at < end; ++at) stamp_one(at);
    }
  }
  // The batch itself goes on when all of it does, and nobody else reads it.
  void hand_on(Batch& in, std::size_t first, std::size_t end, Batch& target) {
    if (first == 0 && end == in.size()) {
      if (!in.unique()) (void)in.make_unique();
      std::swap(in, target);
      target.advance_to(0);
      if (in.has_storage()) in.clear();
      in.advance_to(0);
      context().count_records(end);
      std::swap(times_, target.timestamps());
    } else {
      target.reserve(static_cast<std::uint32_t>(end - first));
      const T* const from = in.values<T>().data();
      T* const movable = in.unique() ? in.mutable_values<T>() : nullptr;
      T* const to = target.mutable_values<T>();
      for (std::size_t i = first; i < end; ++i) {
        move_record(to + (i - first), from + i, movable != nullptr ? movable + i : nullptr);
      }
      target.set_size(end - first);
      in.advance_to(end);
      target.timestamps().assign(times_.begin() + static_cast<std::ptrdiff_t>(first),
                                 times_.begin() + static_cast<std::ptrdiff_t>(end));
    }
  }

  TimestampOf timestamp_of_;
  WatermarkSettings<Generator> settings_;
  std::optional<WatermarkAlignment::Member> member_;
  Timestamp watermark_ = no_timestamp;
  std::uint32_t since_ = 0;  // records since the last n-th one
  RestoredWatermark restored_;
  RestoredWatermark restored_latest_;
  RestoredWatermark restored_since_;  // records; those of its own piece, or the fewest
  bool inactive_ = false;
  std::int64_t last_record_at_ = 0;
  std::int64_t ask_at_ = 0;      // a periodic generator, the next time
  std::vector<Split> by_split_;  // by number
  std::unordered_map<SplitId, Timestamp> restored_splits_;
  bool armed_ = false;  // with splits: a timer is to come
  std::vector<Timestamp> times_;
};

}  // namespace hummer
