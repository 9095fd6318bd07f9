#include "cli/command_line.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <charconv>
#include <sstream>
#include <utility>

#include "base/nearest_name.hpp"

namespace hummer {
namespace {

// The first word that looks like an option and is none, whatever else was wrong.
Status unknown_option(const CLI::App& app) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    known.insert(known.end(), option->get_lnames().begin(), option->get_lnames().end());
  }
  for (const std::string& word : app.remaining()) {
    if (!word.starts_with("--") || word.size() == 2) continue;
    const std::string name = word.substr(2, word.find('=') - 2);
    return {ErrorCode::unknown_option, fmt::format("unknown option --{}{}; --help lists them", name,
                                                   suggestion(name, known, "--", ""))};
  }
  return {};
}

CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& value,
                      const std::string& description, const CommandLine::Choices& choices) {
  CLI::Option* const option = app.add_option(name, value, description);
  if (!choices.empty()) option->check(CLI::IsMember(choices));
  return option;
}

// CLI11 takes "-1" for the largest number there is.
std::string why_no_number(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return {};
  return fmt::format("expected a whole number, not '{}'", text);
}

}  // namespace

CommandLine::CommandLine(const std::string& description)
    : app_(std::make_unique<CLI::App>(description)) {}
CommandLine::~CommandLine() = default;

void CommandLine::argument(const std::string& name, std::string& value,
                           const std::string& description, const Choices& choices) {
  add_text(*app_, name, value, description, choices)->required();
}
void CommandLine::optional_argument(const std::string& name, std::string& value,
                                    const std::string& description, const Choices& choices) {
  add_text(*app_, name, value, description, choices);
}
void CommandLine::arguments(const std::string& name, std::vector<std::string>& values,
                            const std::string& description) {
  app_->add_option(name, values, description)->required();
}
void CommandLine::option(const std::string& name, std::string& value,
                         const std::string& description, const Choices& choices) {
  add_text(*app_, name, value, description, choices);
}
void CommandLine::option(const std::string& name, std::uint64_t& value,
                         const std::string& description) {
  app_->add_option(name, value, description)->check(CLI::Validator(&why_no_number, {}));
}
void CommandLine::option(const std::string& name, std::vector<std::string>& values,
                         const std::string& description) {
  app_->add_option(name, values, description)->expected(1)->take_all();
}
void CommandLine::option_or_flag(const std::string& name, const std::string& value_name,
                                 std::string& value, bool& given, const std::string& description) {
  CLI::Option* const option = app_->add_option(name, value, description);
  option->expected(0, 1)->type_name(value_name);
  given_.emplace_back(option, &given);
}
void CommandLine::flag(const std::string& names, bool& value, const std::string& description) {
  app_->add_flag(names, value, description);
}
void CommandLine::output_options(bool& json, bool& tsv) {
  CLI::Option* const as_json = app_->add_flag("--json", json, "one JSON object");
  app_->add_flag("--tsv", tsv, "tab-separated, as when the output is no terminal")
      ->excludes(as_json);
}
void CommandLine::footer(const std::string& text) { app_->footer(text); }

std::optional<int> CommandLine::read(const Invocation& invocation,
                                     const std::vector<std::string>& words) {
  app_->name(invocation.program + " " + invocation.command);
  std::vector<std::string> last_first(words.rbegin(), words.rend());
  try {
    app_->parse(std::move(last_first));
    for (const auto& [option, given] : given_) *given = option->count() > 0;
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    if (const Status unknown = unknown_option(*app_); error.get_exit_code() != 0 && !unknown.ok()) {
      (void)invocation.platform.write_standard(2, "hummer: " + unknown.to_string() + "\n");
      return 2;
    }
    std::ostringstream output, complaint;
    const int code = app_->exit(error, output, complaint);
    (void)invocation.platform.write_standard(1, output.str());
    if (code == 0) return 0;
    (void)invocation.platform.write_standard(2, "hummer: " + complaint.str());
    return 2;
  }
}

}  // namespace hummer
