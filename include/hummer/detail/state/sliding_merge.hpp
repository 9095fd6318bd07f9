// SlidingMerge: the merged table of one window after the other, out of the tables
// of their slices, at a cost that does not grow with the number of slices.
//
// Two stacks: `front` holds for each of the window's older slices the merge of it
// and all slices behind it up to `flip_end_`; `back` the merge of the slices from there on.
// A window is front[its first slice] and back. When front is used up, the next
// one is made in one go out of the slices. So each slice is merged about three
// times in its life, whatever the aggregate; nothing needs to be subtracted.
// (Tangwongsan et al., "General incremental sliding-window aggregation", VLDB 2015,
// section on two stacks, here for tables of keys.)
//
// Records that come to a slice after it was merged go into what covers it: covering().
// Nothing of this is saved: it is made again out of the slices.
//
// Thread: one.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include <hummer/detail/state/slice_tables.hpp>

namespace hummer {

class SlidingMerge {
 public:
  // `aggregate` outlives it.
  explicit SlidingMerge(const ErasedAggregate& aggregate);

  // The table of the window [start, end); windows come in order, none of them empty. Valid until
  // the next call. `next_start`: no later window begins before it.
  const AccumulatorTableBase& window(SliceTables& slices, Timestamp start, Timestamp end,
                                     Timestamp next_start);

  // Every table that already covers the slice: records that come to it belong there too. Valid
  // until the next call.
  std::span<AccumulatorTableBase* const> covering(SliceTables& slices, Timestamp slice);

  // The slices have changed beyond that: what was merged is made again. Its memory goes back.
  void forget();

  std::size_t memory_bytes() const;
  // About the most that window() needs for it, where no keys are the same.
  static std::size_t needed_bytes(const SliceTables& slices, Timestamp start, Timestamp end);

 private:
  void flip(SliceTables& slices, Timestamp start, Timestamp end);

  const ErasedAggregate& aggregate_;
  std::map<Timestamp, std::shared_ptr<AccumulatorTableBase>> front_;  // by first slice
  std::shared_ptr<AccumulatorTableBase> back_;
  std::shared_ptr<AccumulatorTableBase> whole_;
  Timestamp flip_end_ = no_timestamp;  // front covers what is before it
  Timestamp back_end_ = no_timestamp;  // back covers what is before it, from flip_end_ on
  std::vector<AccumulatorTableBase*> covering_;
};

}  // namespace hummer
