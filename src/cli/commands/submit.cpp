#include "cli/commands/submit.hpp"

#include <fmt/format.h>

#include "cli/command_options.hpp"
#include "cli/embedded.hpp"
#include "cli/job_file.hpp"

namespace hummer {
namespace {

constexpr const char* description =
    "Submits a job to a cluster and watches it to its end; Ctrl-C leaves it running.\n"
    "What follows LIBRARY are the job's options: `submit LIBRARY --help` lists them.";

// --config among the words, for who reads the file before they do.
std::vector<OptionFlag> configuration_flag(const std::vector<std::string>& words) {
  constexpr std::string_view with_value = "--config=";
  std::vector<OptionFlag> flags;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--config" && i + 1 < words.size()) flags.push_back({"config", words[i + 1]});
    if (words[i].starts_with(with_value)) {
      flags.push_back({"config", words[i].substr(with_value.size())});
    }
  }
  return flags;
}

// The job inside this program: its own environment reads all options. What makes it a submission is
// the JobManager's address, which has a default for clients but none for jobs.
int submit_own_job(const Invocation& invocation) {
  const Result<OptionSources> sources =
      find_sources(invocation.platform.files(), configuration_flag(invocation.words));
  if (!sources.ok()) return report(invocation.platform, sources.status());
  EnvironmentOptions as_job;
  ClientSettings as_client;
  for (const auto& read : {read_settings(*sources, as_job), read_settings(*sources, as_client)}) {
    if (!read.ok()) return report(invocation.platform, read.status());
  }
  std::vector<std::string> words = invocation.words;
  if (as_job.job_manager.empty()) {
    words.insert(words.begin(), "--job-manager=" + as_client.job_manager);
  }
  return run_embedded(invocation.platform, invocation.job, invocation.program, words,
                      own_origin(invocation.platform, invocation.program));
}

}  // namespace

int run_submit(const Invocation& invocation) {
  if (invocation.job != nullptr) return submit_own_job(invocation);
  const CommandWords split =
      split_at_first_argument(invocation.words, options_with_value(program_of<ClientSettings>()));
  CommandLine line(description);
  std::string path;
  bool detached = false;
  line.argument("LIBRARY", path, "a library that hummer_add_job built");
  const CommandOptions<ClientSettings> command_options(line);
  line.flag("--detached", detached, "print the job's number, and leave it running");
  line.footer("Exit code: 0 success, 1 the job failed, 2 wrong usage, 130 cancelled or detached.");
  if (const auto code = line.read(invocation, split.own)) return *code;
  ClientSettings settings;
  if (const auto effective = command_options.read(invocation.platform, settings); !effective.ok()) {
    return report(invocation.platform, effective.status());
  }

  Result<JobFile> file = read_job_file(invocation.platform.files(), path);
  if (!file.ok()) return report(invocation.platform, file.status());
  const Result<JobFunction> job = invocation.libraries.load(file->hash, file->bytes);
  if (!job.ok()) return report(invocation.platform, job.status().with_context(path));
  std::vector<std::string> words{"--job-manager=" + settings.job_manager};
  const auto pass_on = [&words](const char* option, const std::string& value) {
    if (!value.empty()) words.push_back(option + value);
  };
  for (const OptionFlag& flag : configuration_flag(split.own)) pass_on("--config=", flag.text);
  pass_on("--token-file=", settings.credentials.token_file);
  pass_on("--tls-ca=", settings.credentials.tls.ca_file);
  pass_on("--tls-certificate=", settings.credentials.tls.certificate_file);
  pass_on("--tls-key=", settings.credentials.tls.key_file);
  pass_on("--tls-peer-name=", settings.credentials.tls.peer_name);
  if (detached) words.push_back("--detached");
  words.insert(words.end(), split.of_job.begin(), split.of_job.end());
  return run_embedded(invocation.platform, *job, path, words,
                      library_origin(*std::move(file), path, invocation.program));
}

}  // namespace hummer
