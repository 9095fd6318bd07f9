// IntegerTable<V>: a hash table from 64-bit integers to a small fixed-size value.
//
// Flat entries, open addressing, updates in batches with prefetch: see
// text_table.hpp, whose interface this one shares. The index is a multiply-fold
// of the key, local to the table.
//
// Thread: one. Cost: O(1) per update; growth doubles at half load.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>

#include <hummer/status.hpp>

namespace hummer {

template <typename V>
class IntegerTable {
  static_assert(std::is_trivially_copyable_v<V>, "values are moved as bytes when the table grows");

 public:
  explicit IntegerTable(std::size_t expected_keys = 1024) { allocate(expected_keys * 2); }

  std::size_t size() const { return size_ + (zero_.occupied ? 1 : 0); }
  bool empty() const { return size() == 0; }
  std::size_t memory_bytes() const { return (mask_ + 1) * sizeof(Entry); }

  bool at_limit(std::size_t limit_bytes) const {
    const bool grows_soon = (size_ + growth_margin) * 2 > mask_ + 1;
    return grows_soon && (mask_ + 1) * sizeof(Entry) * 2 > limit_bytes;
  }

  template <typename KeyOf, typename Apply>
  void update(std::size_t count, KeyOf&& key_of, Apply&& apply) {
    std::uint64_t keys[group_size];
    std::size_t places[group_size];
    for (std::size_t from = 0; from < count; from += group_size) {
      const std::size_t length = count - from < group_size ? count - from : group_size;
      reserve_for(length);
      for (std::size_t i = 0; i < length; ++i) {
        keys[i] = static_cast<std::uint64_t>(key_of(from + i));
        places[i] = index(keys[i]);
        __builtin_prefetch(&entries_[places[i]]);
      }
      for (std::size_t i = 0; i < length; ++i) update_one(keys[i], places[i], from + i, apply);
    }
  }

  static constexpr std::size_t scan_end = static_cast<std::size_t>(-1);
  template <typename Visit>
  std::size_t scan(std::size_t cursor, Visit&& visit) const {
    if (cursor == 0) {
      ++cursor;
      if (zero_.occupied && !visit(std::uint64_t{0}, zero_.value)) return cursor;
    }
    for (; cursor <= mask_ + 1; ++cursor) {
      const Entry& entry = entries_[cursor - 1];
      if (entry.key == 0) continue;
      if (!visit(entry.key, entry.value)) return cursor + 1;
    }
    return scan_end;
  }

  void clear() {
    if (empty()) return;
    std::memset(static_cast<void*>(entries_.get()), 0, (mask_ + 1) * sizeof(Entry));
    size_ = 0;
    zero_ = {};
  }

 private:
  static constexpr std::size_t group_size = 64;
  static constexpr std::size_t growth_margin = 4096;

  struct Entry {
    std::uint64_t key;  // 0: free; the key 0 lives in zero_
    V value;
  };
  struct ZeroEntry {
    bool occupied = false;
    V value{};
  };
  struct FreeEntries {
    void operator()(Entry* entries) const { std::free(entries); }
  };

  std::size_t index(std::uint64_t key) const { return (key * 0x9E3779B97F4A7C15u) >> shift_; }

  template <typename Apply>
  void update_one(std::uint64_t key, std::size_t place, std::size_t i, Apply& apply) {
    if (key == 0) [[unlikely]] {
      const bool is_new = !zero_.occupied;
      zero_.occupied = true;
      apply(zero_.value, is_new, i);
      return;
    }
    for (;;) {
      Entry& entry = entries_[place];
      if (entry.key == key) {
        apply(entry.value, false, i);
        return;
      }
      if (entry.key == 0) {
        entry.key = key;
        ++size_;
        apply(entry.value, true, i);
        return;
      }
      place = (place + 1) & mask_;
    }
  }

  void allocate(std::size_t entries) {
    std::size_t capacity = 64;
    while (capacity < entries) capacity *= 2;
    entries_.reset(static_cast<Entry*>(std::calloc(capacity, sizeof(Entry))));
    HUMMER_ASSERT(entries_ != nullptr);
    mask_ = capacity - 1;
    shift_ = 64 - __builtin_ctzll(capacity);
  }

  void reserve_for(std::size_t more) {
    if ((size_ + more) * 2 <= mask_ + 1) [[likely]] return;
    const std::unique_ptr<Entry[], FreeEntries> old = std::move(entries_);
    const std::size_t old_mask = mask_;
    allocate((old_mask + 1) * 2);
    for (std::size_t i = 0; i <= old_mask; ++i) {
      if (old[i].key == 0) continue;
      std::size_t place = index(old[i].key);
      while (entries_[place].key != 0) place = (place + 1) & mask_;
      entries_[place] = old[i];
    }
  }

  std::unique_ptr<Entry[], FreeEntries> entries_;
  std::size_t mask_ = 0;
  int shift_ = 64;
  std::size_t size_ = 0;
  ZeroEntry zero_;
};

}  // namespace hummer
