#include "cli/commands/run.hpp"

#include "cli/command_line.hpp"
#include "cli/embedded.hpp"
#include "cli/job_file.hpp"

namespace hummer {

int run_run(const Invocation& invocation) {
  const CommandWords split = split_at_first_argument(invocation.words, {});
  CommandLine line(
      "Runs a job library embedded in this process. What follows LIBRARY are the job's options: "
      "`run LIBRARY --help` lists them.");
  std::string path;
  line.argument("LIBRARY", path, "a library that hummer_add_job built");
  if (const std::optional<int> code = line.read(invocation, split.own)) return *code;

  Result<JobFile> file = read_job_file(invocation.platform.files(), path);
  if (!file.ok()) return report(invocation.platform, file.status());
  Result<JobFunction> job = invocation.libraries.load(file->hash, file->bytes);
  if (!job.ok()) return report(invocation.platform, job.status().with_context(path));
  return run_embedded(invocation.platform, *job, path, split.of_job,
                      library_origin(*std::move(file), path, invocation.program));
}

}  // namespace hummer
