// What a JobManager says about a job, in the words of the public API.
#pragma once

#include <string_view>

#include <hummer/job_result.hpp>
#include <hummer/status.hpp>

#include "protocol/control.pb.h"

namespace hummer {

// It will not change any more.
bool has_ended(wire::JobState state);
// "running"
std::string_view job_state_name(wire::JobState state);
// With how it ended, as far as it has; `seconds` since it started, by the JobManager's clock, and
// for one that runs by `wall_time_ms`.
JobResult job_result(const wire::JobStatus& job, std::int64_t wall_time_ms);

// How a vertex's running tasks spent the last second, on average. All 0: none runs.
struct VertexShares {
  std::uint32_t busy_percent = 0;
  std::uint32_t idle_percent = 0;
  std::uint32_t back_pressured_percent = 0;
};
VertexShares vertex_shares(const wire::VertexMetrics& metrics);

}  // namespace hummer
