// execute() and execute_async(): where a job runs, and how it gets there.
#include <fmt/format.h>
#include <hummer/environment.hpp>

#include "api/environment_impl.hpp"
#include "client/local_run.hpp"
#include "client/submit.hpp"
#include "graph/explain.hpp"

namespace hummer {
namespace {

struct PlannedGraphs {
  StreamGraph stream_graph;
  JobGraph job_graph;
  ExecutionGraph execution_graph;
  int slots = 1;  // of the embedded TaskManager
};

Result<PlannedGraphs> plan(const StreamExecutionEnvironment::Impl& impl,
                           const EnvironmentOptions& options, const std::string& job_name,
                           int processors) {
  PlannedGraphs job;
  job.stream_graph = impl.finished_graph(job_name, options);
  HUMMER_TRY(validate(job.stream_graph));
  Result<JobGraph> fused =
      fuse(job.stream_graph, {.enabled = options.chaining, .exchange = options.exchange});
  if (!fused.ok()) return fused.status();
  job.job_graph = std::move(*fused);
  const int slots = options.parallelism > 0 ? options.parallelism : processors;
  PlacementOptions placement;
  placement.default_parallelism = slots;
  // Embedded, the TaskManager has as many slots as the job needs.
  const Result<std::vector<int>> parallelism = resolve_parallelism(
      job.job_graph,
      {.free_slots = highest_parallelism, .default_parallelism = slots, .total_slots = {}});
  if (!parallelism.ok()) return parallelism.status();
  const int needed = slots_needed(job.job_graph, *parallelism, placement.sharing);
  job.slots = std::max(slots, needed);
  Result<ExecutionGraph> placed = place(job.job_graph, embedded_cluster(job.slots), placement);
  if (!placed.ok()) return placed.status();
  job.execution_graph = std::move(*placed);
  return job;
}

// What no run could do, whatever the job.
Status check_settings(const EnvironmentOptions& options) {
  const CheckpointOptions& checkpoints = options.checkpoints;
  if (!checkpoints.restore.empty() && !checkpoints.enabled()) {
    return {ErrorCode::invalid_configuration,
            "--restore " + checkpoints.restore +
                ": a job that begins with a checkpoint needs a directory for its own too; add "
                "--checkpoint-dir"};
  }
  return {};
}

}  // namespace

void JobHandle::stop() { running_->stop(); }
void JobHandle::cancel() { running_->cancel(); }
bool JobHandle::finished() const { return running_->finished(); }
std::vector<std::string> JobHandle::stuck() const { return running_->stuck(); }
Result<std::string> JobHandle::savepoint(const std::string& directory) {
  return running_->savepoint(directory, false);
}
Result<std::string> JobHandle::stop_with_savepoint(const std::string& directory) {
  return running_->savepoint(directory, true);
}
JobResult JobHandle::wait() { return running_->wait(); }

JobHandle StreamExecutionEnvironment::execute_async(const std::string& job_name) {
  JobContext context;
  context.last_result = impl_->last_result;
  ++impl_->execute_calls;
  if (impl_->kept != nullptr) {
    return JobHandle(std::make_shared<EndedRun>(context, impl_->keep(job_name, options_)));
  }
  context.platform = options_.platform;
  if (options_.platform == nullptr) {
    context.own_platform = make_linux_platform();
    context.platform = context.own_platform.get();
  }
  Platform& platform = *context.platform;
  context.program = impl_->program;
  context.job_name = job_name;
  context.options = options_;
  context.from_command_line = impl_->from_command_line;
  const auto ended = [&](Status status) {
    return JobHandle(std::make_shared<EndedRun>(context, context.failed(std::move(status))));
  };

  if (impl_->help) {
    (void)platform.write_standard(1, help_text(*impl_));
    return ended({});
  }
  if (Status status = check_arguments(*impl_); !status.ok()) return ended(std::move(status));
  if (impl_->executed) {
    return ended({ErrorCode::invalid_graph, "an environment executes one job; make another one"});
  }
  if (Status status = check_settings(options_); !status.ok()) return ended(std::move(status));
  impl_->executed = true;
  if (!options_.job_manager.empty() && options_.explain.empty()) {
    Result<JobHandle> submitted = submit_to_cluster(*impl_, context);
    return submitted.ok() ? std::move(*submitted) : ended(submitted.status());
  }
  Result<PlannedGraphs> job = plan(*impl_, options_, job_name, platform.processors());
  if (!job.ok()) return ended(job.status());
  if (!options_.explain.empty()) {
    const Result<ExplainFormat> format = parse_explain_format(options_.explain);
    if (!format.ok()) return ended(format.status());
    (void)platform.write_standard(
        1, explain(job->stream_graph, job->job_graph, job->execution_graph, *format,
                   options_.bytes_per_subtask));
    return ended({});
  }

  if (options_.parallelism == 0) context.options.parallelism = platform.processors();
  const Result<JobInterface> interface = find_job_interface(platform, options_);
  if (!interface.ok()) return ended(interface.status());
  auto run = std::make_shared<LocalRun>(
      context, PreparedJob{std::move(job->stream_graph), std::move(job->job_graph)}, job->slots,
      *interface);
  if (Status status = run->start(); !status.ok()) return ended(std::move(status));
  return JobHandle(run);
}

JobResult StreamExecutionEnvironment::execute(const std::string& job_name) {
  return execute_async(job_name).wait();
}

}  // namespace hummer
