#include <hummer/detail/state/sliding_merge.hpp>

#include <utility>

namespace hummer {

SlidingMerge::SlidingMerge(const ErasedAggregate& aggregate)
    : aggregate_(aggregate), back_(aggregate.make_table()), whole_(aggregate.make_table()) {}

const AccumulatorTableBase& SlidingMerge::window(SliceTables& slices, Timestamp start,
                                                 Timestamp end, Timestamp next_start) {
  while (!front_.empty() && front_.begin()->first < start) {
    slices.spare().give_back(std::move(front_.begin()->second));
    front_.erase(front_.begin());
  }
  if (front_.empty()) {
    flip(slices, start, end);
  } else {
    for (auto slice = slices.from(back_end_); slice != slices.all().end() && slice->first < end;
         ++slice) {
      aggregate_.merge_tables(*back_, *slice->second);
    }
    back_end_ = end;
  }
  auto& [first, table] = *front_.begin();
  if (back_->empty()) return *table;
  if (first < next_start) {  // of no use to later windows
    aggregate_.merge_tables(*table, *back_);
    return *table;
  }
  whole_->clear();
  aggregate_.merge_tables(*whole_, *table);
  aggregate_.merge_tables(*whole_, *back_);
  return *whole_;
}

std::span<AccumulatorTableBase* const> SlidingMerge::covering(SliceTables& slices,
                                                              Timestamp slice) {
  covering_.clear();
  if (slice >= back_end_) return covering_;
  if (slice >= flip_end_) {
    covering_.push_back(back_.get());
    return covering_;
  }
  auto next = front_.lower_bound(slice);
  if (next == front_.end() || next->first != slice) {
    std::shared_ptr<AccumulatorTableBase> table = slices.spare().take();
    if (next != front_.end()) aggregate_.merge_tables(*table, *next->second);
    front_.emplace_hint(next, slice, std::move(table));
  }
  for (auto& [first, table] : front_) {
    if (first > slice) break;
    covering_.push_back(table.get());
  }
  return covering_;
}

void SlidingMerge::forget() {
  front_.clear();
  back_ = aggregate_.make_table();
  whole_ = aggregate_.make_table();
  flip_end_ = back_end_ = no_timestamp;
}

std::size_t SlidingMerge::memory_bytes() const {
  std::size_t bytes = back_->memory_bytes() + whole_->memory_bytes();
  for (const auto& each : front_) bytes += each.second->memory_bytes();
  return bytes;
}

std::size_t SlidingMerge::needed_bytes(const SliceTables& slices, Timestamp start, Timestamp end) {
  std::size_t bytes = 0;
  std::size_t tables = 0;  // that the slice is part of
  for (auto slice = slices.from(start); slice != slices.all().end() && slice->first < end;
       ++slice) {
    bytes += slice->second->memory_bytes() * ++tables;
  }
  return bytes;
}

void SlidingMerge::flip(SliceTables& slices, Timestamp start, Timestamp end) {
  back_->clear();
  flip_end_ = back_end_ = end;
  const AccumulatorTableBase* behind = nullptr;
  for (auto slice = slices.from(end); slice != slices.from(start);) {
    --slice;
    std::shared_ptr<AccumulatorTableBase> table = slices.spare().take();
    aggregate_.merge_tables(*table, *slice->second);
    if (behind != nullptr) aggregate_.merge_tables(*table, *behind);
    behind = table.get();
    front_.emplace_hint(front_.begin(), slice->first, std::move(table));
  }
  HUMMER_ASSERT(!front_.empty());
}

}  // namespace hummer
