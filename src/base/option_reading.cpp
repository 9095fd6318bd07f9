#include "base/option_reading.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <map>

#include "base/nearest_name.hpp"

namespace hummer {
namespace {

constexpr std::string_view variable_prefix = "HUMMER_";

// Variables of this prefix that are no options: of the repository's scripts and tests.
constexpr std::string_view script_variables[] = {
    "HUMMER_CHAOS_INSIDE", "HUMMER_FUZZ_SEED",   "HUMMER_HOSTILE_TLS",
    "HUMMER_ITEM",         "HUMMER_MUTANTS_MIN", "HUMMER_RESULT_HASH",
    "HUMMER_SCRATCH",      "HUMMER_SEED",        "HUMMER_SHORT"};
constexpr std::string_view test_prefix = "HUMMER_TEST_";
// What the loader of libraries and the library of s3:// read (docs/connectors.md).
constexpr std::string_view library_variables[] = {"HUMMER_PLUGIN_PATH", "HUMMER_S3_ADDRESSING",
                                                  "HUMMER_S3_REQUESTS_PER_SECOND",
                                                  "HUMMER_S3_RETRY_MS"};

// What Kubernetes sets in every container for a service whose name begins with "hummer".
bool is_service_link(const EnvironmentVariable& variable) {
  return variable.name.ends_with("_SERVICE_HOST") ||
         variable.name.find("_SERVICE_PORT") != std::string::npos ||
         variable.name.find("_TCP") != std::string::npos ||
         variable.name.find("_UDP") != std::string::npos || variable.value.starts_with("tcp://") ||
         variable.value.starts_with("udp://");
}

bool is_of_others(const EnvironmentVariable& variable) {
  return !variable.name.starts_with(variable_prefix) || variable.name.starts_with(test_prefix) ||
         std::find(std::begin(script_variables), std::end(script_variables), variable.name) !=
             std::end(script_variables) ||
         std::find(std::begin(library_variables), std::end(library_variables), variable.name) !=
             std::end(library_variables) ||
         is_service_link(variable);
}

// The first option of this name that the table may hold, or null.
const Option* find_key(std::span<const OptionProgram> programs, std::string_view table,
                       std::string_view key) {
  for (const OptionProgram& program : programs) {
    if (table != shared_table && table != program.name) continue;
    const Option* const option = program.find(key);
    if (option != nullptr && option->in_files && (table != shared_table || option->shared)) {
      return option;
    }
  }
  return nullptr;
}

std::vector<std::string> table_names(std::span<const OptionProgram> programs) {
  std::vector<std::string> names{std::string(shared_table)};
  for (const OptionProgram& program : programs) names.emplace_back(program.name);
  return names;
}

std::vector<std::string> keys_of(std::span<const OptionProgram> programs, std::string_view table) {
  std::vector<std::string> keys;
  for (const OptionProgram& program : programs) {
    for (const Option& option : program.options) {
      if (find_key(programs, table, option.name) != nullptr) keys.emplace_back(option.name);
    }
  }
  return keys;
}

Status file_fault(const Configuration& file, int line, std::string what) {
  return {ErrorCode::invalid_configuration,
          fmt::format("{}: {}", file.place(line), std::move(what))};
}

Status unknown_key(std::span<const OptionProgram> programs, const Configuration& file,
                   const ConfigurationEntry& entry) {
  std::string advice = suggestion(entry.key, keys_of(programs, entry.table));
  for (const OptionProgram& program : programs) {
    if (!advice.empty()) break;
    const Option* const option = program.find(entry.key);
    if (option == nullptr) continue;
    advice = option->in_files
                 ? fmt::format("; it belongs in [{}]", program.name)
                 : fmt::format("; it is no key of a file, only {}", variable_of(*option));
  }
  if (advice.empty()) advice = "; `hummer reference configuration` lists all keys";
  return file_fault(file, entry.line,
                    fmt::format("nothing reads '{}' in [{}]{}", entry.key, entry.table, advice));
}

// What the highest source says of an option.
struct Said {
  Result<OptionValue> value = OptionValue{};
  std::string from;  // empty: nothing says anything of it
};

Said find_value(const OptionProgram& program, const Option& option, const OptionSources& sources) {
  std::vector<std::string> texts;
  for (const OptionFlag& flag : sources.flags) {
    if (flag.name == option.name) texts.push_back(flag.text);
  }
  if (!texts.empty()) return {parse_option(option, texts), fmt::format("--{}", option.name)};

  const std::string variable = variable_of(option);
  for (const EnvironmentVariable& each : sources.variables) {
    if (each.name != variable || each.value.empty()) continue;
    return {parse_option(option, std::span(&each.value, 1)), variable};
  }

  const ConfigurationEntry* found = nullptr;
  for (const ConfigurationEntry& entry : sources.file.entries) {
    if (entry.key != option.name || !option.in_files) continue;
    if (entry.table == program.name) found = &entry;
    if (entry.table == shared_table && option.shared && found == nullptr) found = &entry;
  }
  if (found == nullptr) return {};
  return {parse_option(option, *found), sources.file.place(found->line)};
}

// Where the program is strict about them.
Status check_variables(const OptionProgram& program, std::span<const OptionProgram> programs,
                       const OptionSources& sources) {
  const Option* const strict = program.find(strict_variables);
  if (strict == nullptr) return {};
  const Said said = find_value(program, *strict, sources);
  if (!said.value.ok()) return said.value.status().with_context(said.from);
  if (!said.value->on) return {};
  const std::vector<std::string> unread = unread_variables(programs, sources.variables);
  if (unread.empty()) return {};
  return {ErrorCode::unknown_option, unread.front()};
}

}  // namespace

const Option* OptionProgram::find(std::string_view option) const {
  const auto found = std::find_if(options.begin(), options.end(),
                                  [&](const Option& each) { return each.name == option; });
  return found == options.end() ? nullptr : &*found;
}

std::string configuration_path(const OptionSources& sources) {
  std::string path;
  for (const EnvironmentVariable& variable : sources.variables) {
    if (variable.name == "HUMMER_CONFIG") path = variable.value;
  }
  for (const OptionFlag& flag : sources.flags) {
    if (flag.name == "config") path = flag.text;
  }
  return path;
}

std::string default_text(const OptionProgram& program, const Option& option) {
  if (!option.otherwise.empty() || option.load == nullptr) return std::string(option.otherwise);
  return option_text(option, option.load(option, program.defaults));
}

std::string described(const OptionProgram& program, const Option& option) {
  const std::string otherwise = default_text(program, option);
  if (otherwise.empty() || option.type == OptionType::on_off) {
    return std::string(option.description);
  }
  return fmt::format("{} [{}]", option.description, otherwise);
}

Status check_file(std::span<const OptionProgram> programs, const Configuration& file) {
  const std::vector<std::string> names = table_names(programs);
  for (const Configuration::TableHead& head : file.tables) {
    if (std::find(names.begin(), names.end(), head.name) != names.end()) continue;
    std::string advice = suggestion(head.name, names, "[", "]");
    if (advice.empty()) advice = fmt::format("; there are [{}]", fmt::join(names, "], ["));
    return file_fault(file, head.line,
                      fmt::format("nothing reads the table [{}]{}", head.name, advice));
  }
  for (const ConfigurationEntry& entry : file.entries) {
    const Option* const option = find_key(programs, entry.table, entry.key);
    if (option == nullptr) return unknown_key(programs, file, entry);
    const Result<OptionValue> value = parse_option(*option, entry);
    if (value.ok()) continue;
    return file_fault(file, entry.line,
                      fmt::format("'{}': {}", entry.key, value.status().message()));
  }
  return {};
}

std::vector<std::string> unread_variables(std::span<const OptionProgram> programs,
                                          std::span<const EnvironmentVariable> variables) {
  std::vector<std::string> known;
  for (const OptionProgram& program : programs) {
    for (const Option& option : program.options) known.push_back(variable_of(option));
  }
  std::vector<std::string> unread;
  for (const EnvironmentVariable& variable : variables) {
    if (is_of_others(variable) ||
        std::find(known.begin(), known.end(), variable.name) != known.end()) {
      continue;
    }
    std::string advice = suggestion(variable.name, known, "", "");
    if (advice.empty()) advice = "; `hummer reference configuration` lists all variables";
    unread.push_back(fmt::format("nothing reads the variable {}{}", variable.name, advice));
  }
  return unread;
}

Result<std::vector<EffectiveOption>> read_options(const OptionProgram& program,
                                                  std::span<const OptionProgram> programs,
                                                  const OptionSources& sources, void* settings) {
  HUMMER_TRY(check_file(programs, sources.file));
  HUMMER_TRY(check_variables(program, programs, sources));
  std::vector<EffectiveOption> all;
  for (const Option& option : program.options) {
    const Said said = find_value(program, option, sources);
    if (!said.value.ok()) return said.value.status().with_context(said.from);
    EffectiveOption& effective = all.emplace_back();
    effective.option = &option;
    effective.from = said.from.empty() ? "default" : said.from;
    if (said.from.empty()) {
      effective.text = default_text(program, option);
      continue;
    }
    effective.text = option_text(option, *said.value);
    if (option.store != nullptr) {
      option.store(option, *said.value, settings);
      effective.text = option_text(option, option.load(option, settings));
    }
    if (option.secret) effective.text = "***";
  }
  return all;
}

}  // namespace hummer
