#include "fold_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <hummer/detail/key_hash.hpp>

namespace hummer::batch {
namespace {

constexpr std::size_t arena_bytes_per_slot = 32;
constexpr std::size_t most_slots = std::size_t{1} << 31;

}  // namespace

FoldTable::FoldTable(std::size_t memory_bytes, std::size_t state_bytes)
    : state_bytes_(rounded(state_bytes)) {
  const std::size_t slots = std::bit_floor(std::clamp(
      memory_bytes / (arena_bytes_per_slot + sizeof(Slot)), std::size_t{16}, most_slots));
  slot_mask_ = slots - 1;
  most_entries_ = slots / 4 * 3;
  slots_.resize(slots);
  arena_bytes_ =
      std::max(memory_bytes, slots * sizeof(Slot) + arena_bytes_per_slot) - slots * sizeof(Slot);
  // A place is 32 bits of units.
  arena_bytes_ = std::min(arena_bytes_, (std::size_t{1} << 32) * unit - unit);
  arena_ = std::make_unique_for_overwrite<char[]>(arena_bytes_);
  hashes_.resize(fetched_records);
}

std::string_view FoldTable::key_of(const char* entry) const {
  std::uint64_t size = 0;
  std::memcpy(&size, entry, sizeof size);
  return {entry + head_bytes + state_bytes_, static_cast<std::size_t>(size)};
}

char* FoldTable::add(std::string_view key, Slot& slot, std::uint32_t tag) {
  const std::size_t bytes = head_bytes + state_bytes_ + rounded(key.size());
  if (entries_ == most_entries_ || bytes > arena_bytes_ - used_bytes_) return nullptr;
  char* const at = arena_.get() + used_bytes_;
  const std::uint64_t size = key.size();
  std::memcpy(at, &size, sizeof size);
  if (!key.empty()) std::memcpy(at + head_bytes + state_bytes_, key.data(), key.size());
  slot = {tag, static_cast<std::uint32_t>(used_bytes_ / unit + 1)};
  used_bytes_ += bytes;
  ++entries_;
  return at;
}

void FoldTable::fetch(std::span<const RecordView> records) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    hashes_[i] = hash_bytes(records[i].key_data, records[i].key_bytes);
    __builtin_prefetch(&slots_[hashes_[i] & slot_mask_]);
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Slot& slot = slots_[hashes_[i] & slot_mask_];
    if (slot.place != 0) __builtin_prefetch(entry(slot.place), 1);
  }
}

char* FoldTable::look_up(std::string_view key, std::uint64_t hash, bool& is_new) {
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  for (std::size_t i = hash & slot_mask_;; i = (i + 1) & slot_mask_) {
    Slot& slot = slots_[i];
    if (slot.place == 0) {
      is_new = true;
      return add(key, slot, tag);
    }
    if (slot.tag == tag && key_of(entry(slot.place)) == key) return entry(slot.place);
  }
}

FoldTable::Found FoldTable::look_up(std::span<const RecordView> records, std::span<void*> states,
                                    std::span<void*> added) {
  HUMMER_ASSERT(records.size() <= most_records);
  Found found;
  while (found.records < records.size()) {
    const auto group =
        records.subspan(found.records, std::min(fetched_records, records.size() - found.records));
    fetch(group);
    for (std::size_t i = 0; i < group.size(); ++i) {
      bool is_new = false;
      char* const at = look_up(group[i].key(), hashes_[i], is_new);
      if (at == nullptr) return found;
      if (is_new) added[found.added++] = at + head_bytes;
      states[found.records++] = at + head_bytes;
    }
  }
  return found;
}

std::size_t FoldTable::read(std::size_t& at, std::span<Folder::Entry> into) const {
  std::size_t count = 0;
  for (; count < into.size() && at < used_bytes_; ++count) {
    char* const entry = arena_.get() + at;
    into[count] = {key_of(entry), entry + head_bytes};
    at += head_bytes + state_bytes_ + rounded(into[count].key.size());
  }
  return count;
}

void FoldTable::clear() {
  std::fill(slots_.begin(), slots_.end(), Slot());
  used_bytes_ = 0;
  entries_ = 0;
}

}  // namespace hummer::batch
