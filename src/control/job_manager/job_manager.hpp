// JobManager: the actor that knows the cluster's TaskManagers and jobs.
//
// It accepts TaskManagers and clients on one port, gives slots to jobs, says what
// each TaskManager should run (docs/design/2026-11-21-cluster.md: states, not commands),
// and keeps what became of each job. It runs no user code and loads no library;
// libraries pass through it as bytes.
//
// With a state directory it outlives its death: jobs are kept in a journal (job_journal.hpp). A
// submission and a wish are acknowledged, and an end is told, when the journal has them; the next
// JobManager of the directory goes on with the jobs and their numbers.
//
// When another JobManager takes the journal over in spite of its lock (job_journal.hpp), this one
// closes all connections, leads nothing any more, and failure() says why: whoever runs it ends it.
//
// Lifecycle: start() reads the journal, listens and returns; stop() (or the destructor) closes all
// connections. Thread: start and stop on the caller's; everything else on its own
// executor, the journal's writes on another. Errors: start() address_in_use, those of
// JobJournal::open, and the like. No message of a peer takes it
// down: a stranger's connection is closed and counted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "control/protocol/message_stream.hpp"
#include "platform/log.hpp"
#include "platform/platform.hpp"
#include "platform/tls.hpp"

namespace hummer {

class ProcessLog;

struct JobManagerOptions {
  std::string listen_address = "127.0.0.1:6123";
  // A further port for the HTTP interface (docs/rest.md), which the first one answers too; empty:
  // none.
  std::string rest_address;
  bool rest_may_be_missing = false;  // where something else listens there
  std::string token;
  std::shared_ptr<TlsContext> tls;  // null: plain
  std::string state_directory;      // of the journal; empty: none, and a death forgets all jobs
  Nanoseconds heartbeat_interval_ns = seconds(1);
  Nanoseconds heartbeat_timeout_ns = seconds(5);
  Nanoseconds greeting_timeout_ns = seconds(5);
  // How long a job waits for its slots before it fails.
  Nanoseconds slot_timeout_ns = seconds(300);
  // Ended jobs and lost TaskManagers that are remembered.
  std::size_t remembered_jobs = 1000;
  std::size_t remembered_task_managers = 10000;
  // Number of the first job; 0: drawn, so that `cancel 1` never means a job of a JobManager that
  // was here before.
  std::uint64_t first_job = 0;
  std::size_t log_lines_per_job = 10000;
  std::size_t max_library_bytes = std::size_t{1} << 30;
  std::size_t library_store_bytes = std::size_t{4} << 30;  // all that are not of live jobs
  MessageFaults* faults = nullptr;                         // tests
  Logger log;
  const ProcessLog* process_log = nullptr;  // what /v1/logs serves; null: nothing
};

struct JobManagerCounts {
  std::uint64_t connections = 0;    // open now
  std::uint64_t task_managers = 0;  // alive now
  std::uint64_t task_managers_lost = 0;
  std::uint64_t heartbeats = 0;
  std::uint64_t refused = 0;       // token, version, id in use
  std::uint64_t garbage = 0;       // no protocol
  std::uint64_t stale_states = 0;  // another session, or overtaken
};

class JobManager {
 public:
  JobManager(Platform& platform, JobManagerOptions options);
  ~JobManager();
  JobManager(const JobManager&) = delete;
  JobManager& operator=(const JobManager&) = delete;

  Status start();
  void stop();
  // With the real port. REQUIRES: started.
  SocketAddress address() const;
  // The same of the HTTP interface, if there is one.
  std::optional<SocketAddress> rest_address() const;
  JobManagerCounts counts() const;  // any thread
  // Why it leads no more; ok(): it does. Any thread.
  Status failure() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace hummer
