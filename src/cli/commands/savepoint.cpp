#include "cli/commands/savepoint.hpp"

#include "cli/cluster_session.hpp"

namespace hummer {

int run_savepoint(const Invocation& invocation) {
  CommandLine line(
      "Saves a job's state while it goes on, and prints the savepoint's directory: what `--restore "
      "PATH` takes.");
  ClusterSession session(invocation.platform);
  std::string word;
  std::string directory;
  line.argument("JOB", word, "number, or name");
  line.optional_argument("DIR", directory,
                         "directory below which it is made [where its checkpoints are]");
  session.add_options(line);
  line.footer(exit_codes_text);
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  if (Status status = session.open(); !status.ok()) return report(invocation.platform, status);
  const Result<std::uint64_t> job = session.find_job(word);
  if (!job.ok()) return report(invocation.platform, job.status());
  const Result<std::string> path = session.take_savepoint(*job, directory, false);
  if (!path.ok()) return report(invocation.platform, path.status());
  session.print(*path + "\n");
  return 0;
}

}  // namespace hummer
