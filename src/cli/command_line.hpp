// CommandLine: what a command takes, told before its words are read.
//
//   CommandLine line("Prints what a job has logged.");
//   line.argument("JOB", word, "number, or name");
//   line.flag("--json", json, "one JSON object");
//   if (const auto code = line.read(invocation, invocation.words)) return *code;
//
// CLI11 reads the words and writes --help. Only command_line.cpp and command_options.cpp see it:
// its header alone costs a compiler four seconds.
//
// Lifecycle: made, told, read once; the variables it was told of must live until then. Thread: the
// main thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hummer {

class CommandLine {
 public:
  using Choices = std::vector<std::string>;

  explicit CommandLine(const std::string& description);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Words without dashes, in this order. `choices`: what may be written; empty: anything.
  void argument(const std::string& name, std::string& value, const std::string& description,
                const Choices& choices = {});
  void optional_argument(const std::string& name, std::string& value,
                         const std::string& description, const Choices& choices = {});
  // As many words as there are, at least one.
  void arguments(const std::string& name, std::vector<std::string>& values,
                 const std::string& description);
  // With a value.
  void option(const std::string& name, std::string& value, const std::string& description,
              const Choices& choices = {});
  void option(const std::string& name, std::uint64_t& value, const std::string& description);
  // May be given several times.
  void option(const std::string& name, std::vector<std::string>& values,
              const std::string& description);
  // With a value or without; `given`: it was there.
  void option_or_flag(const std::string& name, const std::string& value_name, std::string& value,
                      bool& given, const std::string& description);
  void flag(const std::string& names, bool& value, const std::string& description);
  // --json and --tsv, which exclude each other.
  void output_options(bool& json, bool& tsv);
  // The last lines of --help.
  void footer(const std::string& text);

  // Empty: go on. Else the exit code: --help was asked for (0) or the words were wrong (2), and
  // that has been said.
  std::optional<int> read(const Invocation& invocation, const std::vector<std::string>& words);

  // For OptionFlags.
  CLI::App& app() { return *app_; }

 private:
  const std::unique_ptr<CLI::App> app_;
  std::vector<std::pair<const CLI::Option*, bool*>> given_;
};

}  // namespace hummer
