// WaitingRun: a running job, and the one loop in which its client waits for it and shows it to a
// person: progress, notes, tasks that stand still, the summary, and what becomes of a signal.
//
// Only a program that belongs to the job (whose command line its environment has read) watches
// SIGTERM and Ctrl-C: signals of any other are its author's. A second one ends the process at once
// (platform/signal_watch.hpp).
//
// Thread: wait() on the client's main thread, and so are the calls that it makes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/progress.hpp"
#include "client/running_job.hpp"
#include "protocol/control.pb.h"

namespace hummer {

class WaitingRun : public JobHandle::Running {
 public:
  JobResult wait() final;

 protected:
  explicit WaitingRun(JobContext context) : context_(std::move(context)) {}

  // Without a start time where there is nothing to show.
  virtual wire::JobStatus look() = 0;
  virtual JobResult so_far(const wire::JobStatus& status) const = 0;
  // Of tasks of `status` that stand still.
  virtual std::vector<std::string> stuck_in(const wire::JobStatus& status) const = 0;
  // Lines for a person since the last call.
  virtual std::vector<std::string> take_notes() = 0;
  // The first signal came. A result: nobody waits any longer.
  virtual std::optional<JobResult> asked_to_end(int signal, Progress& progress) = 0;
  // REQUIRES: finished().
  virtual JobResult result() = 0;
  // A last line for a person; empty: none.
  virtual std::string farewell(const JobResult& /*result*/) const { return {}; }

  bool waited() const { return waited_; }

  const JobContext context_;

 private:
  void show(Progress& progress);
  JobResult keep(JobResult result);

  Nanoseconds last_stuck_report_ = 0;
  JobResult result_;
  bool waited_ = false;
};

}  // namespace hummer
