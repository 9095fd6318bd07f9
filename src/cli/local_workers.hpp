// LocalWorkers: the TaskManagers of a cluster that is one process: of `hummer local`, and of tests.
//
//   LocalWorkers workers(platform, libraries);
//   TaskManagerOptions options;  options.job_manager = address;  ...
//   workers.add(options);                  // begins to register
//   workers.await_registration();
//   ...
//   workers.stop();
//
// Lifecycle: platform and libraries outlive it; the destructor ends all as TaskManager's does.
// Thread: that of TaskManager::start and stop. Errors: add: those of TaskManager::start.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <hummer/status.hpp>

#include "job_library/job_libraries.hpp"
#include "platform/platform.hpp"
#include "task_manager/task_manager.hpp"

namespace hummer {

class LocalWorkers {
 public:
  LocalWorkers(Platform& platform, JobLibraries& libraries)
      : platform_(platform), libraries_(libraries) {}
  LocalWorkers(const LocalWorkers&) = delete;
  LocalWorkers& operator=(const LocalWorkers&) = delete;

  // Its number is the next one, from 0.
  Status add(TaskManagerOptions options);
  // Returns when all are registered, or gives_up() holds. Errors: that of one that was refused;
  // timed_out.
  Status await_registration(const std::function<bool()>& gives_up = [] { return false; });
  // Why the JobManager refused one of them for good; ok otherwise.
  Status refusal() const;
  // One after the other.
  void stop();

  std::size_t size() const { return workers_.size(); }
  // REQUIRES: number < size(). Null: it was killed.
  const TaskManager* at(std::size_t number) const { return workers_[number].get(); }
  // Its connections break. Nobody gets its number again.
  void kill(std::size_t number) { workers_[number].reset(); }

 private:
  Platform& platform_;
  JobLibraries& libraries_;
  std::vector<std::unique_ptr<TaskManager>> workers_;
};

}  // namespace hummer
