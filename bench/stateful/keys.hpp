// How the records of keyed state's rows are drawn: numbers of their index alone, keys and times.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include "windows/workload.hpp"

namespace stateful {

using windows::mixed;

inline std::uint64_t upper_half(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
}
// In [0, bound), of a draw that is as good as random.
inline std::uint64_t below(std::uint64_t draw, std::uint64_t bound) {
  return upper_half(draw, bound);
}

// Divides by a number that is known only when the program runs, without a division.
class Divisor {
 public:
  explicit Divisor(std::uint64_t by) : by_(by), reciprocal_(UINT64_MAX / by) {}
  std::uint64_t quotient(std::uint64_t value) const {
    const std::uint64_t low = upper_half(value, reciprocal_);  // at most one too small
    return low + (value - low * by_ >= by_ ? 1 : 0);
  }
  std::uint64_t rest(std::uint64_t value) const { return value - quotient(value) * by_; }
  std::uint64_t by() const { return by_; }

 private:
  std::uint64_t by_;
  std::uint64_t reciprocal_;
};

// ---- how large a row is ----

struct Scale {
  std::uint64_t records;
  std::uint64_t keys = 0;
  std::uint64_t records_per_window = 1;
  std::int64_t window_ms = 1;  // also the gap of sessions
};

// ---- keys and times ----

// rounds: each key once, then each key again, and so on, in an order without locality, so that it
// is known how often each one comes; changing: zipf, and from the middle on uniform.
enum class Distribution : std::uint8_t { rounds, uniform, zipf, changing };

inline Distribution distribution_of(std::string_view name) {
  constexpr std::string_view names[] = {"rounds", "uniform", "zipf", "changing"};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    if (names[i] == name) return static_cast<Distribution>(i);
  }
  throw std::invalid_argument("--distribution takes rounds, uniform, zipf or changing");
}

class KeyOfIndex {
 public:
  KeyOfIndex(const Scale& scale, Distribution distribution)
      : keys_(scale.keys), half_(scale.records / 2), distribution_(distribution) {}
  std::uint64_t operator()(std::uint64_t index) const {
    switch (distribution_) {
      case Distribution::rounds: return keys_.rest(index * stride);
      case Distribution::uniform: return below(mixed(index), keys_.by());
      case Distribution::zipf: return skewed(mixed(index));
      case Distribution::changing: break;
    }
    return index < half_ ? skewed(mixed(index)) : below(mixed(index), keys_.by());
  }

 private:
  // A prime, so without a common divisor with the number of keys.
  static constexpr std::uint64_t stride = 2'654'435'761;
  // About z = 1: each octave of ranks is as likely as any other.
  std::uint64_t skewed(std::uint64_t draw) const {
    const auto octaves = static_cast<std::uint64_t>(std::bit_width(keys_.by()));
    const std::uint64_t first = std::uint64_t{1} << below(draw, octaves);
    return first - 1 + below(mixed(draw), std::min(first, keys_.by() - first + 1));
  }
  Divisor keys_;
  std::uint64_t half_;
  Distribution distribution_;
};

// So many records per window.
class TimeOfIndex {
 public:
  explicit TimeOfIndex(const Scale& scale)
      : window_ms_(static_cast<std::uint64_t>(scale.window_ms)),
        per_window_(scale.records_per_window) {}
  std::int64_t operator()(std::uint64_t index) const {
    return static_cast<std::int64_t>(per_window_.quotient(index * window_ms_));
  }

 private:
  std::uint64_t window_ms_;
  Divisor per_window_;
};

// Eight letters between a and p.
inline std::uint64_t letters(std::uint64_t draw) {
  return (draw & 0x0F0F0F0F0F0F0F0F) + 0x6161616161616161;
}

}  // namespace stateful
