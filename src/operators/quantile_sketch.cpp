#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <hummer/detail/more_aggregates.hpp>

namespace hummer::detail {
namespace {

// Of the highest level; each one below has two thirds of it, and at least `least_room`.
constexpr double most_room = 200;
constexpr double room_below = 2.0 / 3;
constexpr double least_room = 8;

// By how many levels are above it.
constexpr std::array<std::size_t, 64> rooms = [] {
  std::array<std::size_t, 64> made{};
  double wanted = most_room;
  for (std::size_t& room : made) {
    room = static_cast<std::size_t>(std::max(wanted, least_room));
    wanted *= room_below;
  }
  return made;
}();

std::size_t room(const QuantileSketch& sketch, std::size_t level) {
  return rooms[std::min(sketch.levels.size() - 1 - level, rooms.size() - 1)];
}

// Every second value of the level goes to the next one, which of the two by a coin.
void halve(QuantileSketch& sketch, std::size_t level) {
  if (level + 1 == sketch.levels.size()) sketch.levels.emplace_back();
  std::vector<double>& from = sketch.levels[level];
  std::vector<double>& to = sketch.levels[level + 1];
  std::sort(from.begin(), from.end());
  // One that has no partner stays.
  const std::size_t pairs = from.size() / 2;
  const std::size_t stays = from.size() % 2;
  const std::size_t coin = hash_u64(++sketch.halvings) & 1;
  for (std::size_t i = 0; i < pairs; ++i) to.push_back(from[stays + 2 * i + coin]);
  from.resize(stays);
}

// Levels are looked at from below, and none keeps more than it has room for.
void fit(QuantileSketch& sketch) {
  for (std::size_t level = 0; level < sketch.levels.size(); ++level) {
    if (sketch.levels[level].size() > room(sketch, level)) halve(sketch, level);
  }
}

}  // namespace

void add_value(QuantileSketch& sketch, double value) {
  if (std::isnan(value)) return;
  if (sketch.count == 0) sketch.least = sketch.greatest = value;
  sketch.least = std::min(sketch.least, value);
  sketch.greatest = std::max(sketch.greatest, value);
  ++sketch.count;
  if (sketch.levels.empty()) sketch.levels.emplace_back();
  sketch.levels[0].push_back(value);
  if (sketch.levels[0].size() > room(sketch, 0)) fit(sketch);
}

void merge(QuantileSketch& sketch, const QuantileSketch& other) {
  if (other.count == 0) return;
  if (sketch.count == 0) {
    sketch = other;
    return;
  }
  sketch.least = std::min(sketch.least, other.least);
  sketch.greatest = std::max(sketch.greatest, other.greatest);
  sketch.count += other.count;
  sketch.halvings += other.halvings;
  if (sketch.levels.size() < other.levels.size()) sketch.levels.resize(other.levels.size());
  for (std::size_t level = 0; level < other.levels.size(); ++level) {
    std::vector<double>& to = sketch.levels[level];
    to.insert(to.end(), other.levels[level].begin(), other.levels[level].end());
  }
  fit(sketch);
}

void find_quantiles(const QuantileSketch& sketch, const double* wanted, std::size_t count,
                    double* found) {
  std::vector<std::pair<double, std::uint64_t>> weighed;
  std::uint64_t weight = 1, all = 0;
  for (const std::vector<double>& level : sketch.levels) {
    for (const double value : level) weighed.emplace_back(value, weight);
    all += weight * level.size();
    weight *= 2;
  }
  std::sort(weighed.begin(), weighed.end());
  for (std::size_t i = 0; i < count; ++i) {
    const double quantile = std::clamp(wanted[i], 0.0, 1.0);
    if (weighed.empty()) {
      found[i] = std::numeric_limits<double>::quiet_NaN();
    } else if (quantile == 0 || quantile == 1) {
      found[i] = quantile == 0 ? sketch.least : sketch.greatest;
    } else {
      const double rank = quantile * static_cast<double>(all);
      std::uint64_t passed = 0;
      std::size_t at = 0;
      while (at + 1 < weighed.size() && static_cast<double>(passed + weighed[at].second) < rank) {
        passed += weighed[at++].second;
      }
      found[i] = weighed[at].first;
    }
  }
}

}  // namespace hummer::detail
