#include "state/run_ends.hpp"

#include <algorithm>

namespace hummer {

void RunEnds::add(std::int64_t end, std::uint64_t bytes) {
  last_ = std::max(last_, end);
  if (end == never) return;
  if (end == always) {
    always_bytes_ += bytes;
    return;
  }
  if (first_step_ > last_step_) first_step_ = last_step_ = end >> bits_;
  for (;; double_steps()) {
    const std::int64_t step = end >> bits_;
    const std::int64_t first = std::min(first_step_, step);
    const std::int64_t last = std::max(last_step_, step);
    if (static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first) >= steps) continue;
    first_step_ = first;
    last_step_ = last;
    bytes_[place_of(step)] += bytes;
    return;
  }
}

// Two become one.
void RunEnds::double_steps() {
  std::array<std::uint64_t, steps> doubled{};
  for (std::int64_t step = first_step_; step <= last_step_; ++step) {
    doubled[place_of(step >> 1)] += bytes_[place_of(step)];
  }
  bytes_ = doubled;
  first_step_ >>= 1;
  last_step_ >>= 1;
  ++bits_;
}

std::uint64_t RunEnds::over_bytes(std::int64_t now) const {
  // Those steps are over that lie before the one of the next moment; all of them with the last end.
  const std::int64_t next = (now == never ? now : now + 1) >> bits_;
  std::uint64_t bytes = always_bytes_;
  for (std::int64_t step = first_step_; step <= last_step_; ++step) {
    if (step < next || all_over(now)) bytes += bytes_[place_of(step)];
  }
  return bytes;
}

}  // namespace hummer
