// execute() and execute_async(): the embedded client, JobManager and TaskManager
// by function call.
#include <fmt/format.h>
#include <hummer/environment.hpp>

#include "api/environment_impl.hpp"
#include "control/client/progress.hpp"
#include "control/task_manager/deployment.hpp"
#include "graph/explain.hpp"

namespace hummer {
namespace {

constexpr Nanoseconds tick_ns = 100'000'000;
constexpr Nanoseconds stuck_patience_ns = 5'000'000'000;
constexpr Nanoseconds stuck_report_ns = 10'000'000'000;

struct PlannedJob {
  StreamGraph stream_graph;
  JobGraph job_graph;
  ExecutionGraph execution_graph;
};

Result<PlannedJob> plan(const StreamExecutionEnvironment::Impl& impl,
                        const EnvironmentOptions& options, const std::string& job_name,
                        int processors) {
  PlannedJob job;
  job.stream_graph = impl.finished_graph(job_name);
  HUMMER_TRY(validate(job.stream_graph));
  Result<JobGraph> fused = fuse(job.stream_graph, {.enabled = options.chaining});
  if (!fused.ok()) return fused.status();
  job.job_graph = std::move(*fused);
  const int slots = options.parallelism > 0 ? options.parallelism : processors;
  PlacementOptions placement;
  placement.default_parallelism = slots;
  if (!options.peers.empty()) {
    if (static_cast<std::size_t>(options.process) >= options.peers.size()) {
      return Status(ErrorCode::invalid_argument,
                    fmt::format("--process {} of {} peers: they count from 0", options.process,
                                options.peers.size()));
    }
    placement.default_parallelism = slots * static_cast<int>(options.peers.size());
    Cluster cluster;
    for (const std::string& peer : options.peers) {
      cluster.task_managers.push_back({.id = peer, .host = {}, .slots = slots, .occupied = {}});
    }
    Result<ExecutionGraph> spread = place(job.job_graph, cluster, placement);
    if (!spread.ok()) return spread.status();
    job.execution_graph = std::move(*spread);
    return job;
  }
  // Embedded, the TaskManager has as many slots as the job needs.
  const Result<std::vector<int>> parallelism = resolve_parallelism(
      job.job_graph,
      {.free_slots = highest_parallelism, .default_parallelism = slots, .total_slots = {}});
  if (!parallelism.ok()) return parallelism.status();
  const int needed = slots_needed(job.job_graph, *parallelism, placement.sharing);
  Result<ExecutionGraph> placed =
      place(job.job_graph, embedded_cluster(std::max(slots, needed)), placement);
  if (!placed.ok()) return placed.status();
  job.execution_graph = std::move(*placed);
  return job;
}

JobResult failed(const std::string& job_name, Status status) {
  JobResult result;
  result.job_name = job_name;
  result.status = std::move(status);
  return result;
}

}  // namespace

struct JobHandle::Running {
  std::unique_ptr<Platform> own_platform;
  Platform* platform = nullptr;
  std::string job_name;
  EnvironmentOptions options;
  bool report_failure = false;
  std::unique_ptr<Deployment> deployment;
  std::unique_ptr<StuckWatch> watch;
  Nanoseconds began = 0;
  JobResult result;
  // Of the environment, which may be gone before the job ends.
  std::shared_ptr<JobResult> last_result;
  bool complete = false;

  ~Running() {
    if (deployment && !complete) {
      deployment->cancel();
      (void)platform->run_until([&] { return deployment->finished(); }, never);
      *last_result = failed(job_name, {ErrorCode::cancelled, "nobody waited for the job"});
    }
    deployment.reset();
  }

  void complete_with(JobResult done) {
    result = std::move(done);
    *last_result = result;
    complete = true;
    if (report_failure && !result.ok()) {
      (void)platform->write_standard(
          2, fmt::format("hummer: {} failed: {}\n", job_name, result.status.to_string()));
    }
  }
};

void JobHandle::stop() {
  if (running_->deployment) running_->deployment->stop();
}

void JobHandle::cancel() {
  if (running_->deployment) running_->deployment->cancel();
}

bool JobHandle::finished() const {
  return running_->complete || (running_->deployment && running_->deployment->finished());
}

std::vector<std::string> JobHandle::stuck() const {
  if (running_->complete || !running_->deployment) return {};
  return running_->watch->look(*running_->deployment, running_->platform->now());
}

JobResult JobHandle::wait() {
  Running& running = *running_;
  if (running.complete) return running.result;
  Deployment& deployment = *running.deployment;
  Progress progress(*running.platform, deployment, running.options.quiet,
                    running.options.progress_per_vertex);
  Nanoseconds last_stuck_report = 0;
  for (;;) {
    const RunEnd end = running.platform->run_until([&] { return deployment.finished(); },
                                                   running.platform->now() + tick_ns);
    if (end == RunEnd::satisfied) break;
    if (end == RunEnd::deadlock) {
      running.complete_with(
          failed(running.job_name, {ErrorCode::internal, "the job can never go on"}));
      return running.result;
    }
    progress.tick();
    const Nanoseconds now = running.platform->now();
    const std::vector<std::string> stuck = running.watch->look(deployment, now);
    if (!stuck.empty() && !running.options.quiet && now - last_stuck_report > stuck_report_ns) {
      last_stuck_report = now;
      for (const std::string& text : stuck) {
        (void)running.platform->write_standard(2, "hummer: " + text + "\n");
      }
    }
  }
  Status status = deployment.finish();
  JobResult result = deployment.figures();
  result.status = std::move(status);
  result.seconds = static_cast<double>(running.platform->now() - running.began) / 1e9;
  progress.summarize(result);
  running.complete_with(std::move(result));
  return running.result;
}

JobHandle StreamExecutionEnvironment::execute_async(const std::string& job_name) {
  auto running = std::make_shared<JobHandle::Running>();
  running->last_result = impl_->last_result;
  ++impl_->execute_calls;
  if (impl_->kept != nullptr) {
    running->complete_with(impl_->keep(job_name, options_));
    return JobHandle(running);
  }
  if (options_.platform == nullptr) {
    running->own_platform = make_linux_platform();
    running->platform = running->own_platform.get();
  } else {
    running->platform = options_.platform;
  }
  Platform& platform = *running->platform;
  running->job_name = job_name;
  running->options = options_;
  running->report_failure = impl_->from_command_line;
  const auto refuse = [&](Status status) {
    running->complete_with(failed(job_name, std::move(status)));
    return JobHandle(running);
  };

  if (impl_->help) {
    (void)platform.write_standard(1, help_text(*impl_));
    running->complete_with({});
    return JobHandle(running);
  }
  if (Status status = check_arguments(*impl_); !status.ok()) return refuse(std::move(status));
  if (impl_->executed) {
    return refuse({ErrorCode::invalid_graph, "an environment executes one job; make another one"});
  }
  impl_->executed = true;
  Result<PlannedJob> job = plan(*impl_, options_, job_name, platform.processors());
  if (!job.ok()) return refuse(job.status());
  if (!options_.explain.empty()) {
    const Result<ExplainFormat> format = parse_explain_format(options_.explain);
    if (!format.ok()) return refuse(format.status());
    (void)platform.write_standard(
        1, explain(job->stream_graph, job->job_graph, job->execution_graph, *format));
    running->complete_with({});
    return JobHandle(running);
  }

  DeploymentOptions deployment;
  deployment.batch_records = options_.batch_records;
  deployment.channel_credits = static_cast<std::uint32_t>(options_.channel_credits);
  deployment.spin_ns = options_.spin_us < 0 ? busy_poll : options_.spin_us * 1000;
  deployment.pin_slots = options_.pin_slots;
  deployment.task_manager = options_.process;
  deployment.addresses = options_.peers;
  running->began = platform.now();
  running->watch = std::make_unique<StuckWatch>(stuck_patience_ns);
  running->deployment = std::make_unique<Deployment>(platform, std::move(job->stream_graph),
                                                     std::move(job->job_graph),
                                                     std::move(job->execution_graph), deployment);
  if (Status status = running->deployment->start(); !status.ok()) return refuse(std::move(status));
  return JobHandle(running);
}

JobResult StreamExecutionEnvironment::execute(const std::string& job_name) {
  return execute_async(job_name).wait();
}

}  // namespace hummer
