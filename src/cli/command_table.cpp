#include "cli/command_table.hpp"

#include <array>

#include "cli/commands/checkpoint.hpp"
#include "cli/commands/config.hpp"
#include "cli/commands/end_job.hpp"
#include "cli/commands/job_manager.hpp"
#include "cli/commands/list.hpp"
#include "cli/commands/local.hpp"
#include "cli/commands/logs.hpp"
#include "cli/commands/savepoint.hpp"
#include "cli/commands/status.hpp"
#include "cli/commands/submit.hpp"
#include "cli/commands/task_manager.hpp"
#include "cli/commands/task_managers.hpp"

namespace hummer {

std::span<const Command> cluster_commands() {
  static const std::array commands = {
      Command{"jobmanager", "[--listen ADDRESS]...", "runs the JobManager of a cluster",
              &run_job_manager},
      Command{"taskmanager", "[--slots N]...", "runs a worker of a cluster", &run_task_manager},
      Command{"local", "[--workers N]...", "runs a whole cluster in this process, for development",
              &run_local},
      Command{"submit", "[LIBRARY] [--name VALUE]...", "submits a job and watches it", &run_submit},
      Command{"list", "", "jobs of a cluster", &run_list},
      Command{"status", "JOB", "a job's state and metrics", &run_status},
      Command{"savepoint", "JOB [DIR]", "saves a job's state", &run_savepoint},
      Command{"stop", "JOB", "ends a job in good order", &run_stop},
      Command{"cancel", "JOB", "ends a job at once", &run_cancel},
      Command{"logs", "JOB|PROCESS", "what a job or a process has logged", &run_logs},
      Command{"taskmanagers", "", "workers of a cluster", &run_task_managers},
      Command{"checkpoint", "ls|inspect|verify|export PATH", "looks at checkpoints on disk",
              &run_checkpoint},
      Command{"config", "show [PROGRAM] [--name VALUE]...", "options in effect, and where from",
              &run_config},
  };
  return commands;
}

}  // namespace hummer
