// ProcessLog: the log of a JobManager or TaskManager: lines on standard error, and the last of them
// in memory for who asks over HTTP (/v1/logs).
//
// Lines are numbered from 1. Those in memory are bounded in number and bytes, the oldest go first;
// what was left out for its level is neither written nor kept.
//
// Lifecycle: made before what writes to it, destroyed after. Thread: any. Cost: a lock and a write
// per line, so that the order on standard error is that of the numbers.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "observability/log_levels.hpp"
#include "observability/log_line.hpp"
#include "platform/platform.hpp"

namespace hummer {

struct ProcessLogOptions {
  std::string process;  // "jobmanager"
  LogLevels levels;
  LogFormat format = LogFormat::text;
  std::size_t kept_lines = 10'000;
  std::size_t kept_bytes = std::size_t{4} << 20;
};

// Which of the lines in memory are asked for.
struct LogQuery {
  std::uint64_t after = 0;  // lines up to this number are left out
  LogLevel level = LogLevel::debug;
  std::uint64_t job = 0;  // 0: all
};

struct LogLines {
  std::uint64_t first = 0;  // number of the oldest line in memory; lines before it are gone
  std::uint64_t last = 0;   // ask again after this one
  std::vector<LogLine> lines;
};

class ProcessLog final : public LogSink {
 public:
  ProcessLog(Platform& platform, ProcessLogOptions options)
      : platform_(platform), options_(std::move(options)) {}

  bool wants(LogModule module, LogLevel level) const override {
    return options_.levels.wants(module, level);
  }
  void write(const LogEntry& entry) override;

  const std::string& process() const { return options_.process; }
  // As much as one answer should hold.
  LogLines read(const LogQuery& query) const;
  // Lines written since the start, by level.
  std::uint64_t written(LogLevel level) const;

 private:
  Platform& platform_;
  const ProcessLogOptions options_;
  mutable std::mutex mutex_;
  std::deque<LogLine> lines_;
  std::size_t bytes_ = 0;
  std::uint64_t last_ = 0;
  std::array<std::uint64_t, 4> written_{};
};

}  // namespace hummer
