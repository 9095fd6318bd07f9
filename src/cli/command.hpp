// Command: one word of the command line and what it does.
//
// `hummer WORD ...` and a program with a job inside, `wordcount WORD ...`, look
// the word up in a table. Each command is one file in cli/commands/, whose
// function gets the words behind its own and answers the exit code: 0 success,
// 1 failure, 2 wrong usage, 130 cancelled.
//
// To add one: write cli/commands/x.{hpp,cpp} with `int run_x(const Invocation&)`, and a row in
// cli/command_table.cpp.
//
// Thread: the main thread. Errors: said on standard error by the command itself (report()).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/job.hpp>
#include <hummer/status.hpp>

#include "job_library/job_libraries.hpp"
#include "platform/platform.hpp"

namespace hummer {

// What a command is called with.
struct Invocation {
  Platform& platform;
  // Where jobs come from: libraries in `hummer`, the job inside in a program.
  JobLibraries& libraries;
  JobFunction job = nullptr;       // null in `hummer`
  std::string program;             // argv[0]
  std::string command;             // "run"
  std::vector<std::string> words;  // behind the command
};

struct Command {
  std::string_view name;
  std::string_view arguments;  // for --help: "LIBRARY [--name VALUE]..."
  std::string_view summary;
  int (*run)(const Invocation&);
};

// The command with this name, or null.
const Command* find_command(std::span<const Command> commands, std::string_view name);

// A line per command.
std::string describe_commands(std::span<const Command> commands);

// Says on standard error what failed; the exit code for it.
int report(Platform& platform, const Status& failure);

// The words before the first that is no option, with that one, and those behind it: a command's
// own `[--name VALUE]... LIBRARY` and the job's arguments. `options_with_value` are the own options
// that take one ("--job-manager").
struct CommandWords {
  std::vector<std::string> own;
  std::vector<std::string> of_job;
};
CommandWords split_at_first_argument(const std::vector<std::string>& words,
                                     std::span<const std::string> options_with_value);

}  // namespace hummer
