// SimulatedClient: the client's process in a simulated cluster: it submits what the person
// wants, watches it, and stops or cancels it, by REST as the commands do. One ClusterClient per
// question at a time.
//
// Observer: the same on a node that no fault strikes; it lists jobs and TaskManagers once or
// twice a second.
//
// Lifecycle: of one process; a new object after a restart. Destroyed after its node was killed,
// or when the simulation ends. Thread: that of the simulation.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/cluster_client.hpp"
#include "platform/simulation.hpp"
#include "simulation/history.hpp"
#include "simulation/submission_plan.hpp"

namespace hummer::cluster_simulation {

// What clients share with the simulation.
struct Context {
  Simulation& simulation;
  History& history;
  Random& random;
  const int& job_manager;                // how many have been started before the one that runs
  std::function<void(std::string)> log;  // may be empty
  std::string job_manager_address;
  std::string token;
};

class SimulatedClient {
 public:
  SimulatedClient(SimulatedPlatform& node, Context& context);
  ~SimulatedClient();

  void pursue(Submission& submission) { executor_->spawn(pursue(*this, submission)); }
  // Never ends.
  void observe() { executor_->spawn(observe(*this)); }
  // How many times both lists came.
  int listings() const { return listings_; }
  const wire::JobList& jobs() const { return jobs_; }
  const wire::TaskManagerList& task_managers() const { return task_managers_; }

 private:
  static Task<void> pursue(SimulatedClient& self, Submission& submission);
  static Task<void> desired_state(SimulatedClient& self, Submission& submission, std::uint64_t job,
                                  std::uint64_t numbered_by, int round);
  static Task<void> observe(SimulatedClient& self);
  static Task<void> list(SimulatedClient& self);
  static void changed(void* context, const wire::JobStatus& status);

  ClusterClientOptions options() const;
  // Of a failed question: whether the job is gone. Ends this round of the submission then.
  void judge(Submission& submission, const Status& failure);
  void note(const Submission& submission, const std::string& text) const;

  SimulatedPlatform& node_;
  Context& context_;
  wire::JobList jobs_;
  wire::TaskManagerList task_managers_;
  int listings_ = 0;
  std::unique_ptr<Executor> executor_;
};

}  // namespace hummer::cluster_simulation
