// Jobs and TaskManagers as JSON: the REST API's answers, and the command line's with --json.
#pragma once

#include <cstdint>

#include "control/protocol/control.pb.h"
#include "graph/json_writer.hpp"

namespace hummer {

// The members of an object: number, name, state, times, failure, vertices as far as they are there.
void write_job(JsonWriter& json, const wire::JobStatus& job, std::int64_t wall_time_ms);

// The members of an object.
void write_task_manager(JsonWriter& json, const wire::TaskManagerStatus& worker);

}  // namespace hummer
