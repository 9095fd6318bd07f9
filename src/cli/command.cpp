#include "cli/command.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace hummer {

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
