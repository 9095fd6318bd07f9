// JoinPairs: what a join has found, until the user's function is called for it. As many as the
// output has room for. Views: those of who adds them, which takes care that they hold until they
// are taken.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <hummer/detail/operators/bounded_operators.hpp>

namespace hummer {

class JoinPairs {
 public:
  void set_limit(std::size_t limit) { limit_ = limit; }
  bool full() const { return pairs_.size() >= limit_; }
  bool empty() const { return pairs_.empty(); }
  void clear() { pairs_.clear(); }
  std::span<const JoinPair> all() const { return pairs_; }

  void add(std::string_view first, std::string_view second) {
    pairs_.push_back({.first = first, .second = second});
  }
  // Of one side alone: 0 the first, 1 the second.
  void add_alone(int side, std::string_view value) {
    if (side == 0) {
      pairs_.push_back({.first = value, .second = {}, .has_second = false});
    } else {
      pairs_.push_back({.first = {}, .second = value, .has_first = false});
    }
  }

 private:
  std::vector<JoinPair> pairs_;
  std::size_t limit_ = 0;
};

}  // namespace hummer
