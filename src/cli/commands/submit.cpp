#include "cli/commands/submit.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdlib>

#include "cli/cluster_session.hpp"
#include "cli/embedded.hpp"
#include "cli/job_file.hpp"

namespace hummer {
namespace {

constexpr const char* description =
    "Submits a job to a cluster and watches it to its end; Ctrl-C leaves it running.\n"
    "What follows LIBRARY are the job's options: `submit LIBRARY --help` lists them.";

std::string job_manager_of_environment() {
  const char* address = std::getenv("HUMMER_JOB_MANAGER");
  return address == nullptr ? default_job_manager : address;
}

// The job inside this program: its own environment reads all options.
int submit_own_job(const Invocation& invocation) {
  std::vector<std::string> words{"--job-manager=" + job_manager_of_environment()};
  words.insert(words.end(), invocation.words.begin(), invocation.words.end());
  return run_embedded(invocation.platform, invocation.job, invocation.program, words,
                      own_origin(invocation.platform, invocation.program));
}

}  // namespace

int run_submit(const Invocation& invocation) {
  if (invocation.job != nullptr) return submit_own_job(invocation);
  const CommandWords split = split_at_first_argument(invocation.words, cluster_options_with_value);
  CLI::App app(description);
  ClusterAddress address;
  std::string path;
  bool detached = false;
  app.add_option("LIBRARY", path, "a library that hummer_add_job built")->required();
  address.add_options(app);
  app.add_flag("--detached", detached, "print the job's number, and leave it running");
  app.footer("Exit code: 0 success, 1 the job failed, 2 wrong usage, 130 cancelled or detached.");
  if (const auto code = parse_words(app, invocation, split.own)) return *code;

  Result<JobFile> file = read_job_file(invocation.platform.files(), path);
  if (!file.ok()) return report(invocation.platform, file.status());
  const Result<JobFunction> job = invocation.libraries.load(file->hash, file->bytes);
  if (!job.ok()) return report(invocation.platform, job.status().with_context(path));
  std::vector<std::string> words{"--job-manager=" + address.job_manager};
  const auto pass_on = [&words](const char* option, const std::string& value) {
    if (!value.empty()) words.push_back(option + value);
  };
  pass_on("--token-file=", address.token_file);
  pass_on("--tls-ca=", address.tls.ca_file);
  pass_on("--tls-certificate=", address.tls.certificate_file);
  pass_on("--tls-key=", address.tls.key_file);
  pass_on("--tls-peer-name=", address.tls.peer_name);
  if (detached) words.push_back("--detached");
  words.insert(words.end(), split.of_job.begin(), split.of_job.end());
  return run_embedded(invocation.platform, *job, path, words,
                      library_origin(*std::move(file), path, invocation.program));
}

}  // namespace hummer
