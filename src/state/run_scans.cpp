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
    : options_(options), as_of_(as_of), name_(std::move(name)), keep_removed_(keep_removed) {
  for (RunCursor& cursor : cursors) cursors_.push_back({std::move(cursor), true, false});
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

Result<bool> MergingScan::step() {
  const Input* least = nullptr;
  for (Input& input : cursors_) {
    if (input.due) {
      const Result<bool> got = input.cursor.next();
      if (!got.ok()) return got.status();
      input.open = *got;
      input.due = false;
    }
    if (!input.open) continue;
    // Of equal keys the newest, which comes last.
    if (least == nullptr || !before(least->cursor.entry(), input.cursor.entry())) least = &input;
  }
  if (least == nullptr) return false;
  entry_ = least->cursor.entry();
  bool first = true;
  for (Input& input : cursors_) {
    if (!input.open || !same_key(input.cursor.entry(), entry_)) continue;
    input.due = true;
    if (!options_.combine) continue;
    if (first) {
      together_ = input.cursor.entry().value;
      first = false;
    } else {
      both_.clear();
      if (!options_.combine(together_, input.cursor.entry().value, both_)) {
        return Status(ErrorCode::corrupt_record, "two values of a key cannot be put together");
      }
      together_.swap(both_);
    }
    entry_.value = together_;
  }
  if (!entry_.removed && options_.end_of &&
      RunEnds::is_over(options_.end_of(entry_.value), as_of_)) {
    entry_.removed = true;
    entry_.value = {};
  }
  return true;
}

}  // namespace hummer
