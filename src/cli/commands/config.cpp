#include "cli/commands/config.hpp"

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "cli/command_options.hpp"
#include "cli/table.hpp"

namespace hummer {
namespace {

constexpr const char* description =
    "Shows the options of a program as they are in effect, and where each value comes from: the\n"
    "default, a line of the configuration file, a variable of the environment, or a flag.";

// One program with its flags, or all of them.
using Shown = std::vector<std::pair<std::string_view, std::vector<EffectiveOption>>>;

template <typename Settings>
Status add(const OptionSources& sources, Shown& shown) {
  Settings settings;
  auto effective = read_settings(sources, settings);
  if (!effective.ok()) return effective.status();
  shown.emplace_back(program_of<Settings>().name, std::move(*effective));
  return {};
}

Status collect(const OptionSources& sources, std::string_view program, Shown& shown) {
  const auto wanted = [&](std::string_view name) { return program.empty() || program == name; };
  if (wanted("jobmanager")) HUMMER_TRY(add<JobManagerSettings>(sources, shown));
  if (wanted("taskmanager")) HUMMER_TRY(add<TaskManagerSettings>(sources, shown));
  if (wanted("local")) HUMMER_TRY(add<LocalSettings>(sources, shown));
  if (wanted("client")) HUMMER_TRY(add<ClientSettings>(sources, shown));
  if (wanted("job")) HUMMER_TRY(add<EnvironmentOptions>(sources, shown));
  return {};
}

std::string json_of(const Shown& shown) {
  JsonWriter json;
  json.begin_object();
  json.begin_array("options");
  for (const auto& [program, options] : shown) {
    for (const EffectiveOption& each : options) {
      json.begin_object();
      json.field("program", program);
      json.field("option", each.option->name);
      json.field("value", each.text);
      json.field("unit", each.option->unit);
      json.field("from", each.from);
      json.end_object();
    }
  }
  json.end_array();
  json.end_object();
  return std::move(json).finish();
}

Table table_of(const Shown& shown) {
  Table table({"program", "option", "value", "unit", "from"});
  for (const auto& [program, options] : shown) {
    for (const EffectiveOption& each : options) {
      table.add({std::string(program), std::string(each.option->name), each.text,
                 std::string(each.option->unit), each.from});
    }
  }
  return table;
}

// The program among the words, whose flags the others may be.
const OptionProgram* find_program(const std::vector<std::string>& words) {
  for (const OptionProgram& program : option_programs()) {
    if (words.size() > 1 && words[0] == "show" && words[1] == program.name) return &program;
  }
  return nullptr;
}

}  // namespace

int run_config(const Invocation& invocation) {
  CommandLine line(description);
  const OptionProgram* const program = find_program(invocation.words);
  std::string action, name;
  bool json = false;
  std::vector<std::string> names;
  for (const OptionProgram& each : option_programs()) names.emplace_back(each.name);
  line.argument("ACTION", action, "show", {"show"});
  line.optional_argument("PROGRAM", name,
                         fmt::format("{}, whose flags may follow [all]", fmt::join(names, ", ")),
                         names);
  line.flag("--json", json, "one JSON object");
  // Without a program only the file can be named.
  constexpr Option file_only[] = {
      {.name = "config", .value = "FILE", .type = OptionType::text, .description = "TOML file"}};
  const OptionProgram none{"", "", file_only, nullptr};
  const OptionFlags flags(line, program == nullptr ? none : *program);
  line.footer("Exit code: 0 success, 2 something in file, environment or flags is wrong.");
  if (const auto code = line.read(invocation, invocation.words)) return *code;

  Platform& platform = invocation.platform;
  const Result<OptionSources> sources = find_sources(platform.files(), flags.given());
  if (!sources.ok()) return report(platform, sources.status());
  Shown shown;
  if (const Status status = collect(*sources, name, shown); !status.ok()) {
    return report(platform, status);
  }
  warn_of_variables(platform, *sources);
  (void)platform.write_standard(
      1, json ? json_of(shown) : table_of(shown).text(platform.is_terminal(1)));
  return 0;
}

}  // namespace hummer
