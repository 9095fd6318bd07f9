#include "control/metrics/metrics_text.hpp"

namespace hummer {
namespace {

constexpr Metric table[] = {
    {"hummer_connections", "gauge", "", "Connections that are open on the control port."},
    {"hummer_garbage_connections_total", "counter", "",
     "Connections closed because what came was no protocol."},
    {"hummer_heartbeats_total", "counter", "", "States that TaskManagers have sent."},
    {"hummer_job_attempt", "gauge", "job, name", "How often the job was started before."},
    {"hummer_job_running_seconds", "gauge", "job, name", "Since the job was started."},
    {"hummer_job_slots", "gauge", "job, name", "Slots that the job has."},
    {"hummer_job_state", "gauge", "job, name, state", "1 for the state that the job is in."},
    {"hummer_job_stuck_slots", "gauge", "job, name",
     "Slots that a user function has not given back for longer than the patience."},
    {"hummer_jobs", "gauge", "state", "Jobs that the JobManager remembers, by state."},
    {"hummer_operator_bytes_total", "counter", "job, name, vertex, operator",
     "Bytes that a source has read or a sink has written."},
    {"hummer_operator_records_in_total", "counter", "job, name, vertex, operator",
     "Records that an operator has taken, over all subtasks."},
    {"hummer_operator_records_out_total", "counter", "job, name, vertex, operator",
     "Records that an operator has emitted, over all subtasks."},
    {"hummer_refused_connections_total", "counter", "",
     "Connections refused for their token, version or id."},
    {"hummer_slots", "gauge", "task_manager", "Slots that a TaskManager offers."},
    {"hummer_slots_free", "gauge", "task_manager", "Slots of a TaskManager that no job has."},
    {"hummer_stale_states_total", "counter", "",
     "TaskManagers' states dropped: overtaken, or of an earlier session."},
    {"hummer_task_manager_heartbeat_age_seconds", "gauge", "task_manager",
     "Since a TaskManager was last heard of."},
    {"hummer_task_managers", "gauge", "", "TaskManagers that are alive."},
    {"hummer_task_managers_lost_total", "counter", "", "TaskManagers that were lost."},
    {"hummer_vertex_tasks_finished", "gauge", "job, name, vertex", "Tasks that have ended."},
    {"hummer_vertex_tasks_running", "gauge", "job, name, vertex", "Tasks that run."},
};

}  // namespace

std::span<const Metric> metrics_table() { return table; }

}  // namespace hummer
