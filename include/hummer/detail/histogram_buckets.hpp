// The buckets of a histogram: eight to each power of two from 2^-20 (about 1e-6) to 2^44 (about
// 1.8e13), so that what is read from them is at most 12 % off. One below takes what is less, one
// above what is more.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace hummer::detail {

inline constexpr int histogram_lowest_power = -20;
inline constexpr int histogram_powers = 64;
inline constexpr int histogram_steps = 8;  // to a power of two
inline constexpr std::size_t histogram_buckets = histogram_powers * histogram_steps + 2;

// A double's exponent and the three highest bits of its fraction number these buckets in order.
inline constexpr int histogram_shift = 52 - 3;
inline constexpr std::uint64_t histogram_first =
    std::uint64_t{1023 + histogram_lowest_power} * histogram_steps;

// REQUIRES: is no NaN.
inline std::size_t histogram_bucket(double value) {
  constexpr double lowest = 1.0 / (1 << -histogram_lowest_power);
  if (!(value >= lowest)) return 0;
  const std::uint64_t step = (std::bit_cast<std::uint64_t>(value) >> histogram_shift) + 1;
  return static_cast<std::size_t>(
      std::min<std::uint64_t>(step - histogram_first, histogram_buckets - 1));
}

// Where a bucket ends, and the next one begins; the last one ends nowhere.
inline double histogram_bound(std::size_t bucket) {
  return std::bit_cast<double>((histogram_first + bucket) << histogram_shift);
}

}  // namespace hummer::detail
