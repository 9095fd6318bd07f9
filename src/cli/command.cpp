#include "cli/command.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

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

}  // namespace

const Command* find_command(std::span<const Command> commands, std::string_view name) {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const Command& command) { return command.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

std::string describe_commands(std::span<const Command> commands) {
  std::string text;
  for (const Command& command : commands) {
    text += fmt::format("  {:<12} {}\n", command.name, command.summary);
  }
  return text;
}

std::optional<int> parse_words(CLI::App& app, const Invocation& invocation,
                               const std::vector<std::string>& words) {
  app.name(invocation.program + " " + invocation.command);
  std::vector<std::string> last_first(words.rbegin(), words.rend());
  try {
    app.parse(std::move(last_first));
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    if (const Status unknown = unknown_option(app); error.get_exit_code() != 0 && !unknown.ok()) {
      (void)invocation.platform.write_standard(2, "hummer: " + unknown.to_string() + "\n");
      return 2;
    }
    std::ostringstream output, complaint;
    const int code = app.exit(error, output, complaint);
    (void)invocation.platform.write_standard(1, output.str());
    if (code == 0) return 0;
    (void)invocation.platform.write_standard(2, "hummer: " + complaint.str());
    return 2;
  }
}

int report(Platform& platform, const Status& failure) {
  (void)platform.write_standard(2, "hummer: " + failure.to_string() + "\n");
  JobResult result;
  result.status = failure;
  return result.exit_code();
}

CommandWords split_at_first_argument(const std::vector<std::string>& words,
                                     std::span<const std::string> options_with_value) {
  std::size_t at = 0;
  while (at < words.size() && words[at].starts_with('-')) {
    const bool takes_next = std::find(options_with_value.begin(), options_with_value.end(),
                                      words[at]) != options_with_value.end();
    at += takes_next ? 2 : 1;
  }
  at = std::min(at + 1, words.size());
  const auto border = words.begin() + static_cast<std::ptrdiff_t>(at);
  return {{words.begin(), border}, {border, words.end()}};
}

}  // namespace hummer
