// Configuration: what a configuration file says.
//
//   [job]                             # options of jobs, as on their command line
//   parallelism = 4
//   checkpoint-dir = "/var/lib/hummer/checkpoints"
//
// TOML; each table is named after what reads it, each key after an option without its dashes.
// Values are texts, numbers and booleans, and lists of them for options that may come several
// times: they mean what the same text means on a command line. Of equal options a flag wins over
// the environment, and that over the file.
//
// Errors: invalid_configuration that names file, line and key. Thread: a value.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/status.hpp>

namespace hummer {

struct ConfigurationEntry {
  std::string table;
  std::string key;
  std::vector<std::string> values;  // as texts; a boolean is "true" or "false"
  bool is_switch = false;           // it was a boolean
  int line = 0;
};

struct Configuration {
  std::string file;  // empty: there is none
  std::vector<ConfigurationEntry> entries;

  // "hummer.toml:12"
  std::string place(const ConfigurationEntry& entry) const;
};

inline constexpr std::size_t max_configuration_bytes = std::size_t{1} << 20;

// `file` is for messages.
Result<Configuration> parse_configuration(std::string_view text, std::string file);

// Whether every table is one of `tables`; else the error, with a suggestion.
Status check_tables(const Configuration& configuration, std::span<const std::string_view> tables);

// The candidate most like `name`, if any is like enough to be what was meant; else empty.
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

}  // namespace hummer
