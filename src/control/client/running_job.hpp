// What stands behind a JobHandle: a job that runs in this process (embedded_run.hpp), one on a
// cluster (cluster_run.hpp), or one that ended before it began (a wrong option, --help).
//
// Thread: as JobHandle.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <hummer/environment.hpp>

#include "platform/platform.hpp"

namespace hummer {

struct JobHandle::Running {
  virtual ~Running() = default;
  virtual void stop() {}
  virtual void cancel() {}
  virtual bool finished() const { return true; }
  virtual JobResult wait() { return {}; }
  virtual std::vector<std::string> stuck() { return {}; }
};

// What every form needs.
struct JobSurroundings {
  std::shared_ptr<Platform> own_platform;  // null: the caller's
  Platform* platform = nullptr;
  std::string program;  // for hints: "wordcount", "hummer"
  std::string job_name;
  EnvironmentOptions options;
  bool from_command_line = false;

  JobResult failed(Status status) const;
  // On standard error, when the job was started by a person.
  void report(const JobResult& result) const;
};

class EndedRun final : public JobHandle::Running {
 public:
  EndedRun(const JobSurroundings& surroundings, JobResult result);
  JobResult wait() override { return result_; }

 private:
  const JobResult result_;
};

}  // namespace hummer
