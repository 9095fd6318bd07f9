#include <hummer/detail/state/hash_slots.hpp>

#include <bit>
#include <cstring>
#include <vector>

#include <hummer/status.hpp>

namespace hummer {
namespace {

constexpr std::size_t group_slots = 64;
constexpr std::size_t pages_ahead = 8;
// Of a table of which little has changed: each entry comes from memory, so a step ends before its
// bytes are many.
constexpr std::size_t pages_per_step = 4 * 1024;
constexpr std::size_t least_between_looks = 1 << 17;
constexpr std::size_t pages_looked_at = 256;
constexpr std::size_t small_bytes = 1 << 20;

// From so many bytes on a table grows in steps: to move all entries of a smaller one takes a
// millisecond or so.
constexpr std::size_t grows_in_steps_bytes = 4 << 20;
// That an update moves: those that have not moved get new entries meanwhile, which must stay few.
constexpr std::size_t slots_per_update = 16;
constexpr std::size_t slots_at_once = 8192;
constexpr std::size_t slots_per_snapshot_step = 32 << 10;
constexpr std::size_t slots_moved_last = 4096;

// Calls function with a null pointer to the type of the keys.
template <typename Function>
decltype(auto) with_keys(KeyKind kind, Function&& function) {
  switch (kind) {
    case KeyKind::integer: return function(static_cast<const IntegerKey*>(nullptr));
    case KeyKind::short_text: return function(static_cast<const ShortKey*>(nullptr));
    case KeyKind::medium_text: return function(static_cast<const MediumKey*>(nullptr));
    case KeyKind::wide_text: return function(static_cast<const WideKey*>(nullptr));
    default: return function(static_cast<const LongKey*>(nullptr));
  }
}
template <typename Key>
const Key& key_at(const void* entry) {
  return *static_cast<const Key*>(entry);
}

std::size_t least_slots(std::size_t entries) { return std::bit_ceil(entries * 4 / 3 + 1); }

// The page at which a scan is at a cursor, and the cursor at which it comes to a page: the number
// of the page's group with its bits reversed, and the place in the group.
std::size_t reversed_page(std::size_t slot, std::size_t capacity) {
  constexpr std::size_t page_slots = 16;
  std::uint64_t bits = slot / group_slots;
  bits = (bits & 0x5555555555555555u) << 1 | (bits >> 1 & 0x5555555555555555u);
  bits = (bits & 0x3333333333333333u) << 2 | (bits >> 2 & 0x3333333333333333u);
  bits = (bits & 0x0F0F0F0F0F0F0F0Fu) << 4 | (bits >> 4 & 0x0F0F0F0F0F0F0F0Fu);
  bits = __builtin_bswap64(bits) >> 1;  // a table of one group has no bits
  const auto group_bits = static_cast<unsigned>(std::countr_zero(capacity / group_slots));
  const std::size_t page_in_group = slot % group_slots / page_slots;
  return (bits >> (63 - group_bits)) * group_slots + page_in_group * page_slots;
}

// Of whole words: a call of memcpy for each entry would cost more than the copy.
void copy_entry(void* to, const void* from, std::size_t bytes) {
  auto* const target = static_cast<char*>(to);
  const auto* const source = static_cast<const char*>(from);
  for (std::size_t i = 0; i < bytes; i += sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, source + i, sizeof word);
    std::memcpy(target + i, &word, sizeof word);
  }
}

}  // namespace

HashSlots::HashSlots(SlotLayout layout, std::size_t expected_entries) : layout_(layout) {
  while (first_capacity_ * 3 < expected_entries * 4) first_capacity_ *= 2;
}

std::size_t HashSlots::needed_bytes(std::size_t more) const {
  return size_ == 0 ? 0 : least_slots(size_ + more) * layout_.entry_bytes;
}

std::size_t HashSlots::capacity_for(std::size_t entries) const {
  const std::size_t capacity = least_slots(entries);
  if (capacity < first_capacity_) return first_capacity_;
  // Small tables take bigger steps: most of those that grow at all go on to grow.
  return capacity_ != 0 && capacity * layout_.entry_bytes <= small_bytes ? capacity * 2 : capacity;
}

// Which are used is as good as random: a mask of them spares a mispredicted branch each.
template <typename Key>
std::uint32_t HashSlots::used_slots(std::size_t start) const {
  const char* entry = at(start);
  std::uint32_t used = 0;
  for (std::size_t i = 0; i < page_slots; ++i, entry += layout_.entry_bytes) {
    used |= static_cast<std::uint32_t>(!key_at<Key>(entry).is_free()) << i;
  }
  return used;
}

void HashSlots::prefetch_page(std::size_t start) const {
  const char* const page = at(start);
  const std::size_t bytes = page_slots * layout_.entry_bytes;
  for (std::size_t offset = 0; offset < bytes; offset += 64) __builtin_prefetch(page + offset);
}

bool HashSlots::read(std::size_t& cursor, std::size_t before, FoundEntries& found) const {
  return with_keys(layout_.kind, [&]<typename Key>(const Key*) {
    while (cursor < capacity_) {
      const std::size_t start = reversed_page(cursor, capacity_);
      const char* const page = at(start);
      const std::size_t ahead = cursor + pages_ahead * page_slots;
      if (ahead < capacity_) prefetch_page(reversed_page(ahead, capacity_));
      const std::size_t next_page = (cursor / page_slots + 1) * page_slots;
      std::uint32_t used = used_slots<Key>(start) & ~std::uint32_t{0} << (cursor % page_slots);
      for (; used != 0; used &= used - 1) {
        const auto i = static_cast<std::size_t>(std::countr_zero(used));
        const std::size_t next = next_page - page_slots + i + 1;
        const char* const entry = page + i * layout_.entry_bytes;
        found.entries[found.count++] = {key_at<Key>(entry).view(), entry + layout_.value_offset,
                                        before + next};
        if (found.count == FoundEntries::capacity) {
          cursor = next;
          return false;
        }
      }
      cursor = next_page;
    }
    return true;
  });
}

const void* HashSlots::at_cursor(std::size_t cursor) const {
  return at(reversed_page(cursor, capacity_) + cursor % page_slots);
}

FoundEntry HashSlots::entry_at(std::size_t cursor) const {
  const char* const entry = static_cast<const char*>(at_cursor(cursor));
  return with_keys(layout_.kind, [&]<typename Key>(const Key*) {
    return FoundEntry{key_at<Key>(entry).view(), entry + layout_.value_offset, cursor + 1};
  });
}

// ---- snapshots ----

Tracking HashSlots::tracking_with_look(std::size_t changes) {
  changes_to_look_ -= std::min(changes, changes_to_look_);
  if (changes_to_look_ == 0) look();
  return marks_.tracking();
}

// Whether marking changes is worth its while, from a sample of pages.
void HashSlots::look() {
  changes_to_look_ = std::max(capacity_, least_between_looks);
  const std::size_t stride = std::max(capacity_ / pages_looked_at, page_slots);
  std::size_t used = 0, changed = 0;
  with_keys(layout_.kind, [&]<typename Key>(const Key*) {
    for (std::size_t start = 0; start < capacity_; start += stride) {
      const std::uint32_t entries = used_slots<Key>(start);
      used += static_cast<std::size_t>(std::popcount(entries));
      changed += static_cast<std::size_t>(std::popcount(entries & marks_.changed_from(start)));
    }
  });
  if (changed * 2 > used) marks_.stop_tracking();
}

bool HashSlots::freeze(bool may_be_delta) {
  frozen_cursor_ = frozen_entries_ = 0;
  changes_to_look_ = std::max(capacity_, least_between_looks);
  return marks_.freeze(capacity_, may_be_delta);
}

bool HashSlots::changing(const void* entry) {
  const std::size_t slot = slot_of(entry);
  const bool save = marks_.changing(slot, reversed_page(slot, capacity_) < frozen_cursor_);
  frozen_entries_ += save ? 1 : 0;
  return save;
}

bool HashSlots::read_frozen(FoundEntries& found) {
  if (!marks_.frozen()) return true;
  // What has yet to be written would move past the cursor.
  if (growing() && !resting_) {
    move_some(slots_per_snapshot_step);
    found.pages_read = pages_per_step;
    return false;
  }
  return with_keys(layout_.kind,
                   [&]<typename Key>(const Key*) { return read_frozen_of<Key>(found); });
}

template <typename Key>
bool HashSlots::read_frozen_of(FoundEntries& found) {
  for (; frozen_cursor_ < capacity_; frozen_cursor_ += page_slots, ++found.pages_read) {
    if (found.pages_read == pages_per_step || !has_room_for_page(found)) return false;
    const std::size_t ahead = frozen_cursor_ + pages_ahead * page_slots;
    if (ahead < capacity_) {
      const std::size_t start = reversed_page(ahead, capacity_);
      if (marks_.pending_from(start) != 0) prefetch_page(start);
    }
    const std::size_t start = reversed_page(frozen_cursor_, capacity_);
    std::uint32_t pending = marks_.pending_from(start);
    if (pending == 0) continue;
    marks_.drop_pending(start, pending);
    pending &= used_slots<Key>(start);
    frozen_entries_ += static_cast<std::size_t>(std::popcount(pending));
    for (; pending != 0; pending &= pending - 1) {
      const char* const entry = at(start + static_cast<std::size_t>(std::countr_zero(pending)));
      found.entries[found.count++] = {key_at<Key>(entry).view(), entry + layout_.value_offset, 0};
    }
  }
  frozen_cursor_ = 0;
  marks_.written(frozen_entries_ * 2 > size_);
  return true;
}

// ---- growth ----

// Copies it to where it belongs, which it answers.
template <typename Key>
std::size_t HashSlots::put(const char* entry) {
  std::size_t to = home_slot(key_at<Key>(entry).hash());
  while (!key_at<Key>(at(to)).is_free()) to = (to + 1) & (capacity_ - 1);
  copy_entry(at(to), entry, layout_.entry_bytes);
  return to;
}

void HashSlots::make_room_for(std::size_t more) {
  if (growing()) grow_on(more);
  if (fits(more)) return;
  while (growing()) move_some(unmoved_);
  grow(capacity_for(size_ + more));
}

void HashSlots::grow(std::size_t capacity) {
  HUMMER_ASSERT(capacity <= std::size_t{1} << 32);  // hashes tell no more slots apart
  while (capacity_ < capacity) {
    const bool at_once = memory_bytes() < grows_in_steps_bytes || 2 * capacity_ < capacity;
    if (capacity_ == 0 || !pages_.grow_in_place(2 * memory_bytes())) return move_to(capacity);
    begin_growth();
    while (at_once && growing()) move_some(unmoved_);
  }
}

// In memory of its own, where what it has can't grow.
void HashSlots::move_to(std::size_t capacity) {
  const std::size_t old_capacity = std::exchange(capacity_, capacity);
  shift_ = 64 - static_cast<std::uint64_t>(std::countr_zero(capacity));
  const ChangeMarks marks = marks_.grow(capacity);
  const std::size_t written = std::exchange(frozen_cursor_, 0);
  const ZeroedPages old = std::exchange(pages_, ZeroedPages(memory_bytes()));
  entries_ = pages_.data();
  with_keys(layout_.kind, [&]<typename Key>(const Key*) {
    const auto* entry = static_cast<const char*>(old.data());
    for (std::size_t from = 0; from < old_capacity; ++from, entry += layout_.entry_bytes) {
      if (key_at<Key>(entry).is_free()) continue;
      const std::size_t to = put<Key>(entry);
      if (!marks_.kept()) continue;
      marks_.carry(marks, from, reversed_page(from, old_capacity) < written, to);
    }
  });
}

// Those that had no place before the table's end have one behind it now.
void HashSlots::begin_growth() {
  const std::size_t old_capacity = std::exchange(capacity_, 2 * capacity_);
  --shift_;
  unmoved_ = old_capacity;
  const std::size_t written = std::exchange(frozen_cursor_, 0);
  marks_.widen(old_capacity, capacity_,
               [&](std::size_t slot) { return reversed_page(slot, old_capacity) < written; });
  with_keys(layout_.kind, [&]<typename Key>(const Key*) {
    std::size_t end = 0;
    while (!key_at<Key>(at(end)).is_free()) ++end;
    put_anew<Key>(0, end);
  });
}

void HashSlots::grow_on(std::size_t updates) {
  owed_slots_ += updates * slots_per_update;
  if (owed_slots_ >= slots_at_once) move_some(std::exchange(owed_slots_, 0));
}

// Up to a free slot, so that no probe of what is behind it meets a gap. There is one: there are
// more slots behind the mark than entries.
void HashSlots::move_some(std::size_t slots) {
  with_keys(layout_.kind, [&]<typename Key>(const Key*) {
    std::size_t end = unmoved_;  // entries of homes below it may have their place behind it
    while (!key_at<Key>(at(end)).is_free()) ++end;
    unmoved_ -= unmoved_ > slots + slots_moved_last ? slots : unmoved_;
    put_anew<Key>(unmoved_, end);
  });
}

// Takes what is in these slots out and puts it where it belongs now. REQUIRES: the one at `end` is
// free.
template <typename Key>
void HashSlots::put_anew(std::size_t begin, std::size_t end) {
  const std::size_t bytes = layout_.entry_bytes;
  const std::vector<char> moving(at(begin), at(end));
  std::memset(at(begin), 0, moving.size());
  std::vector<ChangeMarks::OfSlot> marks;
  if (marks_.kept()) {
    marks.reserve(end - begin);
    for (std::size_t slot = begin; slot < end; ++slot) marks.push_back(marks_.take(slot));
  }
  for (std::size_t i = 0; i < end - begin; ++i) {
    const char* const entry = moving.data() + i * bytes;
    if (key_at<Key>(entry).is_free()) continue;
    const std::size_t to = put<Key>(entry);
    if (!marks.empty()) marks_.put(to, marks[i]);
  }
}

bool HashSlots::clear_some(std::size_t bytes) {
  if (size_ > 0) {
    const std::size_t some = std::min(bytes, memory_bytes() - cleared_bytes_);
    std::memset(static_cast<char*>(entries_) + cleared_bytes_, 0, some);
    cleared_bytes_ += some;
    if (cleared_bytes_ < memory_bytes()) return false;
  }
  marks_.reset();
  frozen_cursor_ = unmoved_ = cleared_bytes_ = 0;
  resting_ = false;
  size_ = 0;
  return true;
}

std::size_t HashSlots::longest_probe() const {
  return with_keys(layout_.kind, [&]<typename Key>(const Key*) {
    std::size_t longest = 0;
    for (std::size_t i = 0; i < capacity_; ++i) {
      if (key_at<Key>(at(i)).is_free()) continue;
      const std::size_t start = home_slot(key_at<Key>(at(i)).hash());
      longest = std::max(longest, ((i - start) & (capacity_ - 1)) + 1);
    }
    return longest;
  });
}

void HashSlots::swap(HashSlots& other) noexcept {
  pages_.swap(other.pages_);
  std::swap(entries_, other.entries_);
  std::swap(capacity_, other.capacity_);
  std::swap(size_, other.size_);
  std::swap(shift_, other.shift_);
  std::swap(unmoved_, other.unmoved_);
  std::swap(owed_slots_, other.owed_slots_);
  std::swap(cleared_bytes_, other.cleared_bytes_);
  std::swap(first_capacity_, other.first_capacity_);
  std::swap(dense_, other.dense_);
  std::swap(resting_, other.resting_);
  std::swap(marks_, other.marks_);
  std::swap(frozen_cursor_, other.frozen_cursor_);
  std::swap(frozen_entries_, other.frozen_entries_);
  std::swap(changes_to_look_, other.changes_to_look_);
}

}  // namespace hummer
