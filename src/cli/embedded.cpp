#include "cli/embedded.hpp"

#include <exception>

#include "api/environment_impl.hpp"
#include "cli/command.hpp"

namespace hummer {
namespace {

// The job function did not get as far as execute(): what its user needs to hear.
int explain_end(Platform& platform, const StreamExecutionEnvironment::Impl& impl, Status failure) {
  if (impl.help) {
    (void)platform.write_standard(1, help_text(impl));
    return 0;
  }
  // A missing argument, rather than what the function made of it.
  const Status mistake = check_arguments_so_far(impl);
  return report(platform, mistake.ok() ? failure : mistake);
}

}  // namespace

FindOrigin own_origin(Platform& platform, std::string program) {
  return [&platform, program = std::move(program)]() -> Result<JobOrigin> {
    const Result<JobFile> file = read_job_file(platform.files(), own_executable);
    if (!file.ok()) return file.status();
    JobOrigin origin;
    origin.library_hash = file->hash;
    origin.library_name = program;
    origin.program = program;
    return origin;
  };
}

FindOrigin library_origin(JobFile file, std::string path, std::string program) {
  return [file = std::move(file), path = std::move(path),
          program = std::move(program)]() -> Result<JobOrigin> {
    JobOrigin origin;
    origin.library_hash = file.hash;
    origin.library = file.bytes;
    origin.library_name = path.substr(path.rfind('/') + 1);
    origin.program = program;
    return origin;
  };
}

int run_embedded(Platform& platform, JobFunction job, const std::string& program,
                 const std::vector<std::string>& words, const FindOrigin& find_origin) {
  std::vector<const char*> arguments{program.c_str()};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  StreamExecutionEnvironment env(static_cast<int>(arguments.size()), arguments.data());
  env.options().platform = &platform;
  if (!env.options().job_manager.empty()) {
    Result<JobOrigin> origin = find_origin();
    if (!origin.ok()) return report(platform, origin.status());
    env.impl().origin = *std::move(origin);
  }
  Status thrown;
  try {
    const JobResult result = job(env);
    if (env.impl().execute_calls > 0) return result.exit_code();
    return explain_end(platform, env.impl(), env.last_result().status);
  } catch (const std::exception& error) {
    thrown = {ErrorCode::user_function_failed,
              std::string("the job function threw: ") + error.what()};
  } catch (...) {
    thrown = {ErrorCode::user_function_failed,
              "the job function threw something that is no std::exception"};
  }
  return explain_end(platform, env.impl(), thrown);
}

}  // namespace hummer
