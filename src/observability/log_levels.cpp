#include "observability/log_levels.hpp"

#include <fmt/format.h>
#include <optional>
#include <string>

#include "observability/log_line.hpp"

namespace hummer {
namespace {

std::string module_names() {
  std::string names;
  for (std::size_t i = 0; i < log_modules; ++i) {
    names += fmt::format("{}{}", i == 0 ? "" : ", ", to_string(static_cast<LogModule>(i)));
  }
  return names;
}

}  // namespace

Result<LogLevel> parse_log_level(std::string_view text) {
  if (const std::optional<LogLevel> level = find_log_level(text)) return *level;
  return Status(ErrorCode::invalid_argument,
                fmt::format("'{}' is no log level; there are error, warning, info, debug", text));
}

Result<LogLevels> LogLevels::parse(std::string_view text) {
  LogLevels levels;
  std::array<std::optional<LogLevel>, log_modules> own;
  bool at_end = false;
  while (!at_end) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    at_end = comma == text.npos;
    text.remove_prefix(at_end ? text.size() : comma + 1);
    const std::size_t equals = part.find('=');
    const Result<LogLevel> level =
        parse_log_level(equals == part.npos ? part : part.substr(equals + 1));
    if (!level.ok()) return level.status();
    if (equals == part.npos) {
      levels.of_.fill(*level);
      continue;
    }
    const std::optional<LogModule> module = find_log_module(part.substr(0, equals));
    if (!module) {
      return Status(ErrorCode::invalid_argument,
                    fmt::format("no module '{}' writes log lines; those that do: {}",
                                part.substr(0, equals), module_names()));
    }
    own[static_cast<std::size_t>(*module)] = *level;
  }
  for (std::size_t i = 0; i < log_modules; ++i) levels.of_[i] = own[i].value_or(levels.of_[i]);
  return levels;
}

}  // namespace hummer
