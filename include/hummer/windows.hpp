// Windows: stretches of time (or numbers of records) over which a keyed stream is
// aggregated.
//
//   stream.key_by(&Click::user).window(TumblingWindows::of(60'000)).count()
//
//   TumblingWindows::of(size_ms, offset_ms)         [offset + n·size, offset + (n+1)·size)
//   SlidingWindows::of(size_ms, slide_ms, offset)   one begins every slide_ms; where slide > size,
//                                                   records between windows belong to none
//   SessionWindows::with_gap(ms)                    records of a key that are less than `gap`
//   apart;
//                                                   one that touches an open one is never late
//   GlobalWindows{}                                 all records of a key; fires at the end, or by
//                                                   a trigger
//   CountWindows::of(n, slide)                      the last n records of a key, every `slide` of
//                                                   them (n by default)
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
    const std::int64_t from = time_before(time, offset_ms);
    if (from == no_timestamp) return no_timestamp;
    std::int64_t rest = from % step;
    if (rest < 0) rest += step;
    return time_before(time, rest);
  }
  Timestamp slice_of(Timestamp time) const { return floor(time, slice_ms()); }
  // Of the windows that hold the slice beginning at `slice`; none when last_end <= slice.
  Timestamp first_start(Timestamp slice) const {
    return time_after(floor(time_before(slice, size_ms), slide_ms), slide_ms);
  }
  Timestamp last_start(Timestamp slice) const { return floor(slice, slide_ms); }
  Timestamp last_end(Timestamp slice) const { return time_after(last_start(slice), size_ms); }

  Timestamp late_before(Timestamp watermark, std::int64_t lateness_ms) const {
    const Timestamp start = time_before(time_before(watermark, lateness_ms), size_ms);
    if (start == no_timestamp) return no_timestamp;
    return time_after(floor(start, slide_ms), slide_ms);
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
    const Timestamp slice = slice_of(time);
    for (Timestamp start = first_start(slice); start <= last_start(slice); start += slide_ms) {
      function(TimeWindow{start, time_after(start, size_ms)});
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
