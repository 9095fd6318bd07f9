// StatefulClient: submits the one stateful job and watches it to its end, again after each restart
// of its process, with the same submission.
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
  std::uint64_t job = 0;  // 0: not known yet
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
