// TimeWindow: the stretch of time [start_ms, end_ms) that a window covers.
//
//   hummer::TimeWindow{60'000, 120'000}     printed as "60000", tab, "120000"; so it is inside of
//                                           a record
#pragma once

#include <compare>
#include <string>

#include <hummer/format.hpp>
#include <hummer/watermarks.hpp>

namespace hummer {

// A namespace of its own, so that its format_record is found by its argument alone.
namespace event_time {

struct TimeWindow {
  Timestamp start_ms;
  Timestamp end_ms;
  friend auto operator<=>(const TimeWindow&, const TimeWindow&) = default;
};

inline void format_record(const TimeWindow& window, std::string& out) {
  detail::format_number(window.start_ms, out);
  out.push_back('\t');
  detail::format_number(window.end_ms, out);
}

}  // namespace event_time
using event_time::TimeWindow;

}  // namespace hummer
