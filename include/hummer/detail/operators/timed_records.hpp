// What the join functions share: records kept with their times, and which window
// of event time is the next to be complete.
#pragma once

#include <algorithm>
#include <optional>
#include <stdexcept>

#include <hummer/operator.hpp>
#include <hummer/side_output.hpp>
#include <hummer/windows.hpp>

namespace hummer {

// A record in the state of a join.
template <typename T>
struct Timed {
  Timestamp time;
  T record;
};

// The side outputs of a join for records whose windows are all over.
template <typename A>
inline constexpr SideOutput<A> late_first{"late_first"};
template <typename B>
inline constexpr SideOutput<B> late_second{"late_second"};

namespace detail {

inline Timestamp required_time(Timestamp time, const char* who) {
  if (time == no_timestamp) {
    throw std::runtime_error(std::string(who) + " needs event time: assign timestamps before it");
  }
  return time;
}

// The end of the first window that holds `time` and ends after `after`; nothing when there is none.
inline std::optional<Timestamp> next_end(const WindowGrid& grid, Timestamp time, Timestamp after) {
  const auto first_end_after = [&](Timestamp moment) {
    const Timestamp start = grid.floor(time_before(moment, grid.size_ms), grid.slide_ms);
    return time_after(time_after(start, grid.slide_ms), grid.size_ms);
  };
  Timestamp end = first_end_after(time);
  if (after != no_timestamp) end = std::max(end, first_end_after(after));
  if (end - grid.size_ms > time) return std::nullopt;
  return end;
}
inline std::optional<Timestamp> next_end(const SessionWindows& windows, Timestamp time,
                                         Timestamp after) {
  const Timestamp end = time_after(time, windows.gap_ms);
  if (end <= after) return std::nullopt;
  return end;
}

}  // namespace detail
}  // namespace hummer
