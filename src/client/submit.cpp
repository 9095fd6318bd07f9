#include "client/submit.hpp"

#include <fmt/format.h>

#include "client/cluster_run.hpp"
#include "client/credentials.hpp"
#include "client/local_token.hpp"
#include "graph/replay_warnings.hpp"
#include "protocol/graph_messages.hpp"

namespace hummer {

wire::JobOptions job_options(const EnvironmentOptions& options) {
  wire::JobOptions message;
  message.set_parallelism(static_cast<std::uint32_t>(options.parallelism));
  message.set_batch_records(options.batch_records);
  message.set_channel_credits(static_cast<std::uint32_t>(options.channel_credits));
  message.set_spin_us(options.spin_us);
  message.set_pin_slots(options.pin_slots);
  message.set_check_views(options.check_views == CheckViews::on);
  message.set_chaining(options.chaining);
  message.set_exchange(static_cast<std::uint32_t>(options.exchange));
  message.set_bytes_per_subtask(options.bytes_per_subtask);
  message.set_bypass(options.bypass);
  message.set_partial_state_bytes(options.partial_state_bytes);
  message.set_bounded_memory_bytes(options.bounded_memory_bytes);
  message.set_window_strategy(static_cast<std::uint32_t>(options.window_strategy));
  to_message(options.checkpoints, *message.mutable_checkpointing());
  to_message(options.restart, *message.mutable_restarting());
  return message;
}

Result<JobHandle> submit_to_cluster(const StreamExecutionEnvironment::Impl& impl,
                                    JobContext context) {
  const EnvironmentOptions& options = context.options;
  Platform& platform = *context.platform;
  if (!impl.origin) {
    return Status(
        ErrorCode::invalid_configuration,
        fmt::format("--job-manager {}: this program's job is built in its main(), which workers "
                    "can't call; make it a function and write HUMMER_JOB(function) instead of "
                    "main(), or leave out --job-manager (HUMMER_JOB_MANAGER) to run it here",
                    options.job_manager));
  }
  Result<Credentials> credentials = find_credentials(platform, options, TlsRole::client);
  if (!credentials.ok()) return credentials.status();
  if (credentials->token.empty()) {
    credentials->token = find_local_token(platform, options.job_manager);
  }
  const StreamGraph graph = impl.finished_graph(context.job_name, options);
  HUMMER_TRY(validate(graph));
  const Result<JobGraph> fused =
      fuse(graph, {.enabled = options.chaining, .exchange = options.exchange});
  if (!fused.ok()) return fused.status();

  wire::SubmitJob job;
  to_message(*fused, *job.mutable_graph());
  job.set_library_hash(impl.origin->library_hash);
  job.set_library_bytes(impl.origin->library.size());
  job.set_library_name(impl.origin->library_name);
  for (const auto& [name, value] : impl.arguments) {
    job.add_arguments(value.empty() ? "--" + name : fmt::format("--{}={}", name, value));
  }
  context.program = impl.origin->program;
  *job.mutable_options() = job_options(options);

  auto run = std::make_shared<ClusterRun>(context, std::move(*credentials));
  HUMMER_TRY(run->submit(std::move(job), impl.origin->library));
  if (!options.quiet && options.memory_limit_bytes > 0 &&
      options.memory_limit_bytes != memory_limit_from_environment) {
    (void)platform.write_standard(2,
                                  "hummer: warning: --memory-limit is not used here: memory is the "
                                  "workers', give it to hummer taskmanager\n");
  }
  if (!options.quiet && !options.rest_listen.empty() && options.rest_listen != "none") {
    (void)platform.write_standard(2,
                                  "hummer: warning: --rest-listen is not used here: the "
                                  "JobManager answers HTTP for its jobs\n");
  }
  if (options.checkpoints.enabled() && !options.quiet) {
    for (const std::string& line : replay_warnings(*fused)) {
      (void)platform.write_standard(2, "hummer: warning: " + line + "\n");
    }
  }
  if (options.detached) {
    (void)platform.write_standard(1, fmt::format("{}\n", run->job()));
    run.reset();  // before the result, which would be that nobody waited
    return JobHandle(std::make_shared<EndedRun>(context, context.failed({})));
  }
  if (!options.quiet) {
    (void)platform.write_standard(2, fmt::format("hummer: {} is job {} of {}\n", context.job_name,
                                                 run->job(), options.job_manager));
  }
  return JobHandle(run);
}

}  // namespace hummer
