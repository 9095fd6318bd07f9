// LogLimit: lines that strangers can cause must not fill a log.
//
// The first `burst` lines pass, then one per `interval_ns`; a line that passes says how many did
// not before it. Thread: one at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "platform/time.hpp"

namespace hummer {

class LogLimit {
 public:
  // False: say nothing. True: append suffix() to the line.
  bool admit(Nanoseconds now) {
    if (now - earned_until_ >= interval_ns) {
      const std::int64_t earned = (now - earned_until_) / interval_ns;
      left_ = std::min<std::int64_t>(burst, left_ + earned);
      earned_until_ += earned * interval_ns;
    }
    if (left_ == 0) {
      ++suppressed_;
      return false;
    }
    --left_;
    suffix_ = suppressed_ == 0 ? "" : " (" + std::to_string(suppressed_) + " more like this)";
    suppressed_ = 0;
    return true;
  }
  const std::string& suffix() const { return suffix_; }

 private:
  static constexpr std::int64_t burst = 30;
  static constexpr Nanoseconds interval_ns = seconds(10);
  std::int64_t left_ = burst;
  Nanoseconds earned_until_ = 0;  // the last time at which lines were earned
  std::uint64_t suppressed_ = 0;
  std::string suffix_;
};

}  // namespace hummer
