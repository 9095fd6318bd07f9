// WindowGrid: where windows that lie on a grid begin and end.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>

#include <hummer/status.hpp>
#include <hummer/time_window.hpp>
#include <hummer/watermarks.hpp>

namespace hummer {

// As wide as what stands beside it: windows without padding can be compared by their bytes.
enum class TimeDomain : std::int64_t { event, processing };

// Where windows that lie on a grid begin and end, and the slices that they are cut into: the
// longest stretches in which all windows agree.
struct WindowGrid {
  std::int64_t size_ms = 1;
  std::int64_t slide_ms = 1;
  std::int64_t offset_ms = 0;
  TimeDomain domain = TimeDomain::event;

  std::int64_t slice_ms() const { return std::gcd(size_ms, slide_ms); }
  bool is_tumbling() const { return size_ms == slide_ms; }

  // The last multiple of `step` behind the offset that is not after `time`.
  Timestamp floor(Timestamp time, std::int64_t step) const {
    if (time == no_timestamp) return no_timestamp;
    std::int64_t from = 0;
    if (__builtin_sub_overflow(time, offset_ms, &from)) [[unlikely]] {
      // A step nearer to 0 is the same place between two lines of the grid.
      from = (time > 0 ? time - step : time + step) - offset_ms % step;
    }
    std::int64_t rest = from % step;
    if (rest < 0) rest += step;
    return time_before(time, rest);
  }
  Timestamp slice_of(Timestamp time) const { return floor(time, slice_ms()); }
  // Of the windows that hold the slice beginning at `slice`; none when last_end <= slice. A window
  // that would begin before all time is none; the end of one that would last beyond is cut.
  Timestamp first_start(Timestamp slice) const {
    const Timestamp last = last_start(slice);
    const std::int64_t into = slice - last;
    if (last == no_timestamp || into >= size_ms) return time_after(last, slide_ms);
    std::uint64_t earlier = static_cast<std::uint64_t>((size_ms - 1 - into) / slide_ms);
    const std::uint64_t since_first =
        static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(no_timestamp);
    if (earlier * static_cast<std::uint64_t>(slide_ms) >= since_first) [[unlikely]] {
      earlier = (since_first - 1) / static_cast<std::uint64_t>(slide_ms);
    }
    return last - static_cast<std::int64_t>(earlier) * slide_ms;
  }
  Timestamp last_start(Timestamp slice) const { return floor(slice, slide_ms); }
  Timestamp last_end(Timestamp slice) const {
    const Timestamp start = last_start(slice);
    return start == no_timestamp ? no_timestamp : time_after(start, size_ms);
  }

  Timestamp late_before(Timestamp watermark, std::int64_t lateness_ms) const {
    const Timestamp start = time_before(time_before(watermark, lateness_ms), size_ms);
    const Timestamp last = floor(start, slide_ms);
    return last == no_timestamp ? no_timestamp : time_after(last, slide_ms);
  }
  Status check() const {
    if (size_ms < 1 || slide_ms < 1) {
      return {ErrorCode::invalid_argument, "the size and the slide of windows must be 1 or more"};
    }
    if (offset_ms <= -slide_ms || offset_ms >= slide_ms) {
      return {ErrorCode::invalid_argument,
              "the offset of windows must be smaller than their slide, " +
                  std::to_string(slide_ms) + " ms"};
    }
    return {};
  }
  // function(TimeWindow) for each that holds `time`, in order.
  template <typename Function>
  void each_window(Timestamp time, Function&& function) const {
    const Timestamp last = last_start(time);
    if (last == no_timestamp || time - last >= size_ms) return;
    for (Timestamp start = first_start(time);; start += slide_ms) {
      function(TimeWindow{start, time_after(start, size_ms)});
      if (start == last) return;  // the next one may be beyond all time
    }
  }
};

}  // namespace hummer
