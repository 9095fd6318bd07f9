// How often whoever waits for a job looks at it, and says that a task of it is stuck.
#pragma once

#include <cstdint>

#include "platform/time.hpp"

namespace hummer {

inline constexpr Nanoseconds tick_ns = milliseconds(100);
// A task that stays inside one operator for so long is stuck.
inline constexpr Nanoseconds stuck_patience_ns = seconds(5);
// How long one question for a savepoint waits for it; then it is asked again.
inline constexpr std::uint32_t savepoint_wait_ms = 1000;
// Between two reports of stuck tasks.
inline constexpr Nanoseconds stuck_report_ns = seconds(10);

}  // namespace hummer
