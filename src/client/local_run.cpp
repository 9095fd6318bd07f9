#include "client/local_run.hpp"

#include <utility>

#include <fmt/format.h>

#include "client/local_token.hpp"
#include "client/poll_intervals.hpp"
#include "client/submit.hpp"
#include "platform/free_memory.hpp"
#include "platform/memory_limit.hpp"
#include "platform/run_task.hpp"
#include "protocol/graph_messages.hpp"
#include "protocol/job_status.hpp"
#include "task_manager/task_manager_metrics.hpp"

namespace hummer {

void LocalRun::Notes::add(std::string text) {
  const std::lock_guard lock(mutex_);
  texts_.push_back("hummer: " + std::move(text));
}

std::vector<std::string> LocalRun::Notes::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(texts_, {});
}

LocalRun::LocalRun(JobContext context, PreparedJob job, int slots, const JobInterface& interface)
    : WaitingRun(std::move(context)),
      job_(std::move(job)),
      made_token_(interface.made_token ? interface.token : ""),
      interface_encrypted_(interface.tls != nullptr),
      began_(context_.platform->now()) {
  host_ = std::make_unique<AttemptHost>(attempt_context());
  JobManagerOptions options;
  options.local = this;
  options.local_slots = slots;
  options.rest_address = interface.listen;
  options.token = interface.token;
  options.tls = interface.tls;
  options.log = Logger(&notes_, LogModule::cluster);
  manager_ = std::make_unique<JobManager>(*context_.platform, std::move(options));
}

LocalRun::~LocalRun() {
  if (started_ && !finished()) {
    cancel();
    (void)context_.platform->run_until([&] { return finished(); }, never);
  }
  if (!waited()) {
    *context_.last_result = context_.failed({ErrorCode::cancelled, "nobody waited for the job"});
  }
  if (const auto rest = manager_->rest_address(); rest && !made_token_.empty()) {
    withdraw_local_token(*context_.platform, *rest);
  }
  manager_->stop();
  host_.reset();
}

AttemptContext LocalRun::attempt_context() {
  const EnvironmentOptions& options = context_.options;
  const MemoryLimit limit = effective_memory_limit(*context_.platform, options.memory_limit_bytes);
  if (limit.somebody_chose()) keep_large_memory_apart();
  AttemptContext process;
  process.platform = context_.platform;
  process.changed = &changed_;
  process.stuck_patience_ns = stuck_patience_ns;
  memory_ = MemoryAccount::make_root("this process", limit.bytes, limit.from);
  process.memory = memory_;
  process.spill_directory = options.spill_directory;
  process.log = Logger(&notes_, LogModule::cluster);
  shuffle_ = std::make_unique<ShuffleStore>(*context_.platform, options.spill_directory,
                                            Logger(&notes_, LogModule::cluster));
  process.shuffle = shuffle_.get();
  process.prepared = &job_;
  process.on_note = [this](std::string text) { notes_.add(std::move(text)); };
  return process;
}

Status LocalRun::start() {
  HUMMER_TRY(manager_->start());
  if (const auto rest = manager_->rest_address()) {
    notes_.add(fmt::format("HTTP interface at {}://{}/v1/overview",
                           interface_encrypted_ ? "https" : "http", rest->to_string()));
    publish_token();
  }
  started_ = true;
  manager_->executor().spawn(run(*this));
  return {};
}

void LocalRun::publish_token() {
  if (made_token_.empty()) return;
  const Result<std::string> path =
      publish_local_token(*context_.platform, *manager_->rest_address(), made_token_);
  notes_.add(path.ok()
                 ? fmt::format("its token, which commands of this user find, is in '{}'", *path)
                 : "warning: " + path.status().to_string());
}

void LocalRun::stop() {
  stop_requested_.store(true, std::memory_order_release);
  changed_.raise();
}

void LocalRun::cancel() {
  cancel_requested_.store(true, std::memory_order_release);
  changed_.raise();
}

// ---- on the JobManager's executor ----

wire::SubmitJob LocalRun::submission() const {
  wire::SubmitJob job;
  job.set_submission_id(context_.platform->random().next() | 1);
  to_message(job_.job, *job.mutable_graph());
  *job.mutable_options() = job_options(context_.options);
  // Somebody sits before it.
  job.mutable_options()->set_check_views(context_.options.check_views != CheckViews::off);
  return job;
}

void LocalRun::follow(const wire::JobManagerState& state) {
  messages_.seen(state.state_seen());
  if (!host_->apply(state)) return;
  report_due_ = true;
  changed_.event.notify();
}

void LocalRun::round_ended(bool jobs_changed) {
  query_due_ |= jobs_changed;
  changed_.event.notify();
}

void LocalRun::write_metrics(MetricsText& text) {
  const Nanoseconds now = context_.platform->now();
  ProcessMetrics metrics;
  metrics.attempts = host_->samples(now);
  metrics.stuck = host_->stuck(now);
  metrics.memory = memory_->metrics();
  metrics.shuffle = shuffle_->usage();
  metrics.memory_limit_bytes = memory_->limit_bytes();
  metrics.resident_bytes = context_.platform->resident_bytes();
  write_process_metrics(text, metrics);
}

void LocalRun::report() {
  report_due_ = false;
  const Nanoseconds now = context_.platform->now();
  manager_->take_local_state(messages_.build(host_->reports(now), host_->wanted()));
}

Task<void> LocalRun::run(LocalRun& self) {
  const std::uint64_t session = self.manager_->local_session();
  self.host_->begin_session(session, self.manager_->incarnation());
  self.messages_.begin_session(session);
  wire::ClientRequest request;
  *request.mutable_submit() = self.submission();
  const wire::ClientAnswer taken = co_await self.manager_->ask(std::move(request));
  if (taken.has_failure()) co_return self.end(status_from(taken.failure()));
  self.number_ = taken.submitted().job();
  Result<wire::JobStatus> status(wire::JobStatus{});
  while (status.ok() && !has_ended(status->state())) {
    const bool changed = self.changed_.take();
    if (self.host_->look() || changed || self.report_due_) self.report();
    co_await self.send_desired_statees();
    if (std::exchange(self.query_due_, false)) status = co_await self.query();
    self.changed_.event.prepare_wait();
    if (self.report_due_ || self.query_due_ || self.changed_.raised()) {
      self.changed_.event.cancel_wait();
      co_await yield();
    } else if (status.ok() && !has_ended(status->state())) {
      co_await self.changed_.event.wait();
    } else {
      self.changed_.event.cancel_wait();
    }
  }
  co_await self.await_disk();
  self.end(std::move(status));
}

// What is removed at the end is gone when the program is.
Task<void> LocalRun::await_disk() {
  for (;;) {
    changed_.event.prepare_wait();
    if (manager_->disk_is_idle()) break;
    co_await changed_.event.wait();
  }
  changed_.event.cancel_wait();
}

Task<void> LocalRun::send_desired_statees() {
  wire::DesiredState desired_state = wire::DESIRED_RUN;
  if (stop_requested_.load(std::memory_order_acquire)) desired_state = wire::DESIRED_STOP;
  if (cancel_requested_.load(std::memory_order_acquire)) desired_state = wire::DESIRED_CANCEL;
  if (desired_state <= sent_desired_state_) co_return;
  sent_desired_state_ = desired_state;
  wire::ClientRequest request;
  request.mutable_end()->set_job(number_);
  request.mutable_end()->set_desired_state(desired_state);
  (void)co_await manager_->ask(std::move(request));
}

Task<Result<wire::JobStatus>> LocalRun::query() {
  wire::ClientRequest request;
  request.mutable_job()->set_job(number_);
  wire::ClientAnswer answer = co_await manager_->ask(std::move(request));
  if (answer.has_failure()) co_return status_from(answer.failure());
  co_return std::move(*answer.mutable_job());
}

void LocalRun::end(Result<wire::JobStatus> status) {
  Platform& platform = *context_.platform;
  result_ =
      status.ok() ? job_result(*status, platform.wall_time_ms()) : context_.failed(status.status());
  result_.job_name = context_.job_name;
  const Nanoseconds tasks_ended = host_->tasks_ended_at();
  result_.seconds =
      static_cast<double>((tasks_ended != 0 ? tasks_ended : platform.now()) - began_) / 1e9;
  ended_.store(true, std::memory_order_release);
  platform.notify_main();
}

// ---- on the threads of the handle ----

Task<wire::JobStatus> LocalRun::ask_how_it_is(LocalRun& self) {
  if (self.number_ == 0) co_return wire::JobStatus{};
  self.report();
  Result<wire::JobStatus> status = co_await self.query();
  co_return status.ok() ? std::move(*status) : wire::JobStatus{};
}

wire::JobStatus LocalRun::look() {
  if (finished()) return {};
  return run_task(*context_.platform, manager_->executor(), ask_how_it_is(*this))
      .value_or(wire::JobStatus{});
}

// Who has it is known: there is one.
std::vector<std::string> LocalRun::stuck_in(const wire::JobStatus& status) const {
  const std::string holder = std::string(local_task_manager_id) + ": ";
  std::vector<std::string> texts(status.stuck().begin(), status.stuck().end());
  for (std::string& text : texts) {
    if (text.starts_with(holder)) text.erase(0, holder.size());
  }
  return texts;
}

std::vector<std::string> LocalRun::stuck() { return stuck_in(look()); }

Task<Result<std::string>> LocalRun::ask_for_savepoint(LocalRun& self,
                                                      wire::TakeSavepoint savepoint) {
  while (self.number_ == 0 && !self.finished()) co_await sleep_for(milliseconds(1));
  savepoint.set_job(self.number_);
  for (;;) {
    wire::ClientRequest request;
    *request.mutable_savepoint() = savepoint;
    const wire::ClientAnswer answer = co_await self.manager_->ask(std::move(request));
    if (answer.has_failure()) co_return status_from(answer.failure());
    if (!answer.savepoint().path().empty()) co_return answer.savepoint().path();
  }
}

Result<std::string> LocalRun::savepoint(const std::string& directory, bool stop) {
  if (!context_.options.checkpoints.enabled()) return Running::savepoint(directory, stop);
  wire::TakeSavepoint savepoint;
  savepoint.set_request_id(context_.platform->random().next() | 1);
  savepoint.set_directory(directory);
  savepoint.set_stop(stop);
  savepoint.set_wait_ms(savepoint_wait_ms);
  std::optional<Result<std::string>> path = run_task(
      *context_.platform, manager_->executor(), ask_for_savepoint(*this, std::move(savepoint)));
  if (!path) return Status(ErrorCode::internal, "the savepoint can never come");
  return std::move(*path);
}

JobResult LocalRun::so_far(const wire::JobStatus& status) const {
  JobResult result = job_result(status, context_.platform->wall_time_ms());
  result.seconds = static_cast<double>(context_.platform->now() - began_) / 1e9;
  return result;
}

// It is drained: its sources end, what was read flows through to the sinks, and it finishes.
std::optional<JobResult> LocalRun::asked_to_end(int signal, Progress& progress) {
  drained_ = true;
  stop();
  progress.note(fmt::format(
      "hummer: {}: its sources end (signal {}), what was read is finished; a second signal ends it "
      "at once",
      context_.job_name, signal));
  return std::nullopt;
}

std::string LocalRun::farewell(const JobResult& result) const {
  if (!drained_ || !result.ok()) return {};
  return fmt::format("hummer: {} was ended early: {} records read", result.job_name,
                     result.records_read);
}

}  // namespace hummer
