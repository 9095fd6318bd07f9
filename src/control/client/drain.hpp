// Drain: a job in this process that a signal asks to end.
//
// At the first SIGTERM or Ctrl-C its sources end, and what was read flows through to the sinks: the
// job finishes, and the program returns 0. A second one ends the process at once
// (platform/signal_watch.hpp). Only in a program that belongs to the job, that is, whose command
// line its environment has read: signals of any other are its author's.
//
// Lifecycle: lives while somebody waits for the job. Thread: theirs.
#pragma once

#include <memory>
#include <string>

#include "control/client/running_job.hpp"

namespace hummer {

class Drain {
 public:
  explicit Drain(const JobSurroundings& surroundings)
      : job_name_(surroundings.job_name),
        signals_(surroundings.from_command_line ? surroundings.platform->watch_signals()
                                                : nullptr) {}

  // The job is to be stopped, and has not been yet.
  bool due() const { return !begun_ && signals_ != nullptr && signals_->received() != 0; }
  // Once it has been told; what to say.
  std::string begin();
  // What to say of its end; empty: nothing.
  std::string end(const JobResult& result) const;

 private:
  const std::string job_name_;
  const std::unique_ptr<SignalWatch> signals_;  // null: not watched
  bool begun_ = false;
};

}  // namespace hummer
