// Log: what a process says about its own work, one entry per event.
//
// Code that has something to say is given a Logger, which names its module; where entries go is
// decided by whoever made the process (observability/process_log.hpp). Without a sink nothing is
// said. Never on a record's way: an entry costs a lock and a write.
//
//   error    somebody should look: a job or this process can't go on
//   warning  it goes on, but somebody should know
//   info     what an operator wants to read afterwards: starts, ends, losses, checkpoints
//   debug    the steps between
//
// Never in a text: tokens, keys, passphrases, records. Thread: sinks take entries from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hummer {

enum class LogLevel : std::uint8_t { error, warning, info, debug };
inline constexpr LogLevel log_levels[] = {LogLevel::error, LogLevel::warning, LogLevel::info,
                                          LogLevel::debug};

// The modules that have something to say (docs/architecture.md).
enum class LogModule : std::uint8_t { net, cluster, cli };
inline constexpr std::size_t log_modules = 3;

constexpr std::string_view to_string(LogLevel level) {
  constexpr std::string_view names[] = {"error", "warning", "info", "debug"};
  return names[static_cast<std::size_t>(level)];
}
constexpr std::string_view to_string(LogModule module) {
  constexpr std::string_view names[] = {"net", "cluster", "cli"};
  return names[static_cast<std::size_t>(module)];
}

// Whom an entry is about, as far as there is somebody.
struct LogSubject {
  std::uint64_t job = 0;  // 0: none
  std::optional<std::uint32_t> attempt = std::nullopt;
  std::string_view task = {};  // "count[1]"
};

struct LogEntry {
  LogLevel level = LogLevel::info;
  LogModule module = LogModule::cluster;
  LogSubject subject;
  std::string_view text;  // of one event; a line break within is shown as such
};

class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual bool wants(LogModule module, LogLevel level) const = 0;
  virtual void write(const LogEntry& entry) = 0;
};

// A value; the sink outlives it.
class Logger {
 public:
  Logger() = default;
  Logger(LogSink* sink, LogModule module) : sink_(sink), module_(module) {}

  // Before a costly text is made.
  bool wants(LogLevel level) const { return sink_ != nullptr && sink_->wants(module_, level); }
  void write(LogLevel level, std::string_view text, const LogSubject& subject = {}) const {
    if (wants(level)) sink_->write({level, module_, subject, text});
  }
  void error(std::string_view text, const LogSubject& subject = {}) const {
    write(LogLevel::error, text, subject);
  }
  void warning(std::string_view text, const LogSubject& subject = {}) const {
    write(LogLevel::warning, text, subject);
  }
  void info(std::string_view text, const LogSubject& subject = {}) const {
    write(LogLevel::info, text, subject);
  }
  void debug(std::string_view text, const LogSubject& subject = {}) const {
    write(LogLevel::debug, text, subject);
  }

 private:
  LogSink* sink_ = nullptr;
  LogModule module_ = LogModule::cluster;
};

}  // namespace hummer
