// A log-linear histogram of durations: 128 buckets to each power of two, so a percentile is right
// to 0.8 % whatever its size. FlinkLatency.java has the same.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace latency {

class Histogram {
 public:
  void add(std::int64_t nanoseconds) {
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(nanoseconds, 0));
    ++counts_[bucket_of(value)];
    most_ = std::max(most_, value);
    ++total_;
  }
  void add(const Histogram& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    most_ = std::max(most_, other.most_);
    total_ += other.total_;
  }
  std::uint64_t total() const { return total_; }
  double most_us() const { return static_cast<double>(most_) / 1e3; }

  // The most that the given share of all durations took, in microseconds; 0 without any.
  double at_us(double share) const {
    const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(total_));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen > wanted) return static_cast<double>(std::min(last_of(i), most_)) / 1e3;
    }
    return most_us();
  }

 private:
  static constexpr int sub_bits = 7;
  static constexpr std::size_t sub_buckets = std::size_t{1} << sub_bits;

  static std::size_t bucket_of(std::uint64_t value) {
    if (value < sub_buckets) return value;
    const int shift = std::bit_width(value) - 1 - sub_bits;
    return (static_cast<std::size_t>(shift) + 1) * sub_buckets + (value >> shift) - sub_buckets;
  }
  static std::uint64_t last_of(std::size_t bucket) {
    if (bucket < sub_buckets) return bucket;
    const std::size_t shift = bucket / sub_buckets - 1;
    return ((bucket % sub_buckets + sub_buckets + 1) << shift) - 1;
  }

  std::array<std::uint64_t, (65 - sub_bits) * sub_buckets> counts_{};
  std::uint64_t most_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace latency
