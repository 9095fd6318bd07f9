// Time as the engine counts it: signed 64-bit nanoseconds.
//
// A point in time is nanoseconds since an origin that only the platform knows
// (monotonic clock on Linux, start of the simulation under the simulated form);
// only differences mean something. Wall-clock time is milliseconds since 1970
// and is for people and for event time, never for waiting.
#pragma once

#include <cstdint>
#include <limits>

namespace hummer {

using Nanoseconds = std::int64_t;

// A deadline that never comes.
inline constexpr Nanoseconds never = std::numeric_limits<Nanoseconds>::max();

constexpr Nanoseconds microseconds(std::int64_t count) { return count * 1'000; }
constexpr Nanoseconds milliseconds(std::int64_t count) { return count * 1'000'000; }
constexpr Nanoseconds seconds(std::int64_t count) { return count * 1'000'000'000; }

}  // namespace hummer
