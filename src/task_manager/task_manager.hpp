// TaskManager: the actor that runs parts of jobs in its slots.
//
// It registers with the JobManager, sends its state as heartbeat, and makes what it
// runs equal to what the JobManager says it should (docs/design/0002-cluster.md). When the
// JobManager is gone it cancels everything and registers again, for ever, with growing pauses
// (0.1 s to 5 s). What a user function that does not return still holds is not waited for: its slot
// is not offered, it is named in the log and to the JobManager, and what it does when it returns
// changes nothing (attempt_host.hpp). A user function that fails or throws ends its job, never this
// process.
//
// Lifecycle: start() opens the data plane and begins to register; stop() cancels all, tells the
// JobManager, and returns when no code of a job runs any more, or gives up on it after
// `stop_patience_ns`: then stuck() names what does not end, its threads are left behind, and the
// process should end soon, without destroying the platform or the libraries. The destructor without
// stop() before it ends everything at once, but waits for user functions that run.
// Thread: start, stop and the destructor on the caller's (the platform's main thread); control on
// one executor, the data plane on another, each job's load and build on one of its own, each slot
// in use on one. Errors: start(): a data address that is malformed, in use or not of this host.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <hummer/detail/memory_account.hpp>

#include "job_library/job_libraries.hpp"
#include "platform/log.hpp"
#include "platform/platform.hpp"
#include "platform/remote_memory.hpp"
#include "platform/tls.hpp"
#include "protocol/message_stream.hpp"

namespace hummer {

class ProcessLog;

struct TaskManagerOptions {
  std::string id;  // empty: drawn
  std::string job_manager = "127.0.0.1:6123";
  std::string token;
  std::shared_ptr<TlsContext> tls;  // of control and data; null: plain
  int slots = 1;
  std::string host;  // empty: the machine's name
  // Where the data plane listens: "127.0.0.1:0", or one per interface: "eth1=10.0.2.1:0".
  std::vector<std::string> data_addresses = {"127.0.0.1:0"};
  std::uint64_t program_hash = 0;  // application mode
  // What all jobs here may hold in memory, in bytes (memory_account.hpp; 0: no limit;
  // memory_limit_from_environment), and where state goes that has no room in it.
  std::size_t memory_limit_bytes = 0;
  std::string spill_directory = default_spill_directory;
  std::string rdma_provider = "none";  // find_remote_memory.hpp
  Nanoseconds stop_patience_ns = seconds(10);
  Nanoseconds stuck_patience_ns = seconds(5);   // before what stands still is called stuck
  MessageFaults* faults = nullptr;              // tests
  RemoteMemoryDevice* remote_memory = nullptr;  // tests: in place of what rdma_provider names
  std::string rest_address;                     // of the HTTP interface (docs/rest.md); empty: none
  // Where lines go; from the control and data executors, those of jobs, and stop()'s thread.
  LogSink* log = nullptr;
  const ProcessLog* process_log = nullptr;  // what /v1/logs serves; null: nothing
};

class TaskManager {
 public:
  TaskManager(Platform& platform, JobLibraries& libraries, TaskManagerOptions options);
  ~TaskManager();
  TaskManager(const TaskManager&) = delete;
  TaskManager& operator=(const TaskManager&) = delete;

  Status start();
  void stop();
  const std::string& id() const;
  // Of the HTTP interface, with its real port, if there is one. REQUIRES: started.
  std::optional<SocketAddress> rest_address() const;
  // Any thread.
  bool registered() const;
  std::size_t attempts() const;  // that have not ended
  // What runs here now, and in which slots. Simulations only: one thread runs everything there.
  struct Held {
    std::uint64_t job = 0;
    std::uint32_t attempt = 0;
    std::uint32_t region = 0;
    std::vector<int> slots;
  };
  std::vector<Held> held() const;
  // Why the JobManager refused it for good (token, version); ok otherwise.
  Status refusal() const;
  // After stop(): what it gave up on; empty otherwise.
  const std::vector<std::string>& stuck() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace hummer
