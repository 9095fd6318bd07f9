// LateRecordsOperator: takes the records out of a stream that are too late for any
// window of a grid, ahead of the exchange by key.
//
// Lateness is decided here once, by the watermark of this subtask, so that both
// window strategies leave out the same records. A record is late when its last
// window's end plus the allowed lateness is not above the watermark. Late ones are
// counted (OperatorContext::count_late) and go to port 1 when that is wanted.
//
// Where nothing but the ends of windows makes the windows put anything out, watermarks go together
// (watermark_coalescer.hpp).
//
// State: the watermark (see hummer/detail/state/restored_watermark.hpp). Cost: one pass over the
// times; the batch itself goes on.
#pragma once

#include <algorithm>

#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/detail/operators/watermark_coalescer.hpp>
#include <hummer/detail/state/restored_watermark.hpp>
#include <hummer/windows.hpp>

namespace hummer {

inline constexpr const char* no_event_time =
    "records have no event time, which windows need: call assign_timestamps before window, or "
    "give the source timestamps";

template <StreamType T>
class LateRecordsOperator final : public Operator {
 public:
  LateRecordsOperator(const WindowGrid& grid, std::int64_t lateness_ms, bool late_output,
                      bool coalesces)
      : grid_(grid), lateness_ms_(lateness_ms), late_output_(late_output), coalesces_(coalesces) {}

  void declare(Output& out) const override {
    out.add_port(type_of<T>());
    if (late_output_) out.add_port(type_of<T>());
  }
  bool takes_all_pieces() const override { return true; }
  Status restore(ByteReader& in) override {
    std::uint8_t version = 0;
    Timestamp time = 0;
    if (!in.get_value(version) || version != 1 || !in.get_value(time)) {
      return {ErrorCode::corrupt_record, "the state of late_records makes no sense"};
    }
    restored_.add(time);
    return {};
  }
  std::vector<StateDescription> states() override { return {{"late_before", "i64"}}; }
  Status snapshot(ByteWriter& out) override {
    out.put_value(std::uint8_t{1});
    out.put_value(late_before_);
    return {};
  }
  Status open() override {
    if (restored_.known()) late_before_ = restored_.of(context());
    return grid_.check();
  }

  OperatorResult process(Batch& in, Output& out) override {
    if (in.empty()) return OperatorResult::done;
    if (!in.has_timestamps()) return context().fail({ErrorCode::invalid_argument, no_event_time});
    Timestamp least = end_of_time;
    for (std::size_t i = in.position(); i < in.size(); ++i) {
      least = std::min(least, in.timestamps()[i]);
    }
    if (least == no_timestamp) {
      return context().fail({ErrorCode::invalid_argument, no_event_time});
    }
    if (least >= late_before_ && in.position() == 0) {
      return hand_on(in, out.batch(), context());
    }
    return sort_out(in, out);
  }

  bool makes_watermarks() const override { return coalesces_; }
  OperatorResult watermark(Timestamp time, Output& out) override {
    late_before_ = std::max(late_before_, grid_.late_before(time, lateness_ms_));
    return coalesces_ ? coalescer_.watermark(time, out) : OperatorResult::done;
  }
  OperatorResult idle(Output& out) override {
    return coalesces_ ? coalescer_.idle(out) : OperatorResult::done;
  }
  OperatorResult flush(Output& out) override {
    return coalesces_ ? coalescer_.flush(out) : OperatorResult::done;
  }
  OperatorResult inactive(Output& out) override {
    return coalesces_ ? coalescer_.inactive(out) : OperatorResult::done;
  }
  OperatorResult active(Output& out) override {
    return coalesces_ ? coalescer_.active(out) : OperatorResult::done;
  }

 private:
  OperatorResult sort_out(Batch& in, Output& out) {
    const auto records = in.values<T>();
    const auto& times = in.timestamps();
    std::size_t i = in.position();
    std::uint64_t late = 0;
    {
      auto on_time = out.collector<T>(0);
      for (; i < records.size() && !on_time.full(); ++i) {
        if (times[i] >= late_before_) {
          on_time.emit(copy_of(records[i]));
          out.batch(0).timestamps().push_back(times[i]);
          continue;
        }
        ++late;
        if (!late_output_) continue;
        if (out.full(1)) {
          --late;
          break;
        }
        out.collector<T>(1).emit(copy_of(records[i]));
        out.batch(1).timestamps().push_back(times[i]);
      }
    }
    context().count_late(late);
    in.advance_to(i);
    return in.finished() ? OperatorResult::done : OperatorResult::more;
  }
  static const T& copy_of(const T& record) {
    static_assert(std::is_copy_constructible_v<T>, "records of windows must be copyable");
    return record;
  }

  WindowGrid grid_;
  std::int64_t lateness_ms_;
  bool late_output_;
  bool coalesces_;
  WatermarkCoalescer coalescer_{grid_};
  Timestamp late_before_ = no_timestamp;
  RestoredWatermark restored_;
};

}  // namespace hummer
