#include "observability/process_log.hpp"

#include <algorithm>

namespace hummer {
namespace {

constexpr std::size_t max_line_bytes = 16 * 1024;
constexpr std::size_t max_page_bytes = std::size_t{1} << 20;
constexpr std::size_t line_overhead_bytes = 64;

std::size_t size_of(const LogLine& line) {
  return line.text.size() + line.task.size() + line_overhead_bytes;
}

}  // namespace

void ProcessLog::write(const LogEntry& entry) {
  LogLine line;
  line.wall_time_ms = platform_.wall_time_ms();
  line.level = entry.level;
  line.module = entry.module;
  line.job = entry.subject.job;
  line.attempt = entry.subject.attempt;
  line.task = entry.subject.task;
  line.text = entry.text.substr(0, max_line_bytes);
  if (entry.text.size() > max_line_bytes) line.text += " …";
  const std::lock_guard lock(mutex_);
  line.number = ++last_;
  ++written_[static_cast<std::size_t>(line.level)];
  (void)platform_.write_standard(2, format_log_line(line, options_.process, options_.format));
  bytes_ += size_of(line);
  lines_.push_back(std::move(line));
  while (lines_.size() > options_.kept_lines || bytes_ > options_.kept_bytes) {
    bytes_ -= size_of(lines_.front());
    lines_.pop_front();
  }
}

LogLines ProcessLog::read(const LogQuery& query) const {
  const std::lock_guard lock(mutex_);
  LogLines page;
  page.first = last_ + 1 - lines_.size();
  page.last = last_;
  std::size_t bytes = 0;
  const std::uint64_t from = std::clamp(query.after + 1, page.first, last_ + 1);
  for (std::size_t i = from - page.first; i < lines_.size(); ++i) {
    const LogLine& line = lines_[i];
    if (line.level > query.level || (query.job != 0 && line.job != query.job)) continue;
    if (bytes > max_page_bytes) {
      page.last = line.number - 1;
      break;
    }
    bytes += size_of(line);
    page.lines.push_back(line);
  }
  return page;
}

std::uint64_t ProcessLog::written(LogLevel level) const {
  const std::lock_guard lock(mutex_);
  return written_[static_cast<std::size_t>(level)];
}

}  // namespace hummer
