// CommandOptions: a program's options (api/options/) as options of a command.
//
//   CommandOptions<ClientSettings> options(app);      // --job-manager, --token-file ...
//   parse_words(app, ...);
//   ClientSettings settings;
//   if (auto read = options.read(platform, settings); !read.ok()) return report(platform,
//   read.status());
//
// CLI11 only cuts the words: types, limits and defaults are those of the table, for flags as for
// the file and the environment.
//
// Lifecycle: made before parse_words, read after it while `app` lives. Thread: the main thread.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/configuration_file.hpp"
#include "api/options/option_programs.hpp"
#include "platform/platform.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hummer {

class OptionFlags {
 public:
  OptionFlags(CLI::App& app, const OptionProgram& program);
  std::vector<OptionFlag> given() const;

 private:
  std::vector<std::pair<const Option*, CLI::Option*>> flags_;
};

template <typename Settings>
class CommandOptions {
 public:
  explicit CommandOptions(CLI::App& app) : flags_(app, program_of<Settings>()) {}

  Result<std::vector<EffectiveOption>> read(Platform& platform, Settings& settings) const {
    const Result<OptionSources> sources = find_sources(platform.files(), flags_.given());
    if (!sources.ok()) return sources.status();
    return read_settings(*sources, settings);
  }

 private:
  OptionFlags flags_;
};

// "--job-manager" and the like: those of the program that take a value, for
// split_at_first_argument.
std::vector<std::string> options_with_value(const OptionProgram& program);

}  // namespace hummer
