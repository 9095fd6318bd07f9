// StatefulClient: submits the one stateful job until it is taken, and watches it to its end, by its
// number; meanwhile it repeats the request for its job until that is answered. By REST, as
// programs do. A process that comes after a restart goes on with all of it. A job that was taken
// must not be forgotten.
//
// Lifecycle: of one process. Thread: that of the simulation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "client/cluster_client.hpp"
#include "platform/simulation.hpp"

namespace hummer::cluster_simulation {

enum class StatefulRequest : std::uint8_t { none, savepoint, stop_with_savepoint, cancel };

// What outlives the client's process.
struct StatefulSubmission {
  wire::SubmitJob request;
  ClusterClientOptions client;
  std::uint64_t job = 0;  // 0: not taken yet
  std::uint64_t numbered_by = 0;
  bool ended = false;
  wire::JobStatus last;
  std::string violation;

  StatefulRequest desired_state = StatefulRequest::none;
  std::uint64_t request_id = 0;
  bool request_answered = false;
  Status request_failure = {};
  std::string savepoint = {};  // its path, of the last savepoint asked for
};

class StatefulClient {
 public:
  StatefulClient(SimulatedPlatform& node, StatefulSubmission& submission);
  ~StatefulClient();

 private:
  static Task<void> pursue(StatefulClient& self);
  static Task<void> fulfil(StatefulClient& self);
  ClusterClientOptions options() const;
  static void changed(void* context, const wire::JobStatus& status);

  SimulatedPlatform& node_;
  StatefulSubmission& submission_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace hummer::cluster_simulation
