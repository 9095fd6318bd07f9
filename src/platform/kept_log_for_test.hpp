// KeptLog: a sink that keeps every entry's text, for tests that look for one.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "platform/log.hpp"

namespace hummer {

class KeptLog final : public LogSink {
 public:
  bool wants(LogModule /*module*/, LogLevel /*level*/) const override { return true; }
  void write(const LogEntry& entry) override {
    const std::lock_guard lock(mutex_);
    texts_.emplace_back(entry.text);
    const std::string task(entry.subject.task);
    if (!task.empty()) texts_.back().insert(0, task + ": ");
    if (entry.subject.job != 0) texts_.back().insert(0, job_prefix(entry.subject.job));
  }

  // With "job 7: " ahead of what is about one, and "count[1]: " of what is about a task of it.
  std::vector<std::string> texts() const {
    const std::lock_guard lock(mutex_);
    return texts_;
  }
  bool has(std::string_view part) const {
    const std::lock_guard lock(mutex_);
    for (const std::string& text : texts_) {
      if (text.find(part) != std::string::npos) return true;
    }
    return false;
  }

 private:
  static std::string job_prefix(std::uint64_t job) { return "job " + std::to_string(job) + ": "; }

  mutable std::mutex mutex_;
  std::vector<std::string> texts_;
};

}  // namespace hummer
