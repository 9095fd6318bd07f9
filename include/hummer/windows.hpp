// Windows: stretches of time (or numbers of records) over which a keyed stream is
// aggregated.
//
//   stream.key_by(&Click::user).window(TumblingWindows::of(60'000)).count()
//
//   TumblingWindows::of(size_ms, offset_ms)         [offset + n·size, offset + (n+1)·size)
//   SlidingWindows::of(size_ms, slide_ms, offset)   one begins every slide_ms; where slide > size,
//                                                   records between windows belong to none
//   SessionWindows::with_gap(ms)                    records of a key that are less than `ms` apart;
//                                                   one that would join an open one is never late
//   GlobalWindows{}                                 all records of a key; fires at the end, or by
//                                                   a trigger
//   CountWindows::of(n, slide)                      the last n records of a key, every `slide` of
//                                                   them (n by default)
//
// Two records exactly a gap apart are in two sessions. Flink joins them, unless the watermark has
// passed between them, so that its result depends on when watermarks come; with_gap(ms + 1) joins
// the same ones here, always.
//
// Windows hold [start_ms, end_ms) and are complete when the watermark has reached
// end_ms. All are of event time; `.in_processing_time()` makes tumbling, sliding
// and session windows those of the clock of the machine that they run on.
//
// A size, slide or gap below 1, or an offset whose absolute value is not below the
// slide, fails the job when it starts.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>

#include <hummer/format.hpp>
#include <hummer/status.hpp>
#include <hummer/watermarks.hpp>

namespace hummer {

// A namespace of its own, so that its format_record is found by its argument alone.
namespace event_time {

struct TimeWindow {
  Timestamp start_ms;
  Timestamp end_ms;
  friend auto operator<=>(const TimeWindow&, const TimeWindow&) = default;
};

// Start, tab, end: also inside of a record.
inline void format_record(const TimeWindow& window, std::string& out) {
  detail::format_number(window.start_ms, out);
  out.push_back('\t');
  detail::format_number(window.end_ms, out);
}

}  // namespace event_time
using event_time::TimeWindow;

// The window of GlobalWindows and CountWindows.
inline constexpr TimeWindow all_time{no_timestamp, end_of_time};

// What windowed aggregates emit. Printed as key, start, end, value, with tabs. The record's own
// time is the window's last millisecond.
template <typename K, typename V>
struct Windowed {
  K key;
  TimeWindow window;
  V value;
};
// The same of a stream without keys.
template <typename V>
struct WindowedAll {
  TimeWindow window;
  V value;
};

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

struct TumblingWindows : WindowGrid {
  static TumblingWindows of(std::int64_t size_ms, std::int64_t offset_ms = 0) {
    return {{size_ms, size_ms, offset_ms}};
  }
  TumblingWindows in_processing_time() const {
    TumblingWindows copy = *this;
    copy.domain = TimeDomain::processing;
    return copy;
  }
};

struct SlidingWindows : WindowGrid {
  static SlidingWindows of(std::int64_t size_ms, std::int64_t slide_ms,
                           std::int64_t offset_ms = 0) {
    return {{size_ms, slide_ms, offset_ms}};
  }
  SlidingWindows in_processing_time() const {
    SlidingWindows copy = *this;
    copy.domain = TimeDomain::processing;
    return copy;
  }
};

struct SessionWindows {
  std::int64_t gap_ms = 1;
  TimeDomain domain = TimeDomain::event;

  static SessionWindows with_gap(std::int64_t milliseconds) { return {milliseconds}; }
  SessionWindows in_processing_time() const { return {gap_ms, TimeDomain::processing}; }

  template <typename Function>
  void each_window(Timestamp time, Function&& function) const {
    function(TimeWindow{time, time_after(time, gap_ms)});
  }
  Status check() const {
    if (gap_ms >= 1) return {};
    return {ErrorCode::invalid_argument, "the gap of session windows must be 1 or more"};
  }
};

struct GlobalWindows {
  static constexpr TimeDomain domain = TimeDomain::event;
  template <typename Function>
  void each_window(Timestamp, Function&& function) const {
    function(all_time);
  }
  Status check() const { return {}; }
};

struct CountWindows {
  std::uint64_t size = 1;
  std::uint64_t slide = 1;

  static CountWindows of(std::uint64_t size) { return {size, size}; }
  static CountWindows of(std::uint64_t size, std::uint64_t slide) { return {size, slide}; }
  Status check() const {
    if (size >= 1 && slide >= 1) return {};
    return {ErrorCode::invalid_argument, "the size and the slide of windows must be 1 or more"};
  }
};

template <typename Windows>
inline constexpr bool on_grid = std::is_base_of_v<WindowGrid, Windows>;

// How records reach the windows of their keys.
enum class WindowStrategy : std::uint8_t {
  automatic,
  repartition,  // the records themselves go to the owner of their key
  partial,      // aggregated by slice where they arise; the parts are merged at the owner
};

}  // namespace hummer
