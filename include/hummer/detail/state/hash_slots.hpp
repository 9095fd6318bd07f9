// HashSlots<Entry>: the flat memory of a hash table with open addressing.
//
// An entry's home is given by the upper bits of its hash; collisions go to the next
// free slot. At most three quarters of them are used, and the table doubles (fourfold while
// it is small): entries lie in the order of their hashes, so that growth reads and writes
// memory in order, and needs none beside the table's.
//
// Entry: trivially copyable, free when its bytes are zero; has is_free() and
// hash(), of which the upper 32 bits count.
//
// Lifecycle: no memory before the first reserve_for. Growth moves entries; clear()
// keeps the memory. Thread: one.
//
// Snapshots: freeze() fixes what is in it, scan_frozen() hands it out in steps while the table goes
// on changing; whoever changes an entry asks changing() first (see change_marks.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include <hummer/detail/state/change_marks.hpp>
#include <hummer/detail/zeroed_pages.hpp>
#include <hummer/status.hpp>

namespace hummer {

template <typename Entry>
class HashSlots {
 public:
  explicit HashSlots(std::size_t expected_entries) {
    while (first_capacity_ * 3 < expected_entries * 4) first_capacity_ *= 2;
  }
  HashSlots(HashSlots&& other) noexcept { swap(other); }
  HashSlots& operator=(HashSlots&& other) noexcept {
    swap(other);
    return *this;
  }

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  std::size_t memory_bytes() const { return capacity_ * sizeof(Entry); }
  // The least memory for its entries and `more`; 0 while it has none.
  std::size_t needed_bytes(std::size_t more) const {
    return size_ == 0 ? 0 : least_slots(size_ + more) * sizeof(Entry);
  }

  // Room for `more` entries: before find_or_add, which does not grow. Growth moves entries.
  bool has_room_for(std::size_t more) const {
    return (size_ + more) * 8 <= capacity_ * (dense_ ? 7 : 6);
  }
  void reserve_for(std::size_t more) {
    if (!has_room_for(more)) [[unlikely]]
      grow(capacity_for(size_ + more));
  }

  // Lets seven eighths of the slots be used: slower, and good for the end of a table's life, when
  // growth would be for a few entries more.
  void set_dense(bool dense) { dense_ = dense; }

  // Where the probe for a hash begins.
  Entry* home(std::uint64_t hash) const { return entries_ + (hash >> shift_); }
  std::uint64_t shift() const { return shift_; }
  const Entry* entries() const { return entries_; }

  // Scans look at so many slots at once.
  static constexpr std::size_t page_slots = 16;

  // From a home on: the entry for which same(entry) holds, or a free one, after fill(entry) has
  // given it a key; and whether it is new. Entries are compared before asking whether they are
  // free: most are found at once, so same() must not hold for a free one.
  template <typename Same, typename Fill>
  std::pair<Entry*, bool> find_or_add(Entry* entry, Same&& same, Fill&& fill) {
    for (;;) {
      if (same(*entry)) [[likely]]
        return {entry, false};
      if (entry->is_free()) {
        fill(*entry);
        ++size_;
        return {entry, true};
      }
      if (++entry == entries_ + capacity_) entry = entries_;
    }
  }

  // The entry for which same(entry) holds, or null; same() must not hold for a free one.
  template <typename Same>
  const Entry* find(std::uint64_t hash, Same&& same) const {
    if (size_ == 0) return nullptr;
    for (const Entry* entry = home(hash);;) {
      if (same(*entry)) return entry;
      if (entry->is_free()) return nullptr;
      if (++entry == entries_ + capacity_) entry = entries_;
    }
  }

  // visit(entry, next) answers whether to go on, from the cursor `next`. `cursor` runs from 0 to
  // capacity(); answers whether it has got there. Groups of a few pages come in bit-reversed order:
  // in order of their hashes they would fill another table of this kind from one end, in ever
  // longer runs of used slots (probes quadratic in the number of entries). Larger groups are read
  // faster (neighbours in memory) and fill another table more slowly; at 64 slots both together
  // cost least.
  template <typename Visit>
  bool scan(std::size_t& cursor, Visit&& visit) const {
    while (cursor < capacity_) {
      const Entry* const page = entries_ + page_start(cursor);
      prefetch_page(cursor + pages_ahead * page_slots);
      const std::size_t next_page = (cursor / page_slots + 1) * page_slots;
      std::uint32_t used = used_slots(page) & ~std::uint32_t{0} << (cursor % page_slots);
      for (; used != 0; used &= used - 1) {
        const auto i = static_cast<std::size_t>(std::countr_zero(used));
        const std::size_t next = next_page - page_slots + i + 1;
        if (!visit(page[i], next)) {
          cursor = next;
          return false;
        }
      }
      cursor = next_page;
    }
    return true;
  }

  // ---- snapshots ----

  // What `changes` more, about to come, ask for.
  Tracking tracking(std::size_t changes) {
    const Tracking tracking = marks_.tracking();
    if (tracking == Tracking::changes) {
      changes_to_look_ -= std::min(changes, changes_to_look_);
      if (changes_to_look_ == 0) [[unlikely]] {
        look();
        return marks_.tracking();
      }
    }
    return tracking;
  }
  // See ChangeMarks::freeze.
  bool freeze(bool may_be_delta) {
    frozen_cursor_ = frozen_entries_ = 0;
    changes_to_look_ = std::max(capacity_, least_between_looks);
    return marks_.freeze(capacity_, may_be_delta);
  }
  bool frozen() const { return marks_.frozen(); }
  // REQUIRES: Tracking::snapshot. The entry is about to change; true: what it holds now, unless it
  // is new, is part of the snapshot under way and has to be saved before.
  bool changing(const Entry* entry) {
    const auto slot = static_cast<std::size_t>(entry - entries_);
    const bool save = marks_.changing(slot, reversed_page(slot, capacity_) < frozen_cursor_);
    frozen_entries_ += save ? 1 : 0;
    return save;
  }
  // REQUIRES: Tracking::changes. At the home of what is about to change, known long before its
  // entry is; where that turns out to be elsewhere, there too.
  void mark_home(std::uint64_t hash) { marks_.mark(hash >> shift_); }
  void mark(const Entry* entry) { marks_.mark(static_cast<std::size_t>(entry - entries_)); }
  // The entries of the snapshot under way that are still as they were; visit(entry) answers whether
  // to go on beyond its page. True: there are no more; false also where many slots were looked at.
  // In scan()'s order; the table may change between two calls.
  template <typename Visit>
  bool scan_frozen(Visit&& visit) {
    if (!marks_.frozen()) return true;
    const std::size_t until = frozen_cursor_ + pages_per_step * page_slots;
    bool goes_on = true;
    for (; goes_on && frozen_cursor_ < capacity_; frozen_cursor_ += page_slots) {
      if (frozen_cursor_ == until) return false;
      prefetch_pending(frozen_cursor_ + pages_ahead * page_slots);
      const std::size_t start = page_start(frozen_cursor_);
      std::uint32_t pending = marks_.pending_from(start);
      if (pending == 0) continue;
      marks_.drop_pending(start, pending);
      const Entry* const page = entries_ + start;
      pending &= used_slots(page);
      frozen_entries_ += static_cast<std::size_t>(std::popcount(pending));
      for (; pending != 0; pending &= pending - 1) {
        goes_on &= visit(page[static_cast<std::size_t>(std::countr_zero(pending))]);
      }
    }
    if (!goes_on) return false;
    frozen_cursor_ = 0;
    marks_.written(frozen_entries_ * 2 > size_);
    return true;
  }

  void clear() {
    marks_.reset();
    frozen_cursor_ = 0;
    if (size_ == 0) return;
    std::memset(static_cast<void*>(entries_), 0, capacity_ * sizeof(Entry));
    size_ = 0;
  }

  // The most slots that finding an entry looks at, over all entries. Linear; for tests.
  std::size_t longest_probe() const {
    std::size_t longest = 0;
    for (std::size_t i = 0; i < capacity_; ++i) {
      if (entries_[i].is_free()) continue;
      const std::size_t start = entries_[i].hash() >> shift_;
      const std::size_t length = ((i - start) & (capacity_ - 1)) + 1;
      if (length > longest) longest = length;
    }
    return longest;
  }

 private:
  static_assert(std::is_trivially_copyable_v<Entry>, "entries are moved as bytes");
  static constexpr std::size_t group_slots = 64;
  static constexpr std::size_t pages_ahead = 8;
  static constexpr std::size_t pages_per_step = 16 * 1024;
  static constexpr std::size_t least_capacity = group_slots;
  static constexpr std::size_t least_between_looks = 1 << 17;
  static constexpr std::size_t pages_looked_at = 256;
  static constexpr std::size_t small_bytes = 1 << 20;

  static std::size_t least_slots(std::size_t entries) { return std::bit_ceil(entries * 4 / 3 + 1); }

  std::size_t capacity_for(std::size_t entries) const {
    const std::size_t capacity = least_slots(entries);
    if (capacity < first_capacity_) return first_capacity_;
    // Small tables take bigger steps: most of those that grow at all go on to grow.
    return capacity_ != 0 && capacity * sizeof(Entry) <= small_bytes ? capacity * 2 : capacity;
  }

  std::size_t page_start(std::size_t cursor) const { return reversed_page(cursor, capacity_); }
  // The page at which a scan is at a cursor, and the cursor at which it comes to a page: the number
  // of the page's group with its bits reversed, and the place in the group.
  static std::size_t reversed_page(std::size_t slot, std::size_t capacity) {
    std::uint64_t bits = slot / group_slots;
    bits = (bits & 0x5555555555555555u) << 1 | (bits >> 1 & 0x5555555555555555u);
    bits = (bits & 0x3333333333333333u) << 2 | (bits >> 2 & 0x3333333333333333u);
    bits = (bits & 0x0F0F0F0F0F0F0F0Fu) << 4 | (bits >> 4 & 0x0F0F0F0F0F0F0F0Fu);
    bits = __builtin_bswap64(bits) >> 1;  // a table of one group has no bits
    const auto group_bits = static_cast<unsigned>(std::countr_zero(capacity / group_slots));
    const std::size_t page_in_group = slot % group_slots / page_slots;
    return (bits >> (63 - group_bits)) * group_slots + page_in_group * page_slots;
  }
  void prefetch_page(std::size_t cursor) const {
    if (cursor < capacity_) prefetch_slots(page_start(cursor));
  }
  void prefetch_pending(std::size_t cursor) const {
    if (cursor >= capacity_) return;
    const std::size_t start = page_start(cursor);
    if (marks_.pending_from(start) != 0) prefetch_slots(start);
  }
  void prefetch_slots(std::size_t start) const {
    const char* const page = reinterpret_cast<const char*>(entries_ + start);
    for (std::size_t at = 0; at < page_slots * sizeof(Entry); at += 64) {
      __builtin_prefetch(page + at);
    }
  }
  // Which are used is as good as random: a mask of them spares a mispredicted branch each.
  static std::uint32_t used_slots(const Entry* page) {
    std::uint32_t used = 0;
    for (std::size_t i = 0; i < page_slots; ++i) {
      used |= static_cast<std::uint32_t>(!page[i].is_free()) << i;
    }
    return used;
  }

  // Whether marking changes is worth its while, from a sample of pages.
  __attribute__((noinline)) void look() {
    changes_to_look_ = std::max(capacity_, least_between_looks);
    const std::size_t stride = std::max(capacity_ / pages_looked_at, page_slots);
    std::size_t used = 0, changed = 0;
    for (std::size_t start = 0; start < capacity_; start += stride) {
      const std::uint32_t entries = used_slots(entries_ + start);
      used += static_cast<std::size_t>(std::popcount(entries));
      changed += static_cast<std::size_t>(std::popcount(entries & marks_.changed_from(start)));
    }
    if (changed * 2 > used) marks_.stop_tracking();
  }

  // What growth has to know of the table as it was.
  struct Before {
    ChangeMarks marks;
    std::size_t capacity;
    std::size_t frozen_cursor;
  };

  __attribute__((noinline)) void grow(std::size_t capacity) {
    HUMMER_ASSERT(capacity <= std::size_t{1} << 32);  // hashes tell no more slots apart
    const std::size_t old_capacity = std::exchange(capacity_, capacity);
    shift_ = 64 - static_cast<std::uint64_t>(std::countr_zero(capacity));
    const Before before{marks_.grow(capacity), old_capacity, std::exchange(frozen_cursor_, 0)};
    if (pages_.grow_in_place(capacity * sizeof(Entry))) {
      spread(before);
      return;
    }
    const ZeroedPages old = std::exchange(pages_, ZeroedPages(capacity * sizeof(Entry)));
    entries_ = static_cast<Entry*>(pages_.data());
    const auto* const old_entries = static_cast<const Entry*>(old.data());
    for (std::size_t i = 0; i < old_capacity; ++i) {
      if (!old_entries[i].is_free()) place(old_entries[i], before, i);
    }
  }

  // Entries move to their places in the grown table, from the last to the first: those are
  // further back, where everything has moved already. The few that are not (displaced ones near the
  // table's start) wait until all others have.
  void spread(const Before& before) {
    constexpr std::size_t moved_at_once = 64;
    struct Late {
      Entry entry;
      std::size_t from;
    };
    std::vector<Late> late;
    std::size_t end = before.capacity;
    while (end > 0) {
      const std::size_t begin = end > moved_at_once ? end - moved_at_once : 0;
      Entry moving[moved_at_once];
      std::memcpy(static_cast<void*>(moving), entries_ + begin, (end - begin) * sizeof(Entry));
      std::memset(static_cast<void*>(entries_ + begin), 0, (end - begin) * sizeof(Entry));
      for (std::size_t i = 0; i < end - begin; ++i) {
        if (moving[i].is_free()) continue;
        if (moving[i].hash() >> shift_ < begin) {
          late.push_back({moving[i], begin + i});
        } else {
          place(moving[i], before, begin + i);
        }
      }
      end = begin;
    }
    for (const Late& one : late) place(one.entry, before, one.from);
  }

  void place(const Entry& entry, const Before& before, std::size_t from) {
    std::size_t at = entry.hash() >> shift_;
    while (!entries_[at].is_free()) at = (at + 1) & (capacity_ - 1);
    std::memcpy(static_cast<void*>(entries_ + at), &entry, sizeof(Entry));
    if (!marks_.kept()) return;
    const bool written = reversed_page(from, before.capacity) < before.frozen_cursor;
    marks_.carry(before.marks, from, written, at);
  }

  void swap(HashSlots& other) noexcept {
    pages_.swap(other.pages_);
    std::swap(entries_, other.entries_);
    std::swap(capacity_, other.capacity_);
    std::swap(size_, other.size_);
    std::swap(shift_, other.shift_);
    std::swap(first_capacity_, other.first_capacity_);
    std::swap(dense_, other.dense_);
    std::swap(marks_, other.marks_);
    std::swap(frozen_cursor_, other.frozen_cursor_);
    std::swap(frozen_entries_, other.frozen_entries_);
    std::swap(changes_to_look_, other.changes_to_look_);
  }

  ZeroedPages pages_;
  Entry* entries_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  std::uint64_t shift_ = 63;
  std::size_t first_capacity_ = least_capacity;
  bool dense_ = false;
  ChangeMarks marks_;
  std::size_t frozen_cursor_ = 0;
  std::size_t frozen_entries_ = 0;  // of the snapshot under way, so far
  std::size_t changes_to_look_ = 0;
};

}  // namespace hummer
