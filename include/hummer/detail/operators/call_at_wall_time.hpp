// call_at_wall_time: OperatorContext::call_at for a moment of wall_time_ms(), which may have
// passed, or be any number of years away. For one beyond a year, timer() comes once a year until
// then: an operator asks again in timer(), as it does when nothing was due.
#pragma once

#include <algorithm>

#include <hummer/operator.hpp>

namespace hummer {

inline void call_at_wall_time(OperatorContext& context, Timestamp when_ms) {
  constexpr std::int64_t longest_wait_ms = std::int64_t{365} * 24 * 3600 * 1000;
  const Timestamp now_ms = context.wall_time_ms();
  const std::int64_t wait_ms = when_ms <= now_ms ? 0 : std::min(when_ms - now_ms, longest_wait_ms);
  context.call_at(context.now() + wait_ms * 1'000'000);
}

}  // namespace hummer
