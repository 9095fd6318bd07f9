// A job in this process: client, JobManager and TaskManager by function call.
#pragma once

#include <memory>

#include "control/client/progress.hpp"
#include "control/client/running_job.hpp"
#include "control/task_manager/deployment.hpp"

namespace hummer {

class EmbeddedRun final : public JobHandle::Running {
 public:
  EmbeddedRun(JobSurroundings surroundings, std::unique_ptr<Deployment> deployment);
  // Cancels a job that nobody waited for, and waits.
  ~EmbeddedRun() override;

  Status start();
  void stop() override { deployment_->stop(); }
  void cancel() override { deployment_->cancel(); }
  bool finished() const override { return complete_ || deployment_->finished(); }
  JobResult wait() override;
  std::vector<std::string> stuck() override;

 private:
  const JobSurroundings surroundings_;
  std::unique_ptr<Deployment> deployment_;
  StuckWatch watch_;
  Nanoseconds began_ = 0;
  JobResult result_;
  bool complete_ = false;
};

}  // namespace hummer
