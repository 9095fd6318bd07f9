#include "control/job_manager/job_manager.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "control/job_manager/job_manager_state.hpp"

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
      incarnation_(platform.random().next()),
      cluster_(options_) {}

Status JobManager::State::start() {
  HUMMER_ASSERT(executor_ == nullptr);
  const Result<SocketAddress> address = platform_.network().resolve(options_.listen_address);
  if (!address.ok()) return address.status();
  raise_descriptor_limit();
  Result<std::unique_ptr<Listener>> listener = platform_.network().listen(*address);
  if (!listener.ok()) return listener.status();
  listener_ = std::move(*listener);
  address_ = listener_->local_address();
  executor_ = platform_.make_executor({.name = "jobmanager"});
  disk_ = std::make_unique<CheckpointDisk>(platform_, [this] { house_event_.notify(); });
  HUMMER_TRY(start_rest());
  executor_->spawn(keep_house(this));
  executor_->spawn(accept_all(this));
  return {};
}

void JobManager::State::stop() {
  if (executor_ == nullptr) return;
  disk_->stop();
  executor_->stop();
  sessions_.clear();
  rest_server_.reset();
  if (listener_ != nullptr) listener_->close();
  listener_.reset();
}

void JobManager::State::raise_descriptor_limit() {
  const Result<std::uint64_t> limit = platform_.raise_descriptor_limit(wanted_descriptors);
  if (limit.ok() && *limit >= few_descriptors) return;
  if (!limit.ok()) return log(limit.status().message());
  log(
      fmt::format("at most {} files and connections may be open, each TaskManager takes one; raise "
                  "the limit (ulimit -n) for a larger cluster",
                  *limit));
}

void JobManager::State::log(const std::string& line) const {
  if (options_.log != nullptr) options_.log(options_.log_context, line);
}

void JobManager::State::garbage_came(const Status& why, const SocketAddress& from) {
  const std::uint64_t count = ++counts_.garbage;
  // A stranger who keeps trying must not fill the log.
  if ((count & (count - 1)) == 0) {
    log(fmt::format("connection from {} closed: {} ({} such so far)", from.to_string(),
                    why.message(), count));
  }
}

Task<void> JobManager::State::keep_house(State* self) {
  while (true) {
    if (self->happened_) {
      co_await yield();
    } else {
      const Nanoseconds next = std::min(self->cluster_.next_deadline(), self->parked_.next_look());
      self->house_event_.prepare_wait();
      if (self->disk_->has_outcomes()) {
        self->house_event_.cancel_wait();
      } else {
        co_await self->house_event_.wait_until(next);
      }
    }
    self->happened_ = false;
    self->round();
  }
}

void JobManager::State::round() {
  const Moment at = moment();
  for (const CheckpointOutcome& outcome : disk_->take_outcomes()) cluster_.carried_out(outcome, at);
  cluster_.advance(at);
  disk_->give(cluster_.take_orders());
  for (const std::uint64_t session : cluster_.take_ended_sessions()) {
    const auto found = sessions_.find(session);
    if (found != sessions_.end()) found->second->close();
  }
  for (const std::uint64_t session : cluster_.take_states_due()) {
    const auto found = sessions_.find(session);
    if (found == sessions_.end() || cluster_.workers().find(session) == nullptr) continue;
    state_message_.mutable_job_manager_state()->Clear();
    cluster_.state_for(session, *state_message_.mutable_job_manager_state());
    const Status sent = found->second->send(state_message_);
    if (sent.ok()) continue;
    cluster_.connection_ended(session, sent, at);
    found->second->close();
  }
  parked_.look(cluster_, cluster_.take_job_changes(), at);
  counts_.task_managers = cluster_.workers().live().size();
  counts_.task_managers_lost = cluster_.lost();
  // What this round itself brought about, such as slots that a lost TaskManager's job gave back.
  if (cluster_.work_due()) something_happened();
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
void JobManager::stop() { state_->stop(); }
SocketAddress JobManager::address() const { return state_->address(); }
std::optional<SocketAddress> JobManager::rest_address() const { return state_->rest_address(); }
JobManagerCounts JobManager::counts() const { return state_->counts(); }

}  // namespace hummer
