#include "execution/attempt.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "api/job_build.hpp"
#include "execution/attempt_plan.hpp"
#include "graph/fingerprint.hpp"
#include "protocol/graph_messages.hpp"
#include "protocol/metric_messages.hpp"
#include "protocol/placement.hpp"

namespace hummer {
namespace {

EnvironmentOptions environment_options(const wire::JobOptions& wanted, Platform* platform) {
  EnvironmentOptions options;
  options.parallelism = static_cast<int>(wanted.parallelism());
  if (wanted.batch_records() != 0) options.batch_records = wanted.batch_records();
  if (wanted.channel_credits() != 0) {
    options.channel_credits = static_cast<int>(wanted.channel_credits());
  }
  options.spin_us = wanted.spin_us();
  options.pin_slots = wanted.pin_slots();
  options.chaining = wanted.chaining();
  options.exchange = static_cast<ExchangeMode>(wanted.exchange());
  if (wanted.partial_state_bytes() != 0) options.partial_state_bytes = wanted.partial_state_bytes();
  if (wanted.bounded_memory_bytes() != 0) {
    options.bounded_memory_bytes = wanted.bounded_memory_bytes();
  }
  options.window_strategy = static_cast<WindowStrategy>(wanted.window_strategy());
  options.bypass = wanted.bypass();
  options.checkpoints = checkpoint_options_from(wanted.checkpointing());
  options.quiet = true;
  options.platform = platform;
  return options;
}

std::vector<wire::VertexMetrics> metrics_of(const Deployment& deployment) {
  std::vector<wire::VertexMetrics> all;
  const JobResult result = deployment.metrics();
  for (std::size_t i = 0; i < result.vertices.size(); ++i) {
    wire::VertexMetrics& vertex = all.emplace_back();
    vertex.set_vertex(static_cast<std::uint32_t>(deployment.job_graph().vertices[i].id));
    const auto counts = deployment.task_counts(static_cast<int>(vertex.vertex()));
    vertex.set_tasks_running(counts.running);
    vertex.set_tasks_finished(counts.finished);
    for (const OperatorSummary& op : result.vertices[i].operators) {
      wire::OperatorMetrics& metrics = *vertex.add_operators();
      metrics.set_records_in(op.records_in);
      metrics.set_records_out(op.records_out);
      metrics.set_bytes(op.bytes);
      metrics.set_records_late(op.records_late);
      metrics.set_records_skipped(op.records_skipped);
      metrics.set_bytes_expected(op.bytes_expected);
      const auto place = static_cast<std::size_t>(vertex.operators_size() - 1);
      to_message(deployment.user_metrics(static_cast<int>(vertex.vertex()), place), metrics);
    }
  }
  return all;
}

}  // namespace

Attempt::Attempt(AttemptContext context, AttemptId id, wire::Deployment deployment)
    : context_(context),
      id_(id),
      message_(std::move(deployment)),
      step_since_(context.platform->now()),
      watch_(context.stuck_patience_ns) {}

Attempt::~Attempt() {
  if (!executor_) return;
  if (!ended()) cancel();
  // Tasks notify event_, whose waiter is on executor_: stop it, end them, then destroy it.
  executor_->stop();
  if (writer_) writer_->stop();
  deployment_.reset();
}

void Attempt::start() {
  executor_ = context_.platform->make_executor(
      {.name = id_.region == 0 ? fmt::format("job-{}-{}", id_.job, id_.attempt)
                               : fmt::format("job-{}.{}-{}", id_.job, id_.region, id_.attempt)});
  executor_->spawn(run());
}

void Attempt::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  if (deployment_) deployment_->stop();
}

void Attempt::cancel() {
  {
    const std::lock_guard lock(mutex_);
    cancelled_.store(true, std::memory_order_release);
    if (deployment_) deployment_->cancel();
    if (state_ == wire::ATTEMPT_RUNNING && writer_) writer_->cancel();
  }
  event_.notify();
}

Task<void> Attempt::run() {
  Result<JobFunction> function(nullptr);
  if (context_.prepared == nullptr) function = co_await obtain_function();
  Status status = function.status();
  if (status.ok()) status = build(*function);
  if (status.ok()) status = list_sources();
  if (status.ok()) status = co_await await_listings();
  if (status.ok()) status = deploy();
  if (status.ok()) co_await await_tasks();
  end(close_deployment(std::move(status)));
}

// ---- the library ----

Task<Result<JobFunction>> Attempt::obtain_function() {
  log("preparing");
  const Result<JobFunction> found = find_function();
  if (!found.ok() || *found != nullptr) co_return found;
  const Status delivered = co_await await_library();
  if (!delivered.ok()) co_return delivered;
  co_return load_function();
}

Result<JobFunction> Attempt::find_function() {
  const JobFunction found = context_.libraries->find(message_.library_hash());
  if (found == nullptr && message_.library_bytes() == 0) {
    return Status(ErrorCode::not_found,
                  fmt::format("this TaskManager runs another program than the one that was "
                              "submitted ({:016x}); start it from the same executable",
                              message_.library_hash()));
  }
  return found;
}

Task<Status> Attempt::await_library() {
  {
    const std::lock_guard lock(mutex_);
    library_wanted_ = true;
  }
  context_.changed->raise();
  while (true) {
    event_.prepare_wait();
    Status failure;
    bool there = false;
    {
      const std::lock_guard lock(mutex_);
      there = library_.has_value();
      if (there) failure = library_->status();
      if (cancelled()) failure = {ErrorCode::cancelled, "the job was cancelled"};
      if (there || cancelled()) library_wanted_ = false;
    }
    if (there || !failure.ok()) {
      event_.cancel_wait();
      co_return failure;
    }
    co_await event_.wait();
  }
}

Result<JobFunction> Attempt::load_function() {
  enter(Step::load);
  LibraryBytes bytes;
  {
    const std::lock_guard lock(mutex_);
    bytes = std::move(**library_);
    library_.reset();
  }
  log(fmt::format("loading the job library, {} bytes", bytes->size()));
  // Another job may have loaded it meanwhile.
  const JobFunction found = context_.libraries->find(message_.library_hash());
  if (found != nullptr) return found;
  return guarded("loading the job library",
                 [&] { return context_.libraries->load(message_.library_hash(), *bytes); });
}

std::optional<Attempt::WantedLibrary> Attempt::wanted_library() const {
  const std::lock_guard lock(mutex_);
  if (!library_wanted_ || library_.has_value()) return std::nullopt;
  return WantedLibrary{message_.library_hash(), message_.library_bytes()};
}

void Attempt::deliver_library(Result<LibraryBytes> bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (!library_wanted_ || library_.has_value()) return;
    library_.emplace(std::move(bytes));
  }
  event_.notify();
}

// ---- the graphs and the tasks ----

Result<std::unique_ptr<Attempt::Plan>> Attempt::build_graphs(JobFunction function) const {
  auto plan = std::make_unique<Plan>();
  Plan& graphs = *plan;
  if (context_.prepared != nullptr) {
    graphs.stream = context_.prepared->stream;
    graphs.job = context_.prepared->job;
  } else {
    HUMMER_TRY(call_job_function(function, graphs));
  }
  Result<ExecutionGraph> placed = place_on_cluster(graphs.job, message_.task_managers(),
                                                   message_.options(), narrowed_from(message_));
  if (!placed.ok()) return placed.status();
  graphs.execution = std::move(*placed);
  const std::uint64_t hash = execution_hash(graphs.execution);
  if (hash != message_.execution_hash()) {
    return Status(ErrorCode::invalid_graph,
                  fmt::format("this TaskManager places the job otherwise than the JobManager: "
                              "{:016x} instead of {:016x}; run the same version of both",
                              hash, message_.execution_hash()));
  }
  return plan;
}

Status Attempt::call_job_function(JobFunction function, Plan& graphs) const {
  const std::vector<std::string> arguments(message_.arguments().begin(),
                                           message_.arguments().end());
  const EnvironmentOptions options = environment_options(message_.options(), context_.platform);
  Result<BuiltJob> built = build_job(function, arguments, options);
  if (!built.ok()) return built.status();
  if (!built->help.empty()) {
    return Status(ErrorCode::invalid_argument, "a job was submitted with --help");
  }
  graphs.stream = std::move(built->graph);
  HUMMER_TRY(validate(graphs.stream));
  Result<JobGraph> fused =
      fuse(graphs.stream, {.enabled = options.chaining, .exchange = options.exchange});
  if (!fused.ok()) return fused.status();
  graphs.job = std::move(*fused);
  if (graphs.job.fingerprint != message_.fingerprint()) {
    return Status(ErrorCode::invalid_graph,
                  fmt::format("the job function built another job here than where it was "
                              "submitted: {} (fingerprint {:016x} instead of {:016x}); let it "
                              "depend on its arguments only",
                              first_difference(graphs.job, {message_.operator_hashes().begin(),
                                                            message_.operator_hashes().end()}),
                              graphs.job.fingerprint, message_.fingerprint()));
  }
  return {};
}

Result<DeploymentOptions> Attempt::deployment_options(const JobGraph& graph) {
  const EnvironmentOptions job = environment_options(message_.options(), nullptr);
  DeploymentOptions options;
  options.task_manager = static_cast<int>(message_.task_manager());
  options.data_plane = context_.data_plane;
  const PlacedWorkers none;
  for (const wire::PlacedWorker& worker :
       context_.data_plane != nullptr ? message_.task_managers() : none) {
    DeploymentPeer& peer = options.peers.emplace_back();
    peer.name = worker.id();
    for (const wire::DataAddress& address : worker.data_addresses()) {
      peer.addresses.push_back({address.interface(), address.address()});
    }
  }
  options.shuffle = shuffle_options(graph);
  for (const int region : options.shuffle.region_of_vertex) {
    options.vertices.push_back(is_own(region));
  }
  options.channel_job = context_.job_manager ^ id_.job;
  options.channel_attempt = id_.attempt;
  options.on_finished = &event_;
  options.batch_records = job.batch_records;
  options.channel_credits = static_cast<std::uint32_t>(job.channel_credits);
  options.spin_ns = job.spin_us < 0 ? busy_poll : microseconds(job.spin_us);
  options.pin_slots = job.pin_slots;
  options.checks_views = message_.options().check_views();
  options.memory = context_.memory;
  options.spill_directory = context_.spill_directory;
  options.run = message_.run();
  options.attempt = id_.attempt - 1;  // how often the job was started before
  options.superseded_checkpoint = message_.superseded_checkpoint();
  options.allow_dropped_state = job.checkpoints.allow_dropped_state;
  if (!message_.restore_path().empty()) {
    auto state = read_state(graph);
    if (!state.ok()) {
      // Somebody else's loss of a file must not look like one that a restart mends by itself.
      const bool missing = state.status().code() == ErrorCode::not_found;
      return Status(missing ? ErrorCode::corrupt_file : state.status().code(),
                    state.status().message())
          .with_context("reading the state to begin with, '" + message_.restore_path() + "'");
    }
    options.restored = std::move(*state);
    options.listings = options.restored->listings;
  }
  for (const wire::SourceListing& each : message_.listings()) {
    options.listings.try_emplace(each.uid(), std::make_shared<const std::string>(each.listing()));
  }
  if (!job.checkpoints.enabled()) return options;
  options.guarantee = job.checkpoints.guarantee;
  options.unaligned = job.checkpoints.unaligned;
  options.snapshot_step_bytes = job.checkpoints.step_bytes;
  const auto& tasks = plan_->execution.tasks;
  const auto own = std::count_if(tasks.begin(), tasks.end(), [&](const ExecutionTask& task) {
    return task.kind == TaskKind::chain &&
           options.vertices[static_cast<std::size_t>(task.vertex)] &&
           (options.peers.empty() || task.task_manager == options.task_manager);
  });
  const SnapshotWriter::Settings settings{.job = graph.fingerprint,
                                          .tells_passed = job.checkpoints.begins_aligned(),
                                          .spill_directory = context_.spill_directory,
                                          .attempt = id_.attempt,
                                          .tasks = static_cast<std::size_t>(own),
                                          .memory = context_.memory};
  writer_ = std::make_unique<SnapshotWriter>(
      *context_.platform, settings,
      [this](SnapshotProgress news) { snapshot_progress(std::move(news)); });
  options.on_snapshot = std::bind_front(&SnapshotWriter::snapshot_taken, writer_.get());
  options.on_committed = [this] { context_.changed->raise(); };
  return options;
}

Status Attempt::build(JobFunction function) {
  if (cancelled()) return {ErrorCode::cancelled, "the job was cancelled"};
  if (message_.task_manager() >= static_cast<unsigned>(message_.task_managers_size())) {
    return {ErrorCode::protocol_error, "the deployment names no TaskManager as its receiver"};
  }
  HUMMER_TRY(validate(message_.options()));
  enter(Step::build);
  Result<std::unique_ptr<Plan>> plan =
      guarded("the job function", [&] { return build_graphs(function); });
  if (!plan.ok()) return plan.status();
  plan_ = std::move(*plan);

  enter(Step::deploy);
  Result<DeploymentOptions> options = deployment_options(plan_->job);
  if (!options.ok()) return options.status();
  plan_->options = std::move(*options);
  return {};
}

// ---- the tasks ----

Status Attempt::deploy() {
  enter(Step::deploy);
  const std::unique_ptr<Plan> plan = std::move(plan_);
  const std::shared_ptr<const RestoredState> restored = plan->options.restored;
  auto deployment = std::make_unique<Deployment>(*context_.platform, std::move(plan->stream),
                                                 std::move(plan->job), std::move(plan->execution),
                                                 std::move(plan->options));
  {
    // From here on stop() and cancel() find it.
    const std::lock_guard lock(mutex_);
    deployment_ = std::move(deployment);
    if (stopping_) deployment_->stop();
    if (cancelled()) deployment_->cancel();
  }
  HUMMER_TRY(guarded("making the job's operators", [&] { return deployment_->start(); }));
  log(fmt::format("running, {} tasks here", deployment_->tasks().size()));
  // Once for the job.
  if (message_.task_manager() == 0 && deployment_->aligns_across_task_managers()) {
    log("inputs with an alignment run on several TaskManagers: those of one TaskManager wait for "
        "each other only, so the job may get further out of step than it allows",
        LogLevel::warning);
  }
  for (const auto& task : deployment_->tasks()) {
    log_task(*task, LogLevel::debug, fmt::format("runs in {}", task->metrics().slot));
  }
  {
    const std::lock_guard lock(mutex_);
    state_ = wire::ATTEMPT_RUNNING;
    if (const std::string pinning = deployment_->describe_pinning(); !pinning.empty()) {
      log_note(pinning);
    }
    if (restored) {
      log_note(fmt::format("goes on from checkpoint {}, '{}'", restored->checkpoint,
                           message_.restore_path()));
      log_restored(*restored);
      if (!restored->dropped.empty()) log_note("drops " + restored->dropped);
      deployment_->commit(restored->checkpoint);
    }
    tell_tasks();
  }
  enter(Step::run);
  context_.changed->raise();
  return {};
}

Task<void> Attempt::await_tasks() {
  while (!deployment_->finished()) {
    event_.prepare_wait();
    if (deployment_->finished()) {
      event_.cancel_wait();
      break;
    }
    co_await event_.wait();
  }
}

Status Attempt::close_deployment(Status status) {
  enter(Step::close);
  plan_.reset();  // runs destructors of user code
  if (!deployment_) return status;
  if (status.ok()) {
    status = guarded("closing the job's operators", [&] { return deployment_->finish(); });
  }
  if (deployment_->started()) {
    log_task_ends();
    tasks_ended_at_ = deployment_->ended_at();
  }
  if (writer_) writer_->stop();  // without mutex_, which it may wait for
  std::vector<wire::VertexMetrics> metrics = metrics_of(*deployment_);
  std::unique_ptr<Deployment> over;
  {
    const std::lock_guard lock(mutex_);
    final_metrics_ = std::move(metrics);
    over = std::move(deployment_);
  }
  over.reset();  // runs destructors of user code
  return status;
}

void Attempt::end(Status status) {
  const bool as_asked = cancelled() && is_consequence(status);
  const bool failed = !status.ok() && !as_asked;
  log(status.ok() ? "finished"
      : as_asked  ? "cancelled"
                  : "failed: " + status.to_string(),
      failed ? LogLevel::error : LogLevel::info);
  ChangeSignal& changed = *context_.changed;
  {
    const std::lock_guard lock(mutex_);
    step_ = Step::over;
    state_ = status.ok() ? wire::ATTEMPT_FINISHED
             : as_asked  ? wire::ATTEMPT_CANCELLED
                         : wire::ATTEMPT_FAILED;
    if (state_ == wire::ATTEMPT_FAILED) failure_ = std::move(status);
  }
  ended_.store(true, std::memory_order_release);
  changed.raise();
}

// ---- what others see ----

std::vector<int> Attempt::slots() const {
  std::vector<int> slots;
  if (message_.task_manager() >= static_cast<unsigned>(message_.task_managers_size())) return slots;
  const wire::PlacedWorker& here =
      message_.task_managers(static_cast<int>(message_.task_manager()));
  for (std::uint32_t slot = 0; slot < here.slots(); ++slot) {
    const auto& others = here.occupied();
    if (std::find(others.begin(), others.end(), slot) == others.end()) {
      slots.push_back(static_cast<int>(slot));
    }
  }
  return slots;
}

// The set only shrinks: a deployment that is cancelled starts no task any more.
std::vector<int> Attempt::slots_left(const std::vector<int>& before) const {
  const std::lock_guard lock(mutex_);
  std::vector<int> left;
  if (deployment_ && deployment_->started()) {
    for (const int slot : deployment_->slots_in_use()) {
      if (std::find(before.begin(), before.end(), slot) != before.end()) left.push_back(slot);
    }
  }
  if (left.empty() && !before.empty()) left.push_back(before.front());
  return left;
}

void Attempt::enter(Step step) {
  const std::lock_guard lock(mutex_);
  step_ = step;
  step_since_ = context_.platform->now();
}

std::string Attempt::where(Step step) const {
  switch (step) {
    case Step::library: return "waiting for the job library";
    case Step::load: return "loading the job library";
    case Step::build: return "inside the job function";
    case Step::list: return "waiting for the list of what its sources read";
    case Step::deploy: return "making the job's operators";
    case Step::close: return "closing the job's operators";
    case Step::run:
    case Step::over: break;
  }
  return {};
}

std::vector<std::string> Attempt::stuck(Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> texts;
  if (step_ == Step::run && deployment_) {
    texts = watch_.look(*deployment_, now);
  } else if (step_ != Step::over && now - step_since_ >= context_.stuck_patience_ns) {
    texts.push_back(fmt::format("{} for {} s", where(step_), (now - step_since_) / seconds(1)));
  }
  if (cancelled()) {
    for (std::string& text : texts) text = "cancelling, stuck: " + text;
  }
  return texts;
}

TaskSamples Attempt::samples(Nanoseconds now) const {
  const std::lock_guard lock(mutex_);
  return deployment_ ? deployment_->samples(now) : TaskSamples();
}

wire::AttemptReport Attempt::report(Nanoseconds now) {
  wire::AttemptReport report;
  report.set_job(id_.job);
  report.set_attempt(id_.attempt);
  report.set_region(id_.region);
  for (std::string& text : stuck(now)) report.add_stuck(std::move(text));
  const std::lock_guard lock(mutex_);
  report.set_state(state_);
  if (!failure_.ok()) {
    to_message(failure_, *report.mutable_failure());
    report.set_consequence(is_consequence(failure_));
  }
  const bool running = deployment_ && deployment_->started();
  if (running) busy_shares_.look(*deployment_, now);
  for (const wire::VertexMetrics& metrics : running ? metrics_of(*deployment_) : final_metrics_) {
    wire::VertexMetrics& added = *report.add_metrics();
    added = metrics;
    if (running) busy_shares_.describe(added);
  }
  for (const auto& [task, snapshot] : snapshots_) *report.add_snapshots() = snapshot;
  for (const std::uint32_t task : ended_tasks_) report.add_ended_tasks(task);
  describe_files(report);
  for (const std::string& uid : wanted_listings_) report.add_wanted_listings(uid);
  for (const auto& [uid, bytes] : made_listings_) {
    wire::SourceListing& listing = *report.add_listings();
    listing.set_uid(uid);
    listing.set_listing(bytes);
  }
  if (running && writer_) report.set_committed(deployment_->committed());
  report.set_first_log_line(first_log_line_);
  for (const wire::LogLine& line : log_lines_) *report.add_log_lines() = line;
  return report;
}

}  // namespace hummer
