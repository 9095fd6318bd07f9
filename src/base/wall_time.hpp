// A time of the wall clock, for people.
#pragma once

#include <cstdint>
#include <string>

namespace hummer {

// "2026-11-21 08:50:00" in UTC; "-" for 0 and less.
std::string format_wall_time(std::int64_t milliseconds);

}  // namespace hummer
