#include "api/job_build.hpp"

#include <exception>

#include "api/environment_impl.hpp"

namespace hummer {
namespace {

// Runs the function; why it threw, or ok.
Status call(JobFunction function, StreamExecutionEnvironment& env) {
  try {
    (void)function(env);
    return {};
  } catch (const std::exception& error) {
    return {ErrorCode::user_function_failed,
            std::string("the job function threw: ") + error.what()};
  } catch (...) {
    return {ErrorCode::user_function_failed,
            "the job function threw something that is no std::exception"};
  }
}

Status check_captured(const StreamGraph& graph) {
  for (const StreamNode& node : graph.nodes) {
    if (!node.captured_unknown) continue;
    return {ErrorCode::invalid_graph,
            "the function of " + describe(node) +
                " captures values that workers can't compare with the client's: capture integers "
                "only, or wrap it, hummer::rebuildable(function, values...)"};
  }
  return {};
}

}  // namespace

Result<BuiltJob> build_job(JobFunction function, const std::vector<std::string>& arguments,
                           const EnvironmentOptions& defaults, const BuildSettings& settings) {
  std::vector<const char*> words{settings.program.c_str()};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());

  KeptJob kept;
  StreamExecutionEnvironment env(defaults);
  StreamExecutionEnvironment::Impl& impl = env.impl();
  impl.kept = &kept;
  parse_command_line(static_cast<int>(words.size()), words.data(), env.options(), impl,
                     settings.environment_variables);
  const Status thrown = call(function, env);

  BuiltJob job;
  if (impl.help) {
    job.help = help_text(impl);
    return job;
  }
  if (!thrown.ok() || impl.execute_calls == 0) {
    // The mistake in the arguments before what the function made of it.
    HUMMER_TRY(check_arguments_so_far(impl));
    HUMMER_TRY(thrown);
    return impl.last_result->status;
  }
  HUMMER_TRY(kept.status);
  if (settings.for_cluster) HUMMER_TRY(check_captured(kept.graph));
  job.graph = std::move(kept.graph);
  job.job_name = job.graph.job_name;
  job.options = std::move(kept.options);
  return job;
}

}  // namespace hummer
