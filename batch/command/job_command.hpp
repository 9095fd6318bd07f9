// run_job_command: runs a job for a command: progress on standard error where a person looks at it,
// the counters on standard output, and an end in good order when a signal asks for it.
//
// Thread: the main thread. The exit code: 0; 1 where the job failed; 2 where it can't be asked for;
// 128 and the number of a signal that has stopped it.
#pragma once

#include <memory>
#include <string>

#include <hummer/batch/job.hpp>
#include <hummer/status.hpp>

#include "cli/command.hpp"
#include "job_runner.hpp"

namespace hummer {

// The signals of this process, and what a job is to be told of them.
class WatchedJob {
 public:
  explicit WatchedJob(Platform& platform)
      : platform_(platform), signals_(platform.watch_signals()) {}

  batch::JobControl control(const std::string& name);
  // Says what failed; the exit code.
  int report(const Status& failure) const;

 private:
  Platform& platform_;
  const std::unique_ptr<SignalWatch> signals_;
};

int run_job_command(Platform& platform, const batch::Job& job, bool json);

// The report, as text or JSON.
std::string report_text(const batch::Job& job, const batch::JobReport& report);
std::string report_json(const batch::Job& job, const batch::JobReport& report);

}  // namespace hummer
