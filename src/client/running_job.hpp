// What stands behind a JobHandle: a job that runs in this process (local_run.hpp), one on a
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
  // Waits for it, or for the job's end. `stop`: the job ends with it.
  virtual Result<std::string> savepoint(const std::string& /*directory*/, bool /*stop*/) {
    return Status(ErrorCode::invalid_configuration,
                  "the job takes no snapshots: start it with checkpoints.directory "
                  "(--checkpoint-dir), without an interval if it is for savepoints only");
  }
};

// What every form needs.
struct JobContext {
  std::shared_ptr<Platform> own_platform;  // null: the caller's
  Platform* platform = nullptr;
  std::string program;  // for hints: "wordcount", "hummer"
  std::string job_name;
  EnvironmentOptions options;
  bool from_command_line = false;
  std::shared_ptr<JobResult> last_result;  // of the environment, which may be gone before the job

  JobResult failed(Status status) const;
  // For last_result(), and a failure on standard error when a person started the job.
  void keep_and_report(const JobResult& result) const;
};

class EndedRun final : public JobHandle::Running {
 public:
  EndedRun(const JobContext& context, JobResult result);
  JobResult wait() override { return result_; }

 private:
  const JobResult result_;
};

}  // namespace hummer
