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
#include <type_traits>

#include <hummer/detail/window_grid.hpp>
#include <hummer/status.hpp>
#include <hummer/time_window.hpp>

namespace hummer {

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
  late_merge,   // aggregated by slice where they arise; the parts are merged at the owner
};

}  // namespace hummer
