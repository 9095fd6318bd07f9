#include "cli/command_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace hummer {

OptionFlags::OptionFlags(CommandLine& line, const OptionProgram& program) {
  CLI::App& app = line.app();
  for (const Option& option : program.options) {
    if (!option.in_flags) continue;
    const std::string name = fmt::format("--{}", option.name);
    const std::string description = described(program, option);
    CLI::Option* const flag = option.type == OptionType::on_off ? app.add_flag(name, description)
                                                                : app.add_option(name, description);
    if (option.type != OptionType::on_off) flag->type_name(std::string(option.value));
    if (!option.implied.empty()) flag->expected(0, 1)->default_str(std::string(option.implied));
    flag->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    flags_.emplace_back(&option, flag);
  }
}

std::vector<OptionFlag> OptionFlags::given() const {
  std::vector<OptionFlag> given;
  for (const auto& [option, flag] : flags_) {
    for (const std::string& text : flag->results()) {
      const bool bare = !option->implied.empty() && (text.empty() || text == "{}");
      given.push_back({std::string(option->name), bare ? std::string(option->implied) : text});
    }
  }
  return given;
}

std::vector<std::string> options_with_value(const OptionProgram& program) {
  std::vector<std::string> names;
  for (const Option& option : program.options) {
    if (option.in_flags && option.type != OptionType::on_off) {
      names.push_back(fmt::format("--{}", option.name));
    }
  }
  return names;
}

}  // namespace hummer
