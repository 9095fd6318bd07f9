// JobLog: the last lines that a job's parts wrote, by number.
//
// Bounded in lines and bytes; the oldest go first. Numbers count from 0 for each job and are never
// used twice. Pure; thread: a value.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "protocol/control.pb.h"

namespace hummer {

class JobLog {
 public:
  explicit JobLog(std::size_t max_lines) : max_lines_(max_lines) {}

  void add(std::int64_t wall_time_ms, std::string text);
  // Fills in what there is from `line` on, as much as one answer should hold.
  void page(std::uint64_t line, wire::LogPage& into) const;
  // Number of the line that will come next.
  std::uint64_t end() const { return first_ + lines_.size(); }
  // Keeps at most so many from now on: an ended job's log is shorter.
  void shrink(std::size_t max_lines, std::size_t max_bytes);

 private:
  struct Line {
    std::int64_t wall_time_ms;
    std::string text;
  };
  void drop_excess();

  std::deque<Line> lines_;
  std::uint64_t first_ = 0;
  std::size_t bytes_ = 0;
  std::size_t max_lines_;
  std::size_t max_bytes_ = std::size_t{4} << 20;
};

}  // namespace hummer
