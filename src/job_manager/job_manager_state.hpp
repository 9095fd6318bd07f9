// JobManager::State: the actor around ClusterState: connections, and one task that keeps house.
//
// Each connection is one task: handshake, then a loop that hands each message to ClusterState. All
// that follows from it (states to send, sessions to end, requests to answer) is done by the
// housekeeper, once per round of the executor, so that ten heartbeats in one round cost one look.
//
// Orders for a disk go to a CheckpointDisk, whose outcomes the housekeeper hands on.
//
// Thread: everything on executor_, but start, stop, counts and failure.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <unordered_map>

#include "job_manager/checkpoint_disk.hpp"
#include "job_manager/cluster_state.hpp"
#include "job_manager/journal_writer.hpp"
#include "job_manager/parked_requests.hpp"
#include "platform/log_limit.hpp"
#include "rest/rest_api.hpp"

namespace hummer {

class JobManager::State final : public RestBackend {
 public:
  State(Platform& platform, JobManagerOptions options);
  ~State() override { stop(); }

  Status start();
  void stop();
  // In the log, when this process ends. REQUIRES: stopped.
  void tell_what_becomes_of_jobs();
  SocketAddress address() const { return address_; }
  std::optional<SocketAddress> rest_address() const;
  JobManagerCounts counts() const;
  Status failure() const { return journal_ != nullptr ? journal_->successor() : Status(); }
  Executor& executor() { return *executor_; }
  std::uint64_t local_session() const { return local_session_; }
  std::uint64_t incarnation() const { return incarnation_; }
  void take_local_state(const wire::TaskManagerState& state);
  // rest.cpp; also what the REST API asks.
  Task<wire::ClientAnswer> ask(wire::ClientRequest request) override;
  bool disk_is_idle() { return disk_->idle() && !cluster_.work_due(); }

 private:
  // A connection that has not said who it is.
  struct Handshake {
    std::shared_ptr<MessageStream> stream;
    std::list<Handshake*>::iterator place;
    bool listed = false;
  };

  // connections.cpp. `self` outlives all tasks: stop() ends them first.
  static Task<void> accept_all(State* self);
  static Task<void> serve(State* self, std::unique_ptr<ByteStream> stream);
  // The hello, when it is one that is let in.
  static Task<Result<wire::Hello>> greet(State* self, std::shared_ptr<MessageStream> stream);
  static Task<void> serve_worker(State* self, std::shared_ptr<MessageStream> stream,
                                 wire::Registration registration);
  static Task<void> serve_client(State* self, std::shared_ptr<MessageStream> stream);
  static Task<void> refuse(State* self, std::shared_ptr<MessageStream> stream, Status why,
                           bool may_retry);
  Status check_hello(const wire::Hello& hello) const;
  void welcome(MessageStream& stream, std::uint64_t session);
  Status take_worker_message(MessageStream& stream, std::uint64_t session,
                             const wire::Envelope& message);
  void take_client_request(const std::shared_ptr<ClientConnection>& client,
                           wire::ClientRequest request);
  void list_handshake(Handshake& handshake);
  void unlist_handshake(Handshake& handshake);

  // job_manager.cpp
  Status open_journal();
  Status listen();
  void register_local();
  void send_state(std::uint64_t session, Moment at);
  static Task<void> event_loop(State* self);
  void round();
  // Another one leads: nothing of this one's may reach anybody any more.
  void step_down(const Status& why);
  void raise_descriptor_limit();

  // rest.cpp: what the REST API asks.
  Status start_rest();
  std::string metrics() override;
  Status ready() override;
  std::uint64_t draw() override { return platform_.random().next(); }
  std::uint64_t numbering() const override { return numbering_; }
  std::int64_t wall_time_ms() override { return executor_->wall_time_ms(); }
  const ProcessLog* process_log() override { return options_.process_log; }

  void something_happened() {
    happened_ = true;
    house_event_.notify();
  }
  Moment moment() const { return {executor_->now(), executor_->wall_time_ms()}; }
  const Logger& log() const { return options_.log; }
  void garbage_came(const Status& why, const SocketAddress& from);
  void not_let_in(const Status& why, const SocketAddress& from);

  struct Counts {
    std::atomic<std::uint64_t> connections{0};
    std::atomic<std::uint64_t> task_managers{0};
    std::atomic<std::uint64_t> task_managers_lost{0};
    std::atomic<std::uint64_t> heartbeats{0};
    std::atomic<std::uint64_t> refused{0};
    std::atomic<std::uint64_t> garbage{0};
    std::atomic<std::uint64_t> stale_states{0};
  };

  Platform& platform_;
  const JobManagerOptions options_;
  std::uint64_t incarnation_;  // of this process
  std::uint64_t numbering_;    // who numbers the jobs: the journal's identity, or this process
  std::unique_ptr<Executor> executor_;  // stopped before the rest goes
  SocketAddress address_;
  Counts counts_;
  LogLimit log_limit_;
  WakeEvent house_event_;
  bool happened_ = false;  // also within a round, when nobody waits for the event
  bool stepped_down_ = false;
  ClusterState cluster_;
  std::unique_ptr<JournalWriter> journal_;  // null: without one
  ParkedRequests parked_;
  std::unordered_map<std::uint64_t, std::shared_ptr<MessageStream>> sessions_;
  std::uint64_t local_session_ = 0;   // of options_.local
  std::list<Handshake*> handshakes_;  // oldest first
  std::unique_ptr<Listener> listener_;
  // REST speaks at the control port too, and at a port of its own when it is told one.
  std::unique_ptr<RestApi> rest_api_;
  std::unique_ptr<HttpServer> rest_server_;
  bool rest_listens_ = false;
  std::list<WakeEvent*> rest_waiting_;  // its requests that wait for a change
  wire::Envelope state_message_;        // of the housekeeper; kept for its memory
  std::unique_ptr<CheckpointDisk> disk_;
};

}  // namespace hummer
