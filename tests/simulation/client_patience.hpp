// What both clients of the simulated cluster do about a JobManager that does not answer: they wait
// and ask again.
#pragma once

#include <hummer/status.hpp>

#include "platform/time.hpp"

namespace hummer::cluster_simulation {

inline constexpr Nanoseconds pause_ns = milliseconds(700);

inline bool is_network_trouble(const Status& status) {
  return status.code() == ErrorCode::connection_refused ||
         status.code() == ErrorCode::connection_lost || status.code() == ErrorCode::timed_out ||
         status.code() == ErrorCode::peer_gone;
}

}  // namespace hummer::cluster_simulation
