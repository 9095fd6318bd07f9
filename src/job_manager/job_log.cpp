#include "job_manager/job_log.hpp"

#include <algorithm>
#include <utility>

namespace hummer {
namespace {

constexpr std::size_t max_line_bytes = 16 * 1024;
constexpr std::size_t max_page_bytes = std::size_t{1} << 20;

}  // namespace

void JobLog::add(std::int64_t wall_time_ms, std::string text) {
  if (text.size() > max_line_bytes) {
    text.resize(max_line_bytes);
    text += " …";
  }
  bytes_ += text.size();
  lines_.push_back({wall_time_ms, std::move(text)});
  drop_excess();
}

void JobLog::drop_excess() {
  while (!lines_.empty() && (lines_.size() > max_lines_ || bytes_ > max_bytes_)) {
    bytes_ -= lines_.front().text.size();
    lines_.pop_front();
    ++first_;
  }
}

void JobLog::shrink(std::size_t max_lines, std::size_t max_bytes) {
  max_lines_ = std::min(max_lines_, max_lines);
  max_bytes_ = std::min(max_bytes_, max_bytes);
  drop_excess();
  lines_.shrink_to_fit();
}

void JobLog::page(std::uint64_t line, wire::LogPage& into) const {
  const std::uint64_t from = std::clamp(line, first_, end());
  into.set_first_line(from);
  std::size_t bytes = 0;
  for (std::size_t i = from - first_; i < lines_.size() && bytes < max_page_bytes; ++i) {
    wire::LogLine& out = *into.add_lines();
    out.set_wall_time_ms(lines_[i].wall_time_ms);
    out.set_text(lines_[i].text);
    bytes += lines_[i].text.size() + 16;
  }
}

}  // namespace hummer
