// AssignTimestampsOperator: gives each record its event time and makes the
// watermarks; those of its input end here. See hummer/watermarks.hpp.
//
// A watermark goes out behind the batch that moved it, so also when the input
// pauses nothing is held back; that of a periodic generator by a timer too. With idleness,
// Control::inactive follows when no record has come for so long (also when none has come at all).
//
// With an alignment it answers `blocked` while it is too far ahead of its group, and so holds back
// its source.
//
// State: its watermark. The lowest of the pieces is restored, since a new subtask
// may be given the input of any old one.
#pragma once

#include <functional>
#include <utility>

#include <hummer/operators/batch_run.hpp>
#include <hummer/watermarks.hpp>

namespace hummer {

template <StreamType T, typename TimestampOf, typename Generator>
class AssignTimestampsOperator final : public Operator {
 public:
  AssignTimestampsOperator(TimestampOf timestamp_of, WatermarkSettings<Generator> settings)
      : timestamp_of_(std::move(timestamp_of)), settings_(std::move(settings)) {}

  void declare(Output& out) const override { out.add_port(type_of<T>()); }
  bool makes_watermarks() const override { return true; }

  Status restore(ByteReader& in) override {
    std::uint8_t version = 0;
    Timestamp time = 0;
    if (!in.get_value(version) || version != 1 || !in.get_value(time)) {
      return {ErrorCode::corrupt_record, "the state of assign_timestamps makes no sense"};
    }
    watermark_ = restored_ ? std::min(watermark_, time) : time;
    restored_ = true;
    return {};
  }
  std::vector<StateDescription> states() override { return {{"watermark", "i64"}}; }
  Status snapshot(ByteWriter& out) override {
    out.put_value(std::uint8_t{1});
    out.put_value(watermark_);
    return {};
  }
  Status open() override {
    if (restored_) {
      if constexpr (requires { settings_.generator.restore(watermark_); }) {
        settings_.generator.restore(watermark_);
      }
    }
    if (settings_.interval_ms < 1) {
      return {ErrorCode::invalid_argument,
              "the interval of a watermark generator must be 1 or more"};
    }
    last_record_at_ = context().now();
    ask_at_ = last_record_at_ + interval_ns();
    arm();
    if (settings_.alignment) {
      member_ = settings_.alignment->join();
      settings_.alignment->set(*member_, watermark_);
    }
    return {};
  }
  Answer end(Output&) override {
    leave();
    return Answer::done;
  }
  Status close() override {
    leave();
    return {};
  }

  Answer process(Batch& in, Output& out) override {
    Batch& target = out.batch();
    if (!target.empty()) return Answer::more;
    HUMMER_ASSERT(in.position() == 0);
    if (too_far_ahead()) return Answer::blocked;
    stamp_all(in, target);
    context().count_records(target.size());
    if (idle_ns() > 0) {
      last_record_at_ = context().now();
      if (inactive_) {
        inactive_ = false;
        align(watermark_);
        ask_at_ = last_record_at_ + interval_ns();
        arm();
      }
    }
    advance(settings_.generator.watermark(), out);
    return Answer::done;
  }

  Answer timer(std::int64_t now, Output& out) override {
    if (inactive_) return Answer::done;
    if (idle_ns() > 0 && now - last_record_at_ >= idle_ns()) {
      inactive_ = true;
      align(end_of_time);
      out.set_control(Control::inactive());
      return Answer::done;
    }
    if constexpr (asks_periodically<Generator>) {
      if (now >= ask_at_) {
        ask_at_ = now + interval_ns();
        advance(settings_.generator.periodic(context().wall_time_ms()), out);
      }
    }
    arm();
    return Answer::done;
  }

 private:
  bool too_far_ahead() const {
    return member_ && watermark_ != no_timestamp &&
           time_before(watermark_, settings_.ahead_ms) > settings_.alignment->lowest();
  }
  void align(Timestamp time) {
    if (member_) settings_.alignment->set(*member_, time);
  }
  void leave() {
    align(end_of_time);
    member_.reset();
  }
  void advance(Timestamp time, Output& out) {
    if (time <= watermark_) return;
    watermark_ = time;
    align(time);
    out.set_control(Control::watermark(time));
  }
  std::int64_t idle_ns() const { return settings_.idle_ms * 1'000'000; }
  std::int64_t interval_ns() const { return settings_.interval_ms * 1'000'000; }
  void arm() {
    std::int64_t next = INT64_MAX;
    if (idle_ns() > 0) next = last_record_at_ + idle_ns();
    if constexpr (asks_periodically<Generator>) next = std::min(next, ask_at_);
    if (next != INT64_MAX) context().call_at(next);
  }

  // The batch itself goes on when nobody else reads it.
  void stamp_all(Batch& in, Batch& target) {
    times_.resize(in.size());
    {
      RecordInHand in_hand(in);
      const auto records = in.values<T>();
      for (std::size_t i = 0; i < records.size(); ++i) {
        in_hand.set(i);
        times_[i] = static_cast<Timestamp>(std::invoke(timestamp_of_, records[i]));
        settings_.generator.record(records[i], times_[i]);
      }
    }
    if (!in.unique()) (void)in.make_unique();
    std::swap(in, target);
    target.advance_to(0);
    target.timestamps().assign(times_.begin(), times_.end());
    if (in.has_storage()) in.clear();
    in.advance_to(0);
  }

  TimestampOf timestamp_of_;
  WatermarkSettings<Generator> settings_;
  std::optional<WatermarkAlignment::Member> member_;
  Timestamp watermark_ = no_timestamp;
  bool restored_ = false;
  bool inactive_ = false;
  std::int64_t last_record_at_ = 0;
  std::int64_t ask_at_ = 0;  // a periodic generator, the next time
  std::vector<Timestamp> times_;
};

}  // namespace hummer
