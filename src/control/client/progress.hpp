// Progress: what a person sees of a running job on standard error.
//
// On a terminal one line that is rewritten twice a second; else a plain line
// every ten seconds. Bytes, records per second, share done, estimated rest; with
// `per_vertex` a line per vertex. Stuck slots are named once per ten seconds.
//
// Thread: the one that waits for the job.
#pragma once

#include <string>

#include "control/task_manager/deployment.hpp"
#include "control/task_manager/stuck_watch.hpp"
#include "platform/platform.hpp"

namespace hummer {

class Progress {
 public:
  Progress(Platform& platform, const Deployment& deployment, bool quiet, bool per_vertex);

  // Called a few times a second.
  void tick();
  // After the end: wipes the line and prints the summary.
  void summarize(const JobResult& result);

 private:
  std::string line() const;

  Platform& platform_;
  const Deployment& deployment_;
  const bool quiet_;
  const bool per_vertex_;
  const bool terminal_;
  const Nanoseconds began_;
  Nanoseconds last_line_ = 0;
  bool line_open_ = false;
};

std::string format_bytes(double bytes);
std::string format_count(double count);

}  // namespace hummer
