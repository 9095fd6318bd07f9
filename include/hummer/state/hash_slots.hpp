// HashSlots<Entry>: the flat memory of a hash table with open addressing.
//
// An entry's home is given by the upper bits of its hash; collisions go to the next
// free slot. At most three quarters of them are used, and the table doubles (fourfold while
// it is small): entries lie in the order of their hashes, so that growth reads and writes
// memory in order.
//
// Entry: trivially copyable, free when its bytes are zero; has is_free() and
// hash(), of which the upper 32 bits count.
//
// Lifecycle: no memory before the first reserve_for. Growth moves entries; clear()
// keeps the memory. Thread: one.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <hummer/status.hpp>
#include <hummer/zeroed_pages.hpp>

namespace hummer {

template <typename Entry>
class HashSlots {
 public:
  explicit HashSlots(std::size_t expected_entries) {
    while (first_capacity_ * 3 < expected_entries * 4) first_capacity_ *= 2;
  }
  HashSlots(HashSlots&& other) noexcept
      : entries_(std::exchange(other.entries_, nullptr)),
        capacity_(std::exchange(other.capacity_, 0)),
        size_(std::exchange(other.size_, 0)),
        shift_(other.shift_),
        first_capacity_(other.first_capacity_) {}
  HashSlots& operator=(HashSlots&& other) noexcept {
    std::swap(entries_, other.entries_);
    std::swap(capacity_, other.capacity_);
    std::swap(size_, other.size_);
    std::swap(shift_, other.shift_);
    std::swap(first_capacity_, other.first_capacity_);
    return *this;
  }
  ~HashSlots() { free_zeroed_pages(entries_, capacity_ * sizeof(Entry)); }

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  std::size_t memory_bytes() const { return capacity_ * sizeof(Entry); }
  // The least memory for its entries and `more`; 0 while it has none.
  std::size_t needed_bytes(std::size_t more) const {
    return size_ == 0 ? 0 : least_slots(size_ + more) * sizeof(Entry);
  }

  // Room for `more` entries: before find_or_add, which does not grow. Growth moves entries.
  bool has_room_for(std::size_t more) const { return (size_ + more) * 4 <= capacity_ * 3; }
  void reserve_for(std::size_t more) {
    if (!has_room_for(more)) [[unlikely]]
      grow(capacity_for(size_ + more));
  }

  // Where the probe for a hash begins.
  Entry* home(std::uint64_t hash) const { return entries_ + (hash >> shift_); }
  std::uint64_t shift() const { return shift_; }
  const Entry* entries() const { return entries_; }

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

  // visit(entry) answers whether to go on. `cursor` runs from 0 to capacity(); answers whether it
  // has got there. Pages of a few entries come in bit-reversed order: in order of their hashes
  // they would fill another table of this kind from one end, in ever longer runs of used slots
  // (probes quadratic in the number of entries).
  template <typename Visit>
  bool scan(std::size_t& cursor, Visit&& visit) const {
    while (cursor < capacity_) {
      const Entry* const page = entries_ + page_start(cursor);
      prefetch_page(cursor + 4 * page_slots);
      do {
        const Entry& entry = page[cursor++ % page_slots];
        if (!entry.is_free() && !visit(entry)) return false;
      } while (cursor % page_slots != 0);
    }
    return true;
  }

  void clear() {
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
  static constexpr std::size_t page_slots = 16;
  static constexpr std::size_t least_capacity = 64;
  static constexpr std::size_t small_bytes = 1 << 20;

  static std::size_t least_slots(std::size_t entries) { return std::bit_ceil(entries * 4 / 3 + 1); }

  std::size_t capacity_for(std::size_t entries) const {
    const std::size_t capacity = least_slots(entries);
    if (capacity < first_capacity_) return first_capacity_;
    // Small tables take bigger steps: most of those that grow at all go on to grow.
    return capacity_ != 0 && capacity * sizeof(Entry) <= small_bytes ? capacity * 2 : capacity;
  }

  std::size_t page_start(std::size_t cursor) const {
    std::uint64_t bits = cursor / page_slots;
    bits = (bits & 0x5555555555555555u) << 1 | (bits >> 1 & 0x5555555555555555u);
    bits = (bits & 0x3333333333333333u) << 2 | (bits >> 2 & 0x3333333333333333u);
    bits = (bits & 0x0F0F0F0F0F0F0F0Fu) << 4 | (bits >> 4 & 0x0F0F0F0F0F0F0F0Fu);
    bits = __builtin_bswap64(bits);
    return (bits >> (64 - std::countr_zero(capacity_ / page_slots))) * page_slots;
  }
  void prefetch_page(std::size_t cursor) const {
    if (cursor >= capacity_) return;
    const char* const page = reinterpret_cast<const char*>(entries_ + page_start(cursor));
    for (std::size_t at = 0; at < page_slots * sizeof(Entry); at += 64) {
      __builtin_prefetch(page + at);
    }
  }

  __attribute__((noinline)) void grow(std::size_t capacity) {
    HUMMER_ASSERT(capacity <= std::size_t{1} << 32);  // hashes tell no more slots apart
    Entry* const old = entries_;
    const std::size_t old_capacity = capacity_;
    entries_ = static_cast<Entry*>(allocate_zeroed_pages(capacity * sizeof(Entry)));
    capacity_ = capacity;
    shift_ = 64 - static_cast<std::uint64_t>(std::countr_zero(capacity));
    for (std::size_t i = 0; i < old_capacity; ++i) {
      if (old[i].is_free()) continue;
      std::size_t place = old[i].hash() >> shift_;
      while (!entries_[place].is_free()) place = (place + 1) & (capacity_ - 1);
      std::memcpy(static_cast<void*>(entries_ + place), old + i, sizeof(Entry));
    }
    free_zeroed_pages(old, old_capacity * sizeof(Entry));
  }

  Entry* entries_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  std::uint64_t shift_ = 63;
  std::size_t first_capacity_ = least_capacity;
};

}  // namespace hummer
