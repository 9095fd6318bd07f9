// LogLine: an entry with its number and time, and the forms in which it is written.
//
//   text   2026-11-21 08:50:00.123 info cluster jobmanager job=7 attempt=1: 'WordCount' finished
//   json   {"time":"2026-11-21T08:50:00.123Z","level":"info","module":"cluster",
//           "process":"jobmanager","job":7,"attempt":1,"message":"'WordCount' finished"}
//
// One line each, whatever the text holds: what came from a stranger can't look like another entry,
// nor steer a terminal. Times are UTC.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "platform/log.hpp"

namespace hummer {

struct LogLine {
  std::uint64_t number = 0;  // of the process, counted up from 1
  std::int64_t wall_time_ms = 0;
  LogLevel level = LogLevel::info;
  LogModule module = LogModule::cluster;
  std::uint64_t job = 0;  // 0: about none
  std::optional<std::uint32_t> attempt;
  std::string task;
  std::string text;
};

// The level or module of this name; nothing: there is none.
std::optional<LogLevel> find_log_level(std::string_view name);
std::optional<LogModule> find_log_module(std::string_view name);

enum class LogFormat : std::uint8_t { text, json };

// With the line break at its end.
std::string format_log_line(const LogLine& line, std::string_view process, LogFormat format);

}  // namespace hummer
