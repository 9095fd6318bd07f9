// SliceRuns: the records of a batch, grouped by the slice that their times fall
// into, so that a table per slice gets them in one update.
//
// Mostly all records of a batch lie in one slice, which the least and the greatest
// time tell. Else they are sorted by slice, stably, by counting. Cost: linear;
// O(n log n) where times are strewn over very many slices.
//
// Lifecycle: one per operator; keeps its memory. Thread: one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <hummer/windows.hpp>

namespace hummer {

class SliceRuns {
 public:
  struct Run {
    Timestamp slice;  // where it begins
    std::size_t first;
    std::size_t count;
  };

  // The times of the records; runs() and index() are about these.
  void group(const WindowGrid& grid, std::span<const Timestamp> times);

  std::span<const Run> runs() const { return runs_; }
  // All records are one run, in their order.
  bool in_order() const { return in_order_; }
  // Of the records, in the order of the runs. REQUIRES: !in_order().
  const std::uint32_t* indexes() const { return indexes_.data(); }

 private:
  void count_sort(std::span<const Timestamp> times, Timestamp first, std::int64_t slice_ms,
                  std::size_t slices);
  void stable_sort(const WindowGrid& grid, std::span<const Timestamp> times);

  std::vector<Run> runs_;
  std::vector<std::uint32_t> indexes_;
  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint32_t> starts_;
  std::vector<Timestamp> slices_;
  bool in_order_ = true;
};

}  // namespace hummer
