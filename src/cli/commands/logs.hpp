// `logs [--follow] JOB|PROCESS`: what a job has said, or a process of the cluster.
//
// PROCESS: "jobmanager", the id of a TaskManager, or the address of a process's HTTP interface. The
// last lines of its own log that it has in memory; followed by asking for news twice a second, also
// when the process was started again.
#pragma once

#include "cli/command.hpp"

namespace hummer {

int run_logs(const Invocation& invocation);

}  // namespace hummer
