// run_program: main() of a program with a job inside (hummer/job.hpp).
#include <fmt/format.h>

#include "cli/command_table.hpp"
#include "cli/embedded.hpp"

namespace hummer {

int run_program(int argc, const char* const* argv, JobFunction job) {
  const std::unique_ptr<Platform> platform = make_linux_platform();
  const std::string program = argc > 0 ? argv[0] : "job";
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty()) {
    if (const Command* command = find_command(cluster_commands(), words.front())) {
      words.erase(words.begin());
      BuiltInJobLibraries libraries;
      return command->run({.platform = *platform,
                           .libraries = libraries,
                           .job = job,
                           .program = program,
                           .command = std::string(command->name),
                           .words = std::move(words)});
    }
  }
  return run_embedded(*platform, job, program, words, own_origin(*platform, program));
}

}  // namespace hummer
