// StatefulClient: submits the one stateful job until it is taken, and watches it to its end, by its
// number; a process that comes after a restart goes on with that. A job that was taken must not be
// forgotten.
//
// Lifecycle: of one process. Thread: that of the simulation.
#pragma once

#include <memory>
#include <string>

#include "control/client/cluster_client.hpp"
#include "platform/simulation.hpp"

namespace hummer::cluster_simulation {

// What outlives the client's process.
struct StatefulSubmission {
  wire::SubmitJob request;
  ClusterClientOptions client;
  std::uint64_t job = 0;  // 0: not taken yet
  std::uint64_t numbered_by = 0;
  bool ended = false;
  wire::JobStatus last;
  std::string violation;
};

class StatefulClient {
 public:
  StatefulClient(SimulatedPlatform& node, StatefulSubmission& submission);
  ~StatefulClient();

 private:
  static Task<void> pursue(StatefulClient& self);
  static void changed(void* context, const wire::JobStatus& status);

  SimulatedPlatform& node_;
  StatefulSubmission& submission_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace hummer::cluster_simulation
