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
// Records that come to a slice after it was merged go into what covers it: late().
// Nothing of this is saved: it is made again out of the slices.
//
// Thread: one.
#pragma once

#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include <hummer/detail/state/slice_tables.hpp>

namespace hummer {

template <typename K, typename A, typename Aggregate>
class SlidingMerge {
 public:
  using Table = AccumulatorTable<K, A>;
  using Slices = SliceTables<K, A>;

  explicit SlidingMerge(const Aggregate& aggregate) : aggregate_(aggregate) {}

  // The table of the window [start, end); windows come in order, none of them empty. Valid until
  // the next call. `next_start`: no later window begins before it.
  const Table& window(Slices& slices, Timestamp start, Timestamp end, Timestamp next_start) {
    while (!front_.empty() && front_.begin()->first < start) {
      slices.spare().give_back(std::move(front_.begin()->second));
      front_.erase(front_.begin());
    }
    if (front_.empty()) {
      flip(slices, start, end);
    } else {
      for (auto slice = slices.from(back_end_); slice != slices.all().end() && slice->first < end;
           ++slice) {
        merge_tables(back_, *slice->second, aggregate_);
      }
      back_end_ = end;
    }
    auto& [first, table] = *front_.begin();
    if (back_.empty()) return *table;
    if (first < next_start) {  // of no use to later windows
      merge_tables(*table, back_, aggregate_);
      return *table;
    }
    whole_.clear();
    merge_tables(whole_, *table, aggregate_);
    merge_tables(whole_, back_, aggregate_);
    return whole_;
  }

  // Records for a slice: add(table) is called for every table that already covers it.
  template <typename Add>
  void late(Slices& slices, Timestamp slice, Add&& add) {
    if (slice >= back_end_) return;
    if (slice >= flip_end_) return add(back_);
    auto next = front_.lower_bound(slice);
    if (next == front_.end() || next->first != slice) {
      std::unique_ptr<Table> table = slices.spare().take();
      if (next != front_.end()) merge_tables(*table, *next->second, aggregate_);
      front_.emplace_hint(next, slice, std::move(table));
    }
    for (auto& [first, table] : front_) {
      if (first > slice) break;
      add(*table);
    }
  }

  // The slices have changed beyond that: what was merged is made again. Its memory goes back.
  void forget() {
    front_.clear();
    back_ = Table();
    whole_ = Table();
    flip_end_ = back_end_ = no_timestamp;
  }

  std::size_t memory_bytes() const {
    std::size_t bytes = back_.memory_bytes() + whole_.memory_bytes();
    for (const auto& each : front_) bytes += each.second->memory_bytes();
    return bytes;
  }
  // About the most that window() needs for it, where no keys are the same.
  static std::size_t needed_bytes(const Slices& slices, Timestamp start, Timestamp end) {
    std::size_t bytes = 0;
    std::size_t tables = 0;  // that the slice is part of
    for (auto slice = slices.from(start); slice != slices.all().end() && slice->first < end;
         ++slice) {
      bytes += slice->second->memory_bytes() * ++tables;
    }
    return bytes;
  }

 private:
  void flip(Slices& slices, Timestamp start, Timestamp end) {
    back_.clear();
    flip_end_ = back_end_ = end;
    const Table* behind = nullptr;
    for (auto slice = slices.from(end); slice != slices.from(start);) {
      --slice;
      std::unique_ptr<Table> table = slices.spare().take();
      merge_tables(*table, *slice->second, aggregate_);
      if (behind != nullptr) merge_tables(*table, *behind, aggregate_);
      behind = table.get();
      front_.emplace_hint(front_.begin(), slice->first, std::move(table));
    }
    HUMMER_ASSERT(!front_.empty());
  }

  const Aggregate& aggregate_;
  std::map<Timestamp, std::unique_ptr<Table>> front_;  // by first slice
  Table back_;
  Table whole_;
  Timestamp flip_end_ = no_timestamp;  // front covers what is before it
  Timestamp back_end_ = no_timestamp;  // back covers what is before it, from flip_end_ on
};

}  // namespace hummer
