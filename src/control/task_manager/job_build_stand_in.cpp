#include "control/task_manager/job_build_stand_in.hpp"

#include "api/environment_impl.hpp"

namespace hummer {

Result<BuiltJob> build_job(JobFunction function, const std::vector<std::string>& arguments,
                           EnvironmentOptions defaults) {
  StreamExecutionEnvironment env(std::move(defaults));
  std::vector<const char*> argv = {"job"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  KeptJob kept;
  env.impl().kept = &kept;
  env.impl().from_command_line = true;
  parse_command_line(static_cast<int>(argv.size()), argv.data(), env.options(), env.impl());
  (void)function(env);
  if (!kept.status.ok()) return kept.status;
  return BuiltJob{std::move(kept.graph), std::move(kept.options)};
}

}  // namespace hummer
