// JobManager: the actor that knows the cluster's TaskManagers and jobs.
//
// It accepts TaskManagers and clients on one port, gives slots to jobs, says what
// each TaskManager should run (docs/design/0002-cluster.md: states, not commands),
// and keeps what became of each job. It runs no user code and loads no library;
// libraries pass through it as bytes.
//
// With a state directory it outlives its death: jobs are kept in a journal (job_journal.hpp). A
// submission and a request are acknowledged, and an end is told, when the journal has them; the
// next JobManager of the directory goes on with the jobs and their numbers.
//
// When another JobManager takes the journal over in spite of its lock (job_journal.hpp), this one
// closes all connections, leads nothing any more, and failure() says why: whoever runs it ends it.
//
// A job that runs in its client's process is led by one too, which has a local TaskManager
// (client/local_run.hpp): the same decisions, by local calls.
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
#include <string_view>

#include "platform/log.hpp"
#include "platform/platform.hpp"
#include "platform/task.hpp"
#include "platform/tls.hpp"
#include "protocol/control.pb.h"
#include "protocol/message_stream.hpp"

namespace hummer {

class MetricsText;
class ProcessLog;

// A TaskManager in the JobManager's own process, for jobs that run in their client's. Called on the
// JobManager's executor; it answers by JobManager::take_local_state.
class LocalTaskManager {
 public:
  virtual ~LocalTaskManager() = default;
  // What it should have now (docs/design/0002-cluster.md), as others get it by message.
  virtual void follow(const wire::JobManagerState& state) = 0;
  // After each round in which the JobManager looked at what had happened. `jobs_changed`: the state
  // of a job has.
  virtual void round_ended(bool jobs_changed) = 0;
  // What a TaskManager shows at /metrics; the JobManager's page has it.
  virtual void write_metrics(MetricsText& text) = 0;
};

inline constexpr std::string_view local_task_manager_id = "embedded";

struct JobManagerOptions {
  std::string listen_address = "127.0.0.1:6123";  // unused with a local TaskManager
  // The only TaskManager of this JobManager, which outlives it; null: they register. What follows
  // from it: nothing listens but the HTTP interface, a job's checkpoints are in the directory that
  // was configured and not in one of the job's below it, a job whose checkpoints are gone fails
  // where it would wait for them, and stop() is silent.
  LocalTaskManager* local = nullptr;
  int local_slots = 1;
  // A further port for the HTTP interface (docs/rest.md), which the first one answers too; empty:
  // none.
  std::string rest_address;
  bool rest_may_be_missing = false;  // where something else listens there
  std::string token;
  std::shared_ptr<TlsContext> tls;  // null: plain
  std::string state_directory;      // of the journal; empty: none, and a death forgets all jobs
  Nanoseconds heartbeat_interval_ns = seconds(1);
  Nanoseconds heartbeat_timeout_ns = seconds(5);
  Nanoseconds handshake_timeout_ns = seconds(5);
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

  // ---- with a local TaskManager; on executor() ----
  Executor& executor();
  // The session, and a number that tells this JobManager from others.
  std::uint64_t local_session() const;
  std::uint64_t incarnation() const;
  void take_local_state(const wire::TaskManagerState& state);
  // As a client asks. With no time to wait it is answered at once.
  Task<wire::ClientAnswer> ask(wire::ClientRequest request);
  // Nothing is ordered from the disk that has not been carried out.
  bool disk_is_idle();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace hummer
