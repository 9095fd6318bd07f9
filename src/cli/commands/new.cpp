#include "cli/commands/new.hpp"

#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "cli/new_project/new_project.hpp"

namespace hummer {

int run_new(const Invocation& invocation) {
  CommandLine line(
      "Writes a project of its own for a job: CMakeLists.txt, the job, tests, README.md. It "
      "builds\n"
      "against the installed Hummer (libhummer-dev, or `cmake --install`).");
  std::string name, directory;
  line.argument("NAME", name, "of project, program and job: letters, digits and _");
  line.option("--directory", directory, "where it goes [NAME]; made when it is missing");
  line.footer("Exit code: 0 success, 1 failure, 2 wrong usage.");
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  Platform& platform = invocation.platform;
  // Before the name becomes a path.
  if (const Status status = check_project_name(name); !status.ok()) {
    return report(platform, status);
  }
  if (directory.empty()) directory = name;
  const auto written = write_new_project(platform.files(), name, directory);
  if (!written.ok()) return report(platform, written.status());
  std::string text;
  for (const std::string& path : *written) text += path + "\n";
  (void)platform.write_standard(1, text);
  (void)platform.write_standard(
      2, fmt::format("hummer: now: cd {} && cmake -B build && cmake --build build && ctest "
                     "--test-dir build (README.md says more)\n",
                     directory));
  return 0;
}

}  // namespace hummer
