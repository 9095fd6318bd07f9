// Option: one row of the options' table; what it is called everywhere, its type, and where its
// value goes.
//
//   field<&TaskManagerSettings::slots>({.name = "slots", .value = "N", .least = 1, .most = 4096,
//                                       .otherwise = "one per processor",
//                                       .description = "parts of jobs that run at once"})
//
// is --slots on the command line, HUMMER_SLOTS in the environment and `slots` in the file's table
// [taskmanager]; --help, docs/configuration.md, `config show` and every message about it come from
// this row. The default is what a default-constructed settings struct holds.
//
// To add an option: a member in the settings struct (api/options/settings.hpp, or
// EnvironmentOptions for jobs), a row beside the others in api/options/, and the use of the member;
// then `hummer reference configuration > docs/configuration.md`. A test fails on a member without a
// row and on a row that changes no member.
//
// Rows are constants. Errors of parse_option: invalid_argument, "expected ..., not '...'".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/status.hpp>

#include "base/configuration.hpp"

namespace hummer {

enum class OptionType : std::uint8_t {
  of_member,  // on_off, integer, decimal or text, as the member's type says
  on_off,
  integer,
  decimal,
  size,     // bytes: 512M, 4GiB, 1048576
  text,     // anything; paths and names
  choice,   // one of Option::choices
  address,  // host:port
};

// A value of any type, as it lies in the settings.
struct OptionValue {
  bool on = false;
  std::int64_t integer = 0;  // integer, size
  double decimal = 0;
  std::vector<std::string> texts;  // text, choice, address; several if the option takes several
};

struct Option {
  std::string_view name = {};   // "slots"
  std::string_view value = {};  // what --help calls its value: "N"; switches have none
  OptionType type = OptionType::of_member;
  std::string_view unit = {};  // "ms"; empty: none, or the type's
  // Limits of numbers; both 0: none.
  double least = 0;
  double most = 0;
  std::span<const std::string_view> choices = {};  // of address: words that are allowed too
  std::string_view implied = {};                   // value of the bare flag; empty: it needs one
  std::string_view otherwise = {};                 // the default, where it is not the member's
  std::string_view description = {};
  bool shared = false;   // the file's table [cluster] may hold it too, for all programs
  bool secret = false;   // shown as ***
  bool in_flags = true;  // --name
  bool in_files = true;  // a key of the program's table
  bool many = false;     // a list: separated by commas, or given several times (set by field)
  bool negated = false;  // a switch that turns the member off (set by negated_field)
  void (*store)(const Option& option, const OptionValue& value, void* settings) = nullptr;
  OptionValue (*load)(const Option& option, const void* settings) = nullptr;
};

// "HUMMER_CHECKPOINT_DIR"
std::string variable_of(const Option& option);
// What a value must be: "a whole number from 1 to 4096".
std::string expectation(const Option& option);

// The value that texts of flags or a variable mean. REQUIRES: at least one text. Of several texts
// for an option that takes one the last counts.
Result<OptionValue> parse_option(const Option& option, std::span<const std::string> texts);
// The value that the file's entry means; its types must fit.
Result<OptionValue> parse_option(const Option& option, const ConfigurationEntry& entry);

// The shortest text that parse_option reads as this value.
std::string option_text(const Option& option, const OptionValue& value);

}  // namespace hummer
