#include "cli/hummer_program.hpp"

#include <fmt/format.h>
#include <array>

#include "cli/command_table.hpp"
#include "cli/commands/new.hpp"
#include "cli/commands/reference.hpp"
#include "cli/commands/run.hpp"
#include "cli/exit_codes.hpp"
#include "job_library/engine_abi.hpp"

namespace hummer {
namespace {

// What only `hummer` can do: a program with a job inside runs that, and loads no libraries.
constexpr std::array own_commands = {
    Command{"run", "LIBRARY [--name VALUE]...", "runs a job library embedded in this process",
            &run_run},
    Command{"new", "NAME [--directory DIR]", "writes a project for a job, with tests", &run_new},
    Command{"reference", "PAGE", "prints a reference page of the documents", &run_reference},
};

std::string help(std::span<const Command> further) {
  return "usage: hummer COMMAND ...\n\nCommands (each knows --help):\n" +
         describe_commands(own_commands) + describe_commands(further) +
         describe_commands(cluster_commands()) +
         "\n  --version    engine and ABI\n  --help       this text\n\n" + exit_codes_line() + "\n";
}

}  // namespace

int run_hummer(int argc, const char* const* argv, Platform& platform, JobLibraries& libraries,
               std::span<const Command> further) {
  const std::string word = argc > 1 ? argv[1] : "";
  if (word == "--help" || word == "-h") {
    (void)platform.write_standard(1, help(further));
    return 0;
  }
  if (word == "--version") {
    (void)platform.write_standard(
        1, fmt::format("hummer {}\nABI: {}\n", engine_version(), engine_abi()));
    return 0;
  }
  const Command* command = find_command(own_commands, word);
  if (command == nullptr) command = find_command(further, word);
  if (command == nullptr) command = find_command(cluster_commands(), word);
  if (command == nullptr) {
    (void)platform.write_standard(
        2, word.empty() ? help(further)
                        : fmt::format("hummer: no command '{}': hummer --help lists them\n", word));
    return 2;
  }
  return command->run({.platform = platform,
                       .libraries = libraries,
                       .job = nullptr,
                       .program = argv[0],
                       .command = word,
                       .words = {argv + 2, argv + argc}});
}

}  // namespace hummer
