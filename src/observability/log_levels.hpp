// LogLevels: which entries of which module are wanted, as --log-level says: "info,net=debug".
//
// A level alone is that of all modules; MODULE=LEVEL, behind or before it, that of one. Pure.
#pragma once

#include <array>
#include <string_view>

#include <hummer/status.hpp>

#include "platform/log.hpp"

namespace hummer {

class LogLevels {
 public:
  LogLevels() { of_.fill(LogLevel::info); }

  // invalid_argument names what is wrong and what there is.
  static Result<LogLevels> parse(std::string_view text);

  bool wants(LogModule module, LogLevel level) const {
    return level <= of_[static_cast<std::size_t>(module)];
  }

 private:
  std::array<LogLevel, log_modules> of_;
};

Result<LogLevel> parse_log_level(std::string_view text);

}  // namespace hummer
