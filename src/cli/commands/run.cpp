#include "cli/commands/run.hpp"

#include <CLI/CLI.hpp>

#include "cli/embedded.hpp"
#include "cli/job_file.hpp"

namespace hummer {

int run_run(const Invocation& invocation) {
  const SplitWords split = split_at_first_argument(invocation.words, {});
  CLI::App app(
      "Runs a job library embedded in this process. What follows LIBRARY are the job's options: "
      "`run LIBRARY --help` lists them.");
  std::string path;
  app.add_option("LIBRARY", path, "a library that hummer_add_job built")->required();
  if (const std::optional<int> code = parse_words(app, invocation, split.own)) return *code;

  Result<JobFile> file = read_job_file(invocation.platform.files(), path);
  if (!file.ok()) return report(invocation.platform, file.status());
  Result<JobFunction> job = invocation.libraries.load(file->hash, file->bytes);
  if (!job.ok()) return report(invocation.platform, job.status().with_context(path));
  return run_embedded(invocation.platform, *job, path, split.of_job,
                      library_origin(*std::move(file), path, invocation.program));
}

}  // namespace hummer
