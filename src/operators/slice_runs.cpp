#include <hummer/detail/operators/slice_runs.hpp>

#include <algorithm>

namespace hummer {
namespace {

constexpr std::size_t counted_slices_max = 4096;

}  // namespace

void SliceRuns::group(const WindowGrid& grid, std::span<const Timestamp> times) {
  runs_.clear();
  in_order_ = true;
  if (times.empty()) return;
  Timestamp least = times[0];
  Timestamp greatest = times[0];
  for (const Timestamp time : times) {
    least = std::min(least, time);
    greatest = std::max(greatest, time);
  }
  const std::int64_t slice_ms = grid.slice_ms();
  const Timestamp first = grid.slice_of(least);
  if (static_cast<std::uint64_t>(greatest) - static_cast<std::uint64_t>(first) <
      static_cast<std::uint64_t>(slice_ms)) {
    runs_.push_back({first, 0, times.size()});
    return;
  }
  in_order_ = false;
  const std::uint64_t span =
      (static_cast<std::uint64_t>(greatest) - static_cast<std::uint64_t>(first)) /
          static_cast<std::uint64_t>(slice_ms) +
      1;
  if (span <= counted_slices_max) {
    count_sort(times, first, slice_ms, static_cast<std::size_t>(span));
  } else {
    stable_sort(grid, times);
  }
}

void SliceRuns::count_sort(std::span<const Timestamp> times, Timestamp first, std::int64_t slice_ms,
                           std::size_t slices) {
  starts_.assign(slices + 1, 0);
  numbers_.resize(times.size());
  indexes_.resize(times.size());
  const double per_ms = 1.0 / static_cast<double>(slice_ms);
  for (std::size_t i = 0; i < times.size(); ++i) {
    // A multiplication instead of a division is at most one slice off.
    const std::int64_t from = times[i] - first;
    auto number = static_cast<std::int64_t>(static_cast<double>(from) * per_ms);
    number -= number * slice_ms > from ? 1 : 0;
    number += (number + 1) * slice_ms <= from ? 1 : 0;
    numbers_[i] = static_cast<std::uint32_t>(number);
    ++starts_[static_cast<std::size_t>(number) + 1];
  }
  for (std::size_t slice = 0; slice < slices; ++slice) {
    const std::size_t count = starts_[slice + 1];
    if (count > 0) {
      runs_.push_back({first + static_cast<std::int64_t>(slice) * slice_ms, starts_[slice], count});
    }
    starts_[slice + 1] += starts_[slice];
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    indexes_[starts_[numbers_[i]]++] = static_cast<std::uint32_t>(i);
  }
}

void SliceRuns::stable_sort(const WindowGrid& grid, std::span<const Timestamp> times) {
  slices_.resize(times.size());
  indexes_.resize(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    slices_[i] = grid.slice_of(times[i]);
    indexes_[i] = static_cast<std::uint32_t>(i);
  }
  // By hand stable: std::stable_sort allocates, and draws warnings from some compilers.
  std::sort(indexes_.begin(), indexes_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return slices_[a] != slices_[b] ? slices_[a] < slices_[b] : a < b;
  });
  for (std::size_t i = 0; i < indexes_.size(); ++i) {
    const Timestamp slice = slices_[indexes_[i]];
    if (runs_.empty() || runs_.back().slice != slice) runs_.push_back({slice, i, 0});
    ++runs_.back().count;
  }
}

}  // namespace hummer
