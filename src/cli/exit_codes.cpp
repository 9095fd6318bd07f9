#include "cli/exit_codes.hpp"

#include <fmt/format.h>

namespace hummer {
namespace {

constexpr ExitCode all_exit_codes[] = {
    {0, "success",
     "Done as asked. A job: it has finished, also when SIGTERM or Ctrl-C ended it early in good "
     "order; then a line says so. JobManager, TaskManager and a local cluster: ended by a signal "
     "in good order."},
    {1, "failure",
     "It failed; the last line on standard error says why, with a code of errors.md."},
    {2, "wrong usage",
     "The command line, the environment or the configuration file is wrong; nothing was begun."},
    {130, "cancelled",
     "The job was cancelled; or the program that watched it on a cluster was interrupted, and the "
     "job goes on; or a second Ctrl-C has ended the process at once."},
    {143, "ended at once",
     "A second SIGTERM has ended the process at once, or one that came before it could end in good "
     "order."},
};

}  // namespace

std::span<const ExitCode> exit_codes() { return all_exit_codes; }

std::string exit_codes_line() {
  std::string text = "Exit code: ";
  for (const ExitCode& code : all_exit_codes) {
    text += fmt::format("{}{} {}", code.code == 0 ? "" : ", ", code.code, code.short_form);
  }
  return text + ".";
}

std::string exit_codes_page() {
  std::string text =
      "# Exit codes\n\n"
      "Of `hummer`, all its commands, and programs with a job inside.\n\n"
      "| code | in short | what it means |\n|---|---|---|\n";
  for (const ExitCode& code : all_exit_codes) {
    text += fmt::format("| {} | {} | {} |\n", code.code, code.short_form, code.meaning);
  }
  return text +
         "\n## Signals\n\n"
         "| signal | a job in its own program, or `hummer run` | `hummer jobmanager`, `hummer "
         "taskmanager`, `hummer local` | `hummer submit` |\n|---|---|---|---|\n"
         "| SIGTERM, Ctrl-C | the sources end, what was read flows through to the sinks; 0 | ends "
         "in good order; 0 | leaves the job running; 130 |\n"
         "| a second one | ends at once; 143 or 130 | the same | the same |\n"
         "| SIGHUP | ends it, unless under `nohup` | reads the TLS files again now | ends it |\n\n"
         "A TaskManager that ends takes its parts of jobs with it, and says so in its log; the "
         "JobManager starts such a job\nagain, from its newest checkpoint, if its restart strategy "
         "says so. Jobs of a JobManager that ends go on under the\nnext one of the same "
         "`--state-dir`; without one they end.\n";
}

}  // namespace hummer
