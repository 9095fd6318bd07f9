// CommandOptions: a program's options (api/options/) as options of a command.
//
//   CommandOptions<ClientSettings> options(line);      // --job-manager, --token-file ...
//   line.read(...);
//   ClientSettings settings;
//   if (auto read = options.read(platform, settings); !read.ok()) {
//     return report(platform, read.status());
//   }
//
// CLI11 only cuts the words: types, limits and defaults are those of the table, for flags as for
// the file and the environment.
//
// Lifecycle: made before line.read, read after it while `line` lives. Thread: the main thread.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/configuration_file.hpp"
#include "api/options/option_programs.hpp"
#include "cli/command_line.hpp"
#include "platform/platform.hpp"

namespace hummer {

class OptionFlags {
 public:
  OptionFlags(CommandLine& line, const OptionProgram& program);
  std::vector<OptionFlag> given() const;

 private:
  std::vector<std::pair<const Option*, CLI::Option*>> flags_;
};

template <typename Settings>
class CommandOptions {
 public:
  explicit CommandOptions(CommandLine& line) : flags_(line, program_of<Settings>()) {}

  Result<std::vector<EffectiveOption>> read(Platform& platform, Settings& settings) const {
    const Result<OptionSources> sources = find_sources(platform.files(), flags_.given());
    if (!sources.ok()) return sources.status();
    auto effective = read_settings(*sources, settings);
    if (effective.ok()) warn_of_variables(platform, *sources);
    return effective;
  }

 private:
  OptionFlags flags_;
};

// "--job-manager" and the like: those of the program that take a value, for
// split_at_first_argument.
std::vector<std::string> options_with_value(const OptionProgram& program);

}  // namespace hummer
