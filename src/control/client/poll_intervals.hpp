// How often whoever waits for a job looks at it, and says that a task of it is stuck.
#pragma once

#include "platform/time.hpp"

namespace hummer {

inline constexpr Nanoseconds tick_ns = milliseconds(100);
// A task that stays inside one operator for so long is stuck.
inline constexpr Nanoseconds stuck_patience_ns = seconds(5);
// Between two reports of stuck tasks.
inline constexpr Nanoseconds stuck_report_ns = seconds(10);

}  // namespace hummer
