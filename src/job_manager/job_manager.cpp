#include "job_manager/job_manager.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "job_manager/job_manager_state.hpp"
#include "platform/look_up_now.hpp"
#include "protocol/job_status.hpp"

namespace hummer {
namespace {

constexpr std::uint64_t wanted_descriptors = 200'000;
constexpr std::uint64_t few_descriptors = 20'000;

// Short enough to be typed; another JobManager will hardly begin at the same.
JobManagerOptions with_first_job(JobManagerOptions options, Random& random) {
  if (options.first_job == 0) options.first_job = 1000 * (1 + random.next() % 99'999) + 1;
  return options;
}

}  // namespace

JobManager::State::State(Platform& platform, JobManagerOptions options)
    : platform_(platform),
      options_(with_first_job(std::move(options), platform.random())),
      incarnation_(platform.random().next() | 1),
      numbering_(incarnation_),
      cluster_(options_) {}

Status JobManager::State::start() {
  HUMMER_ASSERT(executor_ == nullptr);
  if (options_.local == nullptr) HUMMER_TRY(listen());
  executor_ = platform_.make_executor({.name = "jobmanager"});
  disk_ = std::make_unique<CheckpointDisk>(platform_, [this] { house_event_.notify(); });
  const bool has_rest = options_.local == nullptr || !options_.rest_address.empty();
  if (has_rest) HUMMER_TRY(start_rest());
  if (options_.local != nullptr) register_local();
  executor_->spawn(event_loop(this));
  if (listener_ != nullptr) executor_->spawn(accept_all(this));
  return {};
}

Status JobManager::State::listen() {
  const Result<SocketAddress> address = look_up_now(platform_, options_.listen_address);
  if (!address.ok()) return address.status();
  raise_descriptor_limit();
  if (!options_.state_directory.empty()) HUMMER_TRY(open_journal());
  Result<std::unique_ptr<Listener>> listener =
      platform_.network().listen(*address, {.small_messages = true});
  if (!listener.ok()) return listener.status();
  listener_ = std::move(*listener);
  address_ = listener_->local_address();
  return {};
}

void JobManager::State::register_local() {
  wire::Registration registration;
  registration.set_id(std::string(local_task_manager_id));
  registration.set_incarnation(incarnation_);
  registration.set_slots(static_cast<std::uint32_t>(options_.local_slots));
  ClusterState::Refused refused;
  local_session_ = cluster_.register_worker(registration, "this process",
                                            {platform_.now(), platform_.wall_time_ms()}, refused);
  HUMMER_ASSERT(local_session_ != 0);
}

void JobManager::State::take_local_state(const wire::TaskManagerState& state) {
  (void)cluster_.take_state(local_session_, state, moment());
  something_happened();
}

Status JobManager::State::open_journal() {
  Result<std::unique_ptr<JobJournal>> journal =
      JobJournal::open(platform_, options_.state_directory);
  if (!journal.ok()) return journal.status();
  RecordedCluster recorded = (*journal)->take_recorded();
  numbering_ = recorded.identity;
  incarnation_ = mix_bits(recorded.identity + recorded.epoch) | 1;
  std::map<std::uint64_t, Result<std::string>> libraries;
  std::size_t live = 0;
  for (const JobRecord& record : recorded.jobs) {
    if (record.ended()) continue;
    ++live;
    if (record.library_hash == 0 || libraries.contains(record.library_hash)) continue;
    libraries.emplace(record.library_hash, (*journal)->read_library(record.library_hash));
  }
  log().info(fmt::format("journal in '{}': start number {}, {} jobs, {} of them not ended",
                         options_.state_directory, recorded.epoch, recorded.jobs.size(), live));
  cluster_.recover(std::move(recorded), std::move(libraries),
                   {platform_.now(), platform_.wall_time_ms()});
  journal_ = std::make_unique<JournalWriter>(platform_, std::move(*journal), house_event_);
  return {};
}

void JobManager::State::stop() {
  if (journal_ != nullptr) journal_->stop();
  if (executor_ == nullptr) return;
  disk_->stop();
  executor_->stop();
  sessions_.clear();
  rest_server_.reset();
  if (listener_ != nullptr) listener_->close();
  listener_.reset();
}

void JobManager::State::tell_what_becomes_of_jobs() {
  if (options_.local != nullptr) return;
  for (const auto& [id, job] : cluster_.jobs().all()) {
    if (job->told_ended()) continue;
    const std::string what =
        journal_ != nullptr
            ? fmt::format("goes on under the next JobManager of '{}'", options_.state_directory)
            : "ends with this JobManager, which has no --state-dir to keep it in";
    log().warning(
        fmt::format("'{}' ({}) {}", job->graph.job_name, job_state_name(job->told_state()), what),
        {.job = id, .attempt = job->attempt});
  }
}

void JobManager::State::raise_descriptor_limit() {
  const Result<std::uint64_t> limit = platform_.raise_descriptor_limit(wanted_descriptors);
  if (limit.ok() && *limit >= few_descriptors) return;
  if (!limit.ok()) return log().warning(limit.status().message());
  log().warning(
      fmt::format("at most {} files and connections may be open, each TaskManager takes one; raise "
                  "the limit (ulimit -n) for a larger cluster",
                  *limit));
}

void JobManager::State::garbage_came(const Status& why, const SocketAddress& from) {
  ++counts_.garbage;
  not_let_in(why, from);
}

void JobManager::State::not_let_in(const Status& why, const SocketAddress& from) {
  if (!log_limit_.admit(executor_->now())) return;
  log().warning(fmt::format("connection from {} closed: {}{}", from.to_string(), why.message(),
                            log_limit_.suffix()));
}

Task<void> JobManager::State::event_loop(State* self) {
  while (true) {
    if (self->happened_) {
      co_await yield();
    } else {
      Nanoseconds next = std::min(
          {self->cluster_.next_deadline(), self->parked_.next_look(), self->disk_->next_look()});
      if (self->stepped_down_) next = never;
      self->house_event_.prepare_wait();
      const bool written = self->journal_ != nullptr && self->journal_->has_news();
      if (written || self->disk_->has_outcomes()) {
        self->house_event_.cancel_wait();
      } else {
        co_await self->house_event_.wait_until(next);
      }
    }
    self->happened_ = false;
    self->round();
  }
}

void JobManager::State::step_down(const Status& why) {
  if (!std::exchange(stepped_down_, true)) log().error(why.to_string());
  (void)journal_->take_outcomes();
  (void)disk_->take_outcomes();
  const auto sessions = sessions_;  // whose tasks leave the list
  for (const auto& [session, stream] : sessions) stream->close();
}

void JobManager::State::round() {
  const Moment at = moment();
  if (const Status status = failure(); !status.ok()) return step_down(status);
  if (journal_ != nullptr) {
    for (const JournalOutcome& each : journal_->take_outcomes()) cluster_.recorded(each, at);
  }
  for (const CheckpointOutcome& outcome : disk_->take_outcomes()) cluster_.carried_out(outcome, at);
  cluster_.orders_hang(disk_->look());
  cluster_.advance(at);
  disk_->give(cluster_.take_orders());
  for (const std::uint64_t session : cluster_.take_ended_sessions()) {
    const auto found = sessions_.find(session);
    if (found != sessions_.end()) found->second->close();
  }
  for (const std::uint64_t session : cluster_.take_states_due()) {
    send_state(session, at);
  }
  std::vector<JournalEntry> entries = cluster_.take_entries_due();
  if (journal_ != nullptr && !entries.empty()) journal_->write(std::move(entries));
  const bool jobs_changed = cluster_.take_job_changes();
  parked_.look(cluster_, jobs_changed, at);
  if (jobs_changed) {
    for (WakeEvent* each : rest_waiting_) each->notify();
  }
  if (options_.local != nullptr) options_.local->round_ended(jobs_changed);
  counts_.task_managers = cluster_.workers().live().size();
  counts_.task_managers_lost = cluster_.lost();
  // What this round itself brought about, such as slots that a lost TaskManager's job gave back.
  if (cluster_.work_due()) something_happened();
}

void JobManager::State::send_state(std::uint64_t session, Moment at) {
  const auto found = sessions_.find(session);
  const bool is_local = session == local_session_;
  if (cluster_.workers().find(session) == nullptr) return;
  if (!is_local && found == sessions_.end()) return;
  wire::JobManagerState& state = *state_message_.mutable_job_manager_state();
  state.Clear();
  cluster_.state_for(session, state);
  if (is_local) return options_.local->follow(state);
  const Status sent = found->second->send(state_message_);
  if (sent.ok()) return;
  cluster_.connection_ended(session, sent, at);
  found->second->close();
}

JobManagerCounts JobManager::State::counts() const {
  JobManagerCounts counts;
  counts.connections = counts_.connections;
  counts.task_managers = counts_.task_managers;
  counts.task_managers_lost = counts_.task_managers_lost;
  counts.heartbeats = counts_.heartbeats;
  counts.refused = counts_.refused;
  counts.garbage = counts_.garbage;
  counts.stale_states = counts_.stale_states;
  return counts;
}

JobManager::JobManager(Platform& platform, JobManagerOptions options)
    : state_(std::make_unique<State>(platform, std::move(options))) {}
JobManager::~JobManager() = default;
Status JobManager::start() { return state_->start(); }
void JobManager::stop() {
  state_->stop();
  state_->tell_what_becomes_of_jobs();
}
SocketAddress JobManager::address() const { return state_->address(); }
std::optional<SocketAddress> JobManager::rest_address() const { return state_->rest_address(); }
JobManagerCounts JobManager::counts() const { return state_->counts(); }
Status JobManager::failure() const { return state_->failure(); }
Executor& JobManager::executor() { return state_->executor(); }
std::uint64_t JobManager::local_session() const { return state_->local_session(); }
std::uint64_t JobManager::incarnation() const { return state_->incarnation(); }
void JobManager::take_local_state(const wire::TaskManagerState& state) {
  state_->take_local_state(state);
}
Task<wire::ClientAnswer> JobManager::ask(wire::ClientRequest request) {
  return state_->ask(std::move(request));
}
bool JobManager::disk_is_idle() { return state_->disk_is_idle(); }

}  // namespace hummer
