// Jobs and TaskManagers as JSON: the REST API's answers, read again by its clients, and the command
// line's with --json.
//
// What read_x() makes of the output of write_x() has all that write_x() has written. Members that
// are missing or of another type count as empty: another version's.
#pragma once

#include <cstdint>

#include "base/json_writer.hpp"
#include "http/json_reader.hpp"
#include "protocol/control.pb.h"

namespace hummer {

// The members of an object: number, name, state, times, failure, vertices as far as they are there.
void write_job(JsonWriter& json, const wire::JobStatus& job, std::int64_t wall_time_ms);
void read_job(JsonValue json, wire::JobStatus& job);

// The members of an object, of a job with its graph. Read: only the text for people.
void write_plan(JsonWriter& json, const wire::JobStatus& job);
void read_plan(JsonValue json, wire::JobStatus& job);

// The members of an object.
void write_task_manager(JsonWriter& json, const wire::TaskManagerStatus& worker);
void read_task_manager(JsonValue json, wire::TaskManagerStatus& worker);

}  // namespace hummer
