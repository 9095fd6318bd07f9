// How commands show a job.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/control.pb.h"

namespace hummer {

// "E3000: ..." of a failed job, the reason of a waiting one, else empty.
std::string remark_of(const wire::JobStatus& job);

// Since it was started, to its end or to now; "-" before.
std::string running_time(const wire::JobStatus& job, std::int64_t wall_time_ms);

// Several lines for people: the job, then a line per vertex.
std::string describe_job(const wire::JobStatus& job, std::int64_t wall_time_ms);

}  // namespace hummer
