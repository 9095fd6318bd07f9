#include <hummer/detail/state/slice_tables.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <span>

namespace hummer {

// ---- spare tables ----

std::shared_ptr<AccumulatorTableBase> SpareTables::take() {
  if (spare_.empty()) return aggregate_->make_table();
  std::shared_ptr<AccumulatorTableBase> table = std::move(spare_.back());
  spare_.pop_back();
  return table;
}

std::shared_ptr<AccumulatorTableBase> SpareTables::take_larger(std::size_t bytes) {
  std::shared_ptr<AccumulatorTableBase>* largest = nullptr;
  for (std::shared_ptr<AccumulatorTableBase>& table : spare_) {
    if (table->memory_bytes() < 2 * bytes || table->memory_bytes() == 0) continue;
    if (largest == nullptr || table->memory_bytes() > (*largest)->memory_bytes()) {
      largest = &table;
    }
  }
  if (largest == nullptr) return nullptr;
  std::swap(*largest, spare_.back());
  return take();
}

void SpareTables::release_but_largest() {
  if (spare_.empty()) return;
  std::shared_ptr<AccumulatorTableBase> largest =
      std::move(*std::max_element(spare_.begin(), spare_.end(), [](const auto& a, const auto& b) {
        return a->memory_bytes() < b->memory_bytes();
      }));
  spare_.clear();
  spare_.push_back(std::move(largest));
}

std::size_t SpareTables::memory_bytes() const {
  std::size_t bytes = 0;
  for (const auto& table : spare_) bytes += table->memory_bytes();
  return bytes;
}

void SpareTables::give_back(std::shared_ptr<AccumulatorTableBase> table) {
  constexpr std::size_t small_bytes = 1 << 20;
  constexpr std::size_t bytes_per_entry_max = 512;
  if (table->memory_bytes() > small_bytes &&
      table->memory_bytes() / bytes_per_entry_max > table->size()) {
    return;
  }
  table->clear();
  add(std::move(table));
}

// ---- slices ----

std::size_t SliceTables::memory_bytes() const {
  std::size_t bytes = spare_.memory_bytes();
  for (const auto& slice : slices_) bytes += slice.second->memory_bytes();
  return bytes;
}

std::size_t SliceTables::entries() const {
  std::size_t entries = 0;
  for (const auto& slice : slices_) entries += slice.second->size();
  return entries;
}

std::size_t SliceTables::parting_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [slice, table] : parting_) {
    const bool leaving = table.use_count() > (table == left_ ? 2 : 1);
    if (!leaving) bytes += table->memory_bytes();
  }
  return bytes;
}

bool SliceTables::at_limit(std::size_t limit_bytes) const {
  const std::size_t all = memory_bytes();
  if (all > limit_bytes) return true;
  return std::any_of(slices_.begin(), slices_.end(), [&](const auto& slice) {
    return slice.second->at_limit(limit_bytes - (all - slice.second->memory_bytes()));
  });
}

void SliceTables::release_unused() {
  spare_.release();
  for (auto& [slice, table] : slices_) {
    if (table->empty() && !table->frozen()) table = aggregate_->make_table();
  }
}

AccumulatorTableBase& SliceTables::at(Timestamp slice) {
  std::shared_ptr<Table>& table = slices_[slice];
  if (!table) table = spare_.take();
  return *table;
}

AccumulatorTableBase& SliceTables::at(Timestamp slice, std::size_t more) {
  Table& table = at(slice);
  if (table.has_room_for(more)) return table;
  std::shared_ptr<Table> larger = spare_.take_larger(table.memory_bytes());
  if (!larger) return table;
  aggregate_->merge_tables(*larger, table);
  std::shared_ptr<Table>& held = slices_[slice];
  std::swap(held, larger);
  retire(slice, std::move(larger));
  return *held;
}

void SliceTables::drop_first() {
  retire(slices_.begin()->first, std::move(slices_.begin()->second));
  slices_.erase(slices_.begin());
}

std::shared_ptr<const AccumulatorTableBase> SliceTables::let_go(Timestamp slice) {
  std::shared_ptr<Table> table = std::exchange(slices_[slice], aggregate_->make_table());
  if (table->frozen()) {
    table->rest();
    parting_.emplace_back(slice, table);
  }
  was_frozen_ = false;
  if (left_ == nullptr || left_->memory_bytes() <= table->memory_bytes()) left_ = table;
  return table;
}

void SliceTables::clear_left(std::size_t limit_bytes) {
  constexpr std::size_t at_once_bytes = 256 << 10;
  if (!left_is_written()) return;
  if (memory_bytes() + left_->memory_bytes() > limit_bytes) {
    left_.reset();
  } else if (left_->clear_some(at_once_bytes)) {
    spare_.add(std::move(left_));
    spare_.release_but_largest();
  }
}

void SliceTables::retire(Timestamp slice, std::shared_ptr<Table> table) {
  if (table->frozen()) {
    parting_.emplace_back(slice, std::move(table));
  } else {
    spare_.give_back(std::move(table));
  }
}

// ---- snapshot ----

bool SliceTables::freeze(bool may_be_delta, ByteWriter& out) {
  const bool delta = may_be_delta && was_frozen_;
  was_frozen_ = true;
  parting_.clear();
  writing_ = nullptr;
  out.put_value(static_cast<std::uint32_t>(slices_.size()));
  for (const auto& [slice, table] : slices_) {
    out.put_value(slice);
    table->freeze(delta);
  }
  return delta;
}

bool SliceTables::write_frozen(GroupedEntries& entries, ByteWriter& out, std::size_t until_bytes) {
  while (!entries.enough(out, until_bytes)) {
    if (writing_ == nullptr && !next_section(entries)) return true;
    (void)writing_->write_frozen(entries, out, until_bytes);
    // One that has given all may go at any time, also where the step is full.
    if (writing_->frozen()) return false;
    std::erase_if(parting_, [&](const auto& each) { return each.second.get() == writing_; });
    writing_ = nullptr;
  }
  return false;
}

bool SliceTables::next_section(GroupedEntries& entries) {
  if (!parting_.empty()) {
    begin_section(parting_.front().first, entries);
    writing_ = parting_.front().second.get();
    return true;
  }
  for (const auto& [slice, table] : slices_) {
    if (!table->frozen()) continue;
    begin_section(slice, entries);
    writing_ = table.get();
    return true;
  }
  return false;
}

void SliceTables::begin_section(Timestamp slice, GroupedEntries& entries) {
  std::array<char, 1 + sizeof slice> head{};
  ByteWriter out{std::span<char>(head)};
  out.put_value(section_follows);
  out.put_value(slice);
  constexpr char end = static_cast<char>(Table::end_of_entries);
  entries.begin_section(out.view(), {&end, 1});
}

bool SliceTables::restore(ByteReader& in, bool delta, const OwnsKey& owns,
                          const std::function<bool()>& make_room) {
  if (!delta) merge_restored();
  std::set<Timestamp> present;
  std::uint32_t slices = 0;
  if (!in.get_value(slices)) return false;
  for (std::uint32_t i = 0; i < slices; ++i) {
    Timestamp slice = 0;
    if (!in.get_value(slice)) return false;
    present.insert(slice);
  }
  std::erase_if(restoring_, [&](const auto& each) { return !present.contains(each.first); });
  for (;;) {
    std::uint8_t mark = 0;
    Timestamp slice = 0;
    if (!in.get_value(mark) || mark > section_follows) return false;
    if (mark == end_of_sections) return true;
    if (!in.get_value(slice)) return false;
    for (auto restored = Table::Restored::some; restored == Table::Restored::some;) {
      std::shared_ptr<Table>& table = restoring_[slice];
      if (!table) table = aggregate_->make_table();
      restored = table->restore(in, owns, *aggregate_, delta);
      if (restored == Table::Restored::not_valid) return false;
      if (table->empty()) restoring_.erase(slice);
      if (!make_room()) return false;
    }
  }
}

void SliceTables::merge_restored() {
  for (auto& [slice, table] : restoring_) {
    std::shared_ptr<Table>& held = slices_[slice];
    if (!held) {
      held = std::move(table);
    } else {
      aggregate_->merge_tables(*held, *table);
    }
  }
  restoring_.clear();
}

}  // namespace hummer
