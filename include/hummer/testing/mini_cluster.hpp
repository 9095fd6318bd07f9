// MiniCluster: a JobManager and some TaskManagers in one process, for tests of a job.
//
//   hummer::MiniCluster cluster(&hummer::call_job<&count_readings>, {.task_managers = 2});
//   ASSERT_TRUE(cluster.start().ok());
//   const JobResult result = cluster.run({"--input", input, "--output", output});
//   ASSERT_TRUE(result.ok()) << result.status.to_string();
//   EXPECT_EQ(hummer::MiniCluster::lines_of(output), expected);
//
// It is the cluster that `hummer jobmanager` and `hummer taskmanager` are, with the same code, over
// TCP on loopback; only that the job is found in the program instead of in a library. So what runs
// here has been submitted, rebuilt by every TaskManager, and its records have crossed a wire.
//
// A TaskManager can be killed while a job runs (run() on a thread of the test's then):
//
//   auto running = std::async(std::launch::async, [&] { return cluster.run(arguments); });
//   ...
//   cluster.kill_task_manager(0);      // its connections break, what it ran is gone
//   ASSERT_TRUE(cluster.add_task_manager().ok());
//
// So can its state be saved, and another run, of the next version or at another parallelism, begin
// with it:
//
//   const Result<std::string> path = cluster.stop_with_savepoint();
//   ASSERT_TRUE(running.get().ok());
//   ... cluster.run({..., "--checkpoint-dir", directory,
//                    "--restore", *path, "--parallelism", "3"});
//
// Lifecycle: make, start, run any number of times, destroy when no run is under way. Thread: all
// but run() on the one that made it; run() on any. Errors: start and add_task_manager:
// address_in_use and the like; run: that of the job; savepoints: not_found when no job runs, else
// as JobHandle's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <hummer/job.hpp>
#include <hummer/status.hpp>

namespace hummer {

struct MiniClusterOptions {
  int task_managers = 2;
  int slots = 1;  // of each
};

class MiniCluster {
 public:
  explicit MiniCluster(JobFunction job, MiniClusterOptions options = {});
  ~MiniCluster();
  MiniCluster(const MiniCluster&) = delete;
  MiniCluster& operator=(const MiniCluster&) = delete;

  // Returns once all TaskManagers are registered.
  Status start();
  // The job with these arguments and options ("--parallelism", "2"), to its end.
  JobResult run(const std::vector<std::string>& arguments);

  // Of the one job that runs, for which they wait: see JobHandle. The job needs --checkpoint-dir.
  Result<std::string> savepoint(const std::string& directory = "");
  Result<std::string> stop_with_savepoint(const std::string& directory = "");

  // One that has been killed keeps its number, and nobody gets it again.
  void kill_task_manager(std::size_t number);
  // Returns once it is registered; its number is the next one.
  Status add_task_manager();
  // Parts of jobs that run there now.
  std::size_t attempts_on(std::size_t task_manager) const;

  // The lines of the file `path`, or of all files in the directory `path` that are no longer being
  // written, sorted; none when nothing is there.
  static std::vector<std::string> lines_of(const std::string& path);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace hummer
