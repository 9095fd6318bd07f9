// Attempt: what it says, to the process's log and to the JobManager.
#include <utility>

#include <fmt/format.h>

#include "checkpoint/restored_state.hpp"
#include "execution/attempt.hpp"

namespace hummer {
namespace {

constexpr std::size_t log_lines_kept = 1000;

}  // namespace

void Attempt::log(std::string text, LogLevel level) {
  const std::lock_guard lock(mutex_);
  log_line(std::move(text), level);
}

void Attempt::log_line(std::string text, LogLevel level) {
  context_.log.write(level, fmt::format("'{}': {}", message_.job_name(), text),
                     {.job = id_.job, .attempt = id_.attempt});
  wire::LogLine& line = log_lines_.emplace_back();
  line.set_wall_time_ms(context_.platform->wall_time_ms());
  line.set_text(std::move(text));
  if (log_lines_.size() > log_lines_kept) {
    log_lines_.pop_front();
    ++first_log_line_;
  }
}

void Attempt::log_note(const std::string& text) {
  log_line(text);
  if (context_.on_note) context_.on_note(text);
}

void Attempt::log_task(const StreamTask& task, LogLevel level, std::string_view text) const {
  if (!context_.log.wants(level)) return;
  context_.log.write(level, fmt::format("'{}': {}", message_.job_name(), text),
                     {.job = id_.job, .attempt = id_.attempt, .task = task.metrics().name});
}

// How much of the checkpoint was read: a task reads no more than may be of its own keys.
void Attempt::log_restored(const RestoredState& restored) {
  std::uint64_t bytes = restored.bytes_read;
  for (const Deployment::RestoredTask& each : deployment_->restored_tasks()) {
    bytes += each.bytes;
    if (each.bytes == 0) continue;
    log_task(*each.task, LogLevel::debug, fmt::format("read {} bytes of state", each.bytes));
  }
  log_line(fmt::format("read {} bytes of the checkpoint's {}", bytes, restored.state_bytes));
}

void Attempt::log_task_ends() const {
  for (const auto& task : deployment_->tasks()) {
    const Status& result = task->result();
    if (result.ok()) {
      log_task(*task, LogLevel::debug, "finished");
    } else if (is_consequence(result)) {
      log_task(*task, LogLevel::debug, "ended: " + result.message());
    } else {
      log_task(*task, LogLevel::error, "failed: " + result.to_string());
    }
  }
}

void Attempt::log_lines_seen(std::uint64_t lines) {
  const std::lock_guard lock(mutex_);
  while (first_log_line_ < lines && !log_lines_.empty()) {
    log_lines_.pop_front();
    ++first_log_line_;
  }
}

}  // namespace hummer
