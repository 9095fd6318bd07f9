#include <fmt/format.h>

#include "api/configuration_file.hpp"
#include "api/environment_impl.hpp"
#include "api/options/option_programs.hpp"
#include "base/nearest_name.hpp"

namespace hummer {
namespace {

using Impl = StreamExecutionEnvironment::Impl;

const OptionProgram& job_program() { return program_of<EnvironmentOptions>(); }

// Null: no option, or one that has no flag.
const Option* find_flag(std::string_view name) {
  const Option* const option = job_program().find(name);
  return option == nullptr || !option->in_flags ? nullptr : option;
}

void set_usage(Impl& impl, Status status) {
  if (impl.usage.ok()) impl.usage = std::move(status);
}

// The engine's flags among the words; others are the job's arguments.
std::vector<OptionFlag> read_words(int argc, const char* const* argv, Impl& impl) {
  std::vector<OptionFlag> flags;
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word == "-h") word = "--help";
    if (!word.starts_with("--") || word.size() == 2) {
      set_usage(impl, {ErrorCode::invalid_argument,
                       fmt::format("'{}' is no option: options look like --name VALUE", word)});
      continue;
    }
    word.remove_prefix(2);
    if (word == "help") {
      impl.help = true;
      continue;
    }
    std::string_view value;
    bool has_value = false;
    if (const std::size_t equals = word.find('='); equals != word.npos) {
      value = word.substr(equals + 1);
      word = word.substr(0, equals);
      has_value = true;
    }
    const Option* const option = find_flag(word);
    const bool is_switch = option != nullptr && option->type == OptionType::on_off;
    if (!has_value && !is_switch && i + 1 < argc &&
        (argv[i + 1][0] != '-' || argv[i + 1][1] != '-')) {
      value = argv[++i];
      has_value = true;
    }
    if (option == nullptr) {
      impl.arguments[std::string(word)] = std::string(value);
    } else if (has_value || is_switch || !option->implied.empty()) {
      if (!has_value) value = is_switch ? "true" : option->implied;
      flags.push_back({std::string(word), std::string(value)});
    } else {
      set_usage(impl, {ErrorCode::invalid_argument,
                       fmt::format("--{} needs a value: {}", word, option->value)});
    }
  }
  return flags;
}

Status unknown(const Impl& impl, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& [asked, description] : impl.asked) known.push_back(asked);
  for (const Option& option : job_program().options) {
    if (option.in_flags) known.emplace_back(option.name);
  }
  return {ErrorCode::unknown_option, fmt::format("unknown option --{}{}; --help lists them", name,
                                                 suggestion(name, known, "--", ""))};
}

Status missing(const Impl& impl) {
  const std::string& description = impl.asked.at(impl.missing);
  return {ErrorCode::invalid_argument,
          fmt::format("the job needs --{} VALUE{}", impl.missing,
                      description.empty() ? "" : " (" + description + ")")};
}

}  // namespace

void parse_command_line(int argc, const char* const* argv, EnvironmentOptions& options, Impl& impl,
                        bool environment_variables) {
  impl.program = argc > 0 ? argv[0] : "job";
  std::vector<OptionFlag> flags = read_words(argc, argv, impl);
  Result<OptionSources> sources = OptionSources{};
  const std::unique_ptr<Platform> platform = make_linux_platform();
  if (environment_variables) {
    sources = find_sources(platform->files(), std::move(flags));
    if (!sources.ok()) return set_usage(impl, sources.status());
  } else {
    sources->flags = std::move(flags);
  }
  const auto effective = read_settings(*sources, options);
  if (!effective.ok()) return set_usage(impl, effective.status());
  warn_of_variables(*platform, *sources);
}

std::string help_text(const Impl& impl) {
  std::string text = fmt::format("usage: {} [--name VALUE]...\n", impl.program);
  if (!impl.asked.empty()) {
    text += "\nArguments of this job:\n";
    for (const auto& [name, description] : impl.asked) {
      text += fmt::format("  --{:<22} {}\n", name, description);
    }
  }
  text +=
      "\nOptions of the engine (also as variables, such as HUMMER_PARALLELISM, and in the file of "
      "--config):\n";
  for (const Option& option : job_program().options) {
    if (!option.in_flags) continue;
    const std::string head = fmt::format("{} {}", option.name, option.value);
    text += fmt::format("  --{:<22} {}\n", head, described(job_program(), option));
  }
  text += fmt::format("  --{:<22} {}\n", "help", "this text");
  text +=
      "\nExit code: 0 success, 1 the job failed, 2 wrong usage, 130 cancelled, 143 ended at "
      "once.\n";
  return text;
}

Status check_arguments(const Impl& impl) {
  if (!impl.usage.ok()) return impl.usage;
  for (const auto& argument : impl.arguments) {
    if (!impl.asked.contains(argument.first)) return unknown(impl, argument.first);
  }
  return impl.missing.empty() ? Status() : missing(impl);
}

Status check_arguments_so_far(const Impl& impl) {
  if (!impl.usage.ok()) return impl.usage;
  if (impl.missing.empty() || impl.help) return {};
  // What nobody has asked for may be asked for later, but not what is misspelt.
  for (const auto& argument : impl.arguments) {
    if (impl.asked.contains(argument.first)) continue;
    if (nearest_name(argument.first, std::span(&impl.missing, 1)) == impl.missing) {
      return unknown(impl, argument.first);
    }
  }
  return missing(impl);
}

}  // namespace hummer
