// WatermarkCoalescer: lets watermarks that no window of a grid waits for go together, ahead of an
// exchange.
//
//   OperatorResult watermark(Timestamp time, Output& out) override {
//     return coalescer_.watermark(time, out);           // also idle, flush, inactive, active
//   }
//   bool makes_watermarks() const override { return true; }
//
// A watermark goes from each subtask to each one behind the exchange, with whatever batches are
// begun; sources make one every so many records, and windows wait only for those that end a slice.
// So one that ends none is held: until `together` have come, nothing more is at hand, or a barrier
// comes. Ahead of one that ends a slice goes the last one that is held. So timers behind the
// windows fire before what the windows put out then, as if each watermark had gone alone.
//
// Only where lateness is decided ahead of the exchange, and nothing but the ends of windows makes
// the operator behind it put anything out. Owned by the operator, on its thread. (Jet's
// WatermarkCoalescer merges those of several inputs, which WatermarkMerger does here.)
#pragma once

#include <hummer/detail/window_grid.hpp>
#include <hummer/operator.hpp>

namespace hummer {

class WatermarkCoalescer {
 public:
  static constexpr int together = 256;

  explicit WatermarkCoalescer(const WindowGrid& grid) : grid_(grid) {}

  // The calls of an operator that has nothing to put out in them itself.
  OperatorResult watermark(Timestamp time, Output& out) {
    const bool ends_slice = time >= due_;
    if (ends_slice && held_ > 0) {
      send(out);
      return OperatorResult::more;
    }
    latest_ = time;
    ++held_;
    if (ends_slice || held_ == together) send(out);
    return OperatorResult::done;
  }
  OperatorResult idle(Output& out) {
    if (held_ > 0) send(out);
    return OperatorResult::done;
  }
  OperatorResult flush(Output& out) {
    if (held_ == 0) return OperatorResult::done;
    send(out);
    return OperatorResult::more;
  }
  OperatorResult inactive(Output& out) {
    if (held_ > 0) return flush(out);
    out.set_control(Control::inactive());
    due_ = no_timestamp;  // the next one says that the input is active again
    return OperatorResult::done;
  }
  OperatorResult active(Output& out) {
    out.set_control(Control::active());
    return OperatorResult::done;
  }

 private:
  void send(Output& out) {
    held_ = 0;
    due_ = time_after(grid_.slice_of(latest_), grid_.slice_ms());
    out.set_control(Control::watermark(latest_));
  }

  WindowGrid grid_;
  Timestamp latest_ = no_timestamp;
  Timestamp due_ = no_timestamp;  // one from here on ends a slice
  int held_ = 0;                  // that have come since the last one went
};

}  // namespace hummer
