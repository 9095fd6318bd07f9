// read_options: a program's settings, from the file, the environment and the flags.
//
// Later ones win: default < file, table [cluster] < file, the program's own table < variable <
// flag. A variable that is empty counts as not set. Names are checked for all programs, values of
// the file too: a file is right or wrong whoever reads it, and a misspelt variable is an error
// rather than without effect.
//
// Pure: who calls it has read the file and the environment. Errors name the place (file:line,
// variable or flag) and what is expected or was meant: invalid_configuration of the file,
// unknown_option or invalid_argument of variables and flags.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/status.hpp>

#include "base/configuration.hpp"
#include "base/option.hpp"

namespace hummer {

// Who has options: a process, or what a command asks.
struct OptionProgram {
  std::string_view name;  // and its table in the file
  std::string_view summary;
  std::span<const Option> options;
  const void* defaults;  // a settings struct as it is before anything is read

  const Option* find(std::string_view option) const;
};

inline constexpr std::string_view shared_table = "cluster";

struct EnvironmentVariable {
  std::string name;
  std::string value;
};

struct OptionFlag {
  std::string name;  // without dashes
  std::string text;  // of a bare switch "true"
};

struct OptionSources {
  Configuration file;
  std::vector<EnvironmentVariable> variables;
  std::vector<OptionFlag> flags;  // of this program; unknown names are their reader's business
};

// What an option is, and why.
struct EffectiveOption {
  const Option* option = nullptr;
  std::string text;  // *** of a secret that is set
  std::string from;  // "default", "hummer.toml:3", "HUMMER_SLOTS", "--slots"
};

// Where the file is: the flag --config, else HUMMER_CONFIG, else empty.
std::string configuration_path(const OptionSources& sources);

// The default as a person reads it; empty: there is none.
std::string default_text(const OptionProgram& program, const Option& option);
// What --help says of it: "parts of jobs that run at once [one per processor]".
std::string described(const OptionProgram& program, const Option& option);

// Whether all names and values of the file are right.
Status check_file(std::span<const OptionProgram> programs, const Configuration& file);
// The variables that begin as the options' do and that nothing reads, each in words and with the
// one that may be meant: "nothing reads the variable HUMMER_SLOT, did you mean HUMMER_SLOTS?". They
// may be another program's, so they are worth a warning; where the option `strict-variables` is on,
// read_options refuses the first of them.
std::vector<std::string> unread_variables(std::span<const OptionProgram> programs,
                                          std::span<const EnvironmentVariable> variables);
inline constexpr std::string_view strict_variables = "strict-variables";

// Checks the sources and stores into `settings`, which is of the program's struct. All options, in
// the table's order.
Result<std::vector<EffectiveOption>> read_options(const OptionProgram& program,
                                                  std::span<const OptionProgram> programs,
                                                  const OptionSources& sources, void* settings);

}  // namespace hummer
