#include "control/client/local_run.hpp"

#include <utility>

#include "control/client/drain.hpp"
#include "control/client/job_status.hpp"
#include "control/client/poll_intervals.hpp"
#include "control/client/submit.hpp"
#include "control/protocol/graph_messages.hpp"
#include "platform/memory_limit.hpp"
#include "platform/run_task.hpp"

namespace hummer {
namespace {

constexpr std::uint32_t savepoint_wait_ms = 1000;

}  // namespace

void LocalRun::Notes::add(std::string text) {
  const std::lock_guard lock(mutex_);
  texts_.push_back("hummer: " + std::move(text));
}

std::vector<std::string> LocalRun::Notes::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(texts_, {});
}

LocalRun::LocalRun(JobSurroundings surroundings, PreparedJob job, int slots)
    : surroundings_(std::move(surroundings)),
      job_(std::move(job)),
      began_(surroundings_.platform->now()) {
  host_ = std::make_unique<AttemptHost>(attempt_surroundings());
  JobManagerOptions options;
  options.local = this;
  options.local_slots = slots;
  options.log = Logger(&notes_, LogRoom::control);
  manager_ = std::make_unique<JobManager>(*surroundings_.platform, std::move(options));
}

LocalRun::~LocalRun() {
  if (started_ && !finished()) {
    cancel();
    (void)surroundings_.platform->run_until([&] { return finished(); }, never);
  }
  if (!reported_) {
    *surroundings_.last_result =
        surroundings_.failed({ErrorCode::cancelled, "nobody waited for the job"});
  }
  manager_->stop();
  host_.reset();
}

AttemptSurroundings LocalRun::attempt_surroundings() {
  const EnvironmentOptions& options = surroundings_.options;
  const MemoryLimit limit =
      effective_memory_limit(*surroundings_.platform, options.memory_limit_bytes);
  AttemptSurroundings process;
  process.platform = surroundings_.platform;
  process.changed = &changed_;
  process.stuck_patience_ns = stuck_patience_ns;
  process.memory = MemoryAccount::make_root("this process", limit.bytes, limit.from);
  process.spill_directory = options.spill_directory;
  process.log = Logger(&notes_, LogRoom::control);
  process.prepared = &job_;
  process.on_note = [this](std::string text) { notes_.add(std::move(text)); };
  return process;
}

Status LocalRun::start() {
  HUMMER_TRY(manager_->start());
  started_ = true;
  manager_->executor().spawn(run(*this));
  return {};
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
  job.set_submission_id(surroundings_.platform->random().next() | 1);
  to_message(job_.job, *job.mutable_graph());
  *job.mutable_options() = job_options(surroundings_.options);
  // Somebody sits before it.
  job.mutable_options()->set_check_views(surroundings_.options.check_views != CheckViews::off);
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

void LocalRun::report() {
  report_due_ = false;
  const Nanoseconds now = surroundings_.platform->now();
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
    co_await self.send_wishes();
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

Task<void> LocalRun::send_wishes() {
  wire::Wish wish = wire::WISH_RUN;
  if (stop_requested_.load(std::memory_order_acquire)) wish = wire::WISH_STOP;
  if (cancel_requested_.load(std::memory_order_acquire)) wish = wire::WISH_CANCEL;
  if (wish <= sent_wish_) co_return;
  sent_wish_ = wish;
  wire::ClientRequest request;
  request.mutable_end()->set_job(number_);
  request.mutable_end()->set_wish(wish);
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
  Platform& platform = *surroundings_.platform;
  result_ = status.ok() ? job_result(*status, platform.wall_time_ms())
                        : surroundings_.failed(status.status());
  result_.job_name = surroundings_.job_name;
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

wire::JobStatus LocalRun::status_now() {
  if (finished()) return {};
  return run_task(*surroundings_.platform, manager_->executor(), ask_how_it_is(*this))
      .value_or(wire::JobStatus{});
}

// Who has it is known: there is one.
std::vector<std::string> LocalRun::stuck_in(const wire::JobStatus& status) {
  const std::string holder = std::string(local_task_manager_id) + ": ";
  std::vector<std::string> texts(status.stuck().begin(), status.stuck().end());
  for (std::string& text : texts) {
    if (text.starts_with(holder)) text.erase(0, holder.size());
  }
  return texts;
}

std::vector<std::string> LocalRun::stuck() { return stuck_in(status_now()); }

Task<Result<std::string>> LocalRun::ask_for_savepoint(LocalRun& self, wire::TakeSavepoint wish) {
  while (self.number_ == 0 && !self.finished()) co_await sleep_for(milliseconds(1));
  wish.set_job(self.number_);
  for (;;) {
    wire::ClientRequest request;
    *request.mutable_savepoint() = wish;
    const wire::ClientAnswer answer = co_await self.manager_->ask(std::move(request));
    if (answer.has_failure()) co_return status_from(answer.failure());
    if (!answer.savepoint().path().empty()) co_return answer.savepoint().path();
  }
}

Result<std::string> LocalRun::savepoint(const std::string& directory, bool stop) {
  if (!surroundings_.options.checkpoints.enabled()) return Running::savepoint(directory, stop);
  wire::TakeSavepoint wish;
  wish.set_wish_id(surroundings_.platform->random().next() | 1);
  wish.set_directory(directory);
  wish.set_stop(stop);
  wish.set_wait_ms(savepoint_wait_ms);
  std::optional<Result<std::string>> path = run_task(*surroundings_.platform, manager_->executor(),
                                                     ask_for_savepoint(*this, std::move(wish)));
  if (!path) return Status(ErrorCode::internal, "the savepoint can never come");
  return std::move(*path);
}

JobResult LocalRun::wait() {
  if (reported_) return result_;
  Platform& platform = *surroundings_.platform;
  Progress progress(platform, surroundings_.options.quiet,
                    surroundings_.options.progress_per_vertex);
  Drain drain(surroundings_);
  Nanoseconds last_stuck_report = 0;
  for (;;) {
    const RunEnd end =
        platform.run_until([&] { return finished() || drain.due(); }, platform.now() + tick_ns);
    for (const std::string& note : notes_.take()) progress.note(note);
    if (finished()) break;
    if (drain.due()) {
      stop();
      progress.note(drain.begin());
    }
    if (end == RunEnd::deadlock) {
      result_ = surroundings_.failed({ErrorCode::internal, "the job can never go on"});
      ended_.store(true, std::memory_order_release);
      break;
    }
    const wire::JobStatus now = status_now();
    if (now.started_ms() == 0) continue;
    progress.tick([&] {
      JobResult so_far = job_result(now, platform.wall_time_ms());
      so_far.seconds = static_cast<double>(platform.now() - began_) / 1e9;
      return progress_figures(so_far);
    });
    if (now.stuck_size() == 0 || platform.now() - last_stuck_report <= stuck_report_ns) continue;
    last_stuck_report = platform.now();
    for (const std::string& text : stuck_in(now)) progress.note("hummer: " + text);
  }
  reported_ = true;
  progress.summarize(result_);
  if (const std::string early = drain.end(result_); !early.empty()) progress.note(early);
  surroundings_.keep_and_report(result_);
  return result_;
}

}  // namespace hummer
