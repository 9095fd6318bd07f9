// Configuration: what a configuration file says.
//
//   [cluster]                         # what all programs share
//   token-file = "/etc/hummer/token"
//
//   [job]                             # options of jobs, as on their command line
//   parallelism = 4
//   memory-limit = "4GiB"
//   checkpoint-dir = "/var/lib/checkpoints"
//
// The language is the part of TOML 1.0 that options need: tables of one level with bare or quoted
// names; keys likewise; texts in one line ("…" with escapes, '…' without), whole numbers, decimal
// numbers, true and false, and lists of those; comments; UTF-8. What TOML has beyond it (dotted
// keys, [[…]], inline tables, lists in lists, texts of several lines, dates, inf and nan) is
// refused by name, never read as something else. So every accepted file is TOML and means the same
// there.
//
// Why a reader of our own: what Debian 12 packages breaks on malformed files, which are somebody's
// typing mistake here. toml++ 3.3 has undefined behaviour (marzer/tomlplusplus#294, "[&"), toml11
// 3.7.1 and cpptoml 0.1.1 assert or read out of bounds (NixOS/nix#11972, skystrife/cpptoml#57). And
// none gives the line of each key of a table in which another key is wrong.
//
// Errors: invalid_configuration that names file, line and what is expected. Thread: a value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hummer/status.hpp>

namespace hummer {

struct ConfigurationValue {
  enum class Type { text, integer, decimal, on_off };
  Type type = Type::text;
  std::string text;  // "true", "false", a number in decimal, or the text itself
};

struct ConfigurationEntry {
  std::string table;
  std::string key;
  std::vector<ConfigurationValue> values;  // one, or those of a list
  bool is_list = false;
  int line = 0;
};

struct Configuration {
  struct TableHead {
    std::string name;
    int line = 0;
  };

  std::string file;  // empty: there is none
  std::vector<TableHead> tables;
  std::vector<ConfigurationEntry> entries;  // in the file's order

  // "hummer.toml:12"
  std::string place(int line) const { return file + ":" + std::to_string(line); }
};

inline constexpr std::size_t max_configuration_bytes = std::size_t{1} << 20;

// `file` is for messages.
Result<Configuration> parse_configuration(std::string_view text, std::string file);

}  // namespace hummer
