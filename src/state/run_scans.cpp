#include "state/run_scans.hpp"

#include <algorithm>

#include "state/run_entries.hpp"

namespace hummer {

Result<bool> RunCursor::next() {
  while (part_ == parts_.size()) {
    if (block_ == run_->block_count()) return false;
    HUMMER_TRY(run_->read_blocks(block_, read_bytes_, space_, parts_));
    block_ += parts_.size();
    part_ = 0;
    at_ = 0;
  }
  const auto [begin, end] = parts_[part_];
  at_ = std::max(at_, begin);
  const bool keys_are_hashed = run_->keys_are_hashed();
  at_ = static_cast<std::size_t>(read_run_entry(space_.data() + at_, keys_are_hashed, entry_) -
                                 space_.data());
  take_hash(keys_are_hashed, entry_);
  HUMMER_ASSERT(at_ <= end);
  if (at_ == end) ++part_;
  return true;
}

MergingScan::MergingScan(std::vector<RunCursor> cursors, const SpilledStoreOptions& options,
                         std::int64_t as_of, std::string name, bool keep_removed)
    : options_(options),
      as_of_(as_of),
      name_(std::move(name)),
      keep_removed_(keep_removed),
      cursors_(std::move(cursors)) {
  for (RunCursor& cursor : cursors_) {
    used_.push_back(heads_.size());
    heads_.push_back({0, &cursor});
  }
}

Result<bool> MergingScan::next() {
  for (;;) {
    Result<bool> found = step();
    if (!found.ok()) return found.status().with_context(name_);
    if (!*found) return false;
    // Where values are combined nothing hides below one that is dead.
    if (entry_.removed && (!keep_removed_ || options_.combine)) continue;
    return true;
  }
}

Status MergingScan::advance_used() {
  for (auto used = used_.rbegin(); used != used_.rend(); ++used) {
    Head& head = heads_[*used];
    const Result<bool> got = head.cursor->next();
    if (!got.ok()) return got.status();
    if (*got) {
      head.order = order_number(head.cursor->entry());
    } else {
      heads_.erase(heads_.begin() + static_cast<std::ptrdiff_t>(*used));
    }
  }
  used_.clear();
  return {};
}

Result<bool> MergingScan::step() {
  HUMMER_TRY(advance_used());
  if (heads_.empty()) return false;
  std::size_t least = 0;
  bool alone = true;
  for (std::size_t i = 1; i < heads_.size(); ++i) {
    if (heads_[i].order > heads_[least].order) continue;
    alone = heads_[i].order < heads_[least].order;
    least = i;
  }
  if (alone) {
    used_.push_back(least);
    entry_ = heads_[least].cursor->entry();
  } else {
    HUMMER_TRY(take_of_several(heads_[least].order));
  }
  if (!entry_.removed && options_.end_of &&
      RunEnds::is_over(options_.end_of(entry_.value), as_of_)) {
    entry_.removed = true;
    entry_.value = {};
  }
  return true;
}

Status MergingScan::take_of_several(OrderNumber order) {
  const RunCursor* least = nullptr;
  for (const Head& head : heads_) {
    if (head.order != order) continue;
    // Of equal keys the newest, which comes last.
    if (least == nullptr || head.cursor->entry().key <= least->entry().key) least = head.cursor;
  }
  entry_ = least->entry();
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    const SpilledEntry& entry = heads_[i].cursor->entry();
    if (heads_[i].order != order || !same_bytes(entry.key, entry_.key)) continue;
    used_.push_back(i);
    if (!options_.combine) continue;
    if (used_.size() == 1) {
      together_ = entry.value;
    } else {
      both_.clear();
      if (!options_.combine(together_, entry.value, both_)) {
        return {ErrorCode::corrupt_record, "two values of a key cannot be put together"};
      }
      together_.swap(both_);
    }
    entry_.value = together_;
  }
  return {};
}

}  // namespace hummer
