// IntegerTable<V>: a hash table from 64-bit integers to a small fixed-size value.
//
// Flat entries, open addressing, updates in batches with prefetch: see
// text_table.hpp, whose interface this one shares. The index is a multiply-fold
// of the key, local to the table.
//
// Thread: one. Cost: O(1) per update; growth doubles at half load.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <hummer/detail/state/hash_slots.hpp>

namespace hummer {

template <typename V>
class IntegerTable {
  static_assert(std::is_trivially_copyable_v<V>, "values are moved as bytes when the table grows");

 public:
  explicit IntegerTable(std::size_t expected_keys = 0) : slots_(expected_keys) {}

  std::size_t size() const { return slots_.size() + (zero_.occupied ? 1 : 0); }
  bool empty() const { return size() == 0; }
  std::size_t memory_bytes() const { return slots_.memory_bytes(); }
  bool at_limit(std::size_t limit_bytes) const {
    return slots_.needed_bytes(growth_margin) > limit_bytes;
  }

  // Whether `more` new keys fit without growth: then a scan may go on meanwhile.
  bool has_room_for(std::size_t more) const { return slots_.has_room_for(more); }
  void make_room_for(std::size_t more) { slots_.reserve_for(more); }
  void set_dense(bool dense) { slots_.set_dense(dense); }  // see HashSlots

  // `save`: see TextTable.
  template <typename KeyOf, typename Apply, typename Save = SaveNothing>
  void update(std::size_t count, KeyOf&& key_of, Apply&& apply, Save&& save = {}) {
    switch (slots_.tracking(count)) {
      case Tracking::none: return update_all<Tracking::none>(count, key_of, apply, save);
      case Tracking::changes: return update_all<Tracking::changes>(count, key_of, apply, save);
      case Tracking::snapshot: return update_all<Tracking::snapshot>(count, key_of, apply, save);
    }
  }

  // The same for one key: see TextTable.
  template <typename Save = SaveNothing>
  std::pair<V*, bool> find_or_add(std::uint64_t key, Save&& save = {}) {
    return find_or_add_one(key, SaveReference<std::uint64_t, V>(save));
  }

  // Null: there is none. Valid until the next update.
  const V* find(std::uint64_t key) const {
    if (key == 0) return zero_.occupied ? &zero_.value : nullptr;
    const Entry* const entry =
        slots_.find(hash_of(key), [&](const Entry& other) { return other.key == key; });
    return entry == nullptr ? nullptr : &entry->value;
  }

  static constexpr std::size_t scan_end = static_cast<std::size_t>(-1);
  template <typename Visit>
  std::size_t scan(std::size_t cursor, Visit&& visit) const {
    if (cursor == 0) {
      ++cursor;
      if (zero_.occupied && !visit(std::uint64_t{0}, zero_.value)) return cursor;
    }
    std::size_t place = cursor - 1;
    const bool finished = slots_.scan(
        place, [&](const Entry& entry, std::size_t) { return visit(entry.key, entry.value); });
    return finished ? scan_end : place + 1;
  }

  // Snapshots: see TextTable.
  bool freeze(bool may_be_delta) {
    const bool delta = slots_.freeze(may_be_delta);
    zero_.pending = zero_.occupied && (!delta || zero_.changed);
    zero_.changed = false;
    return delta;
  }
  bool frozen() const { return slots_.frozen(); }
  template <typename Visit>
  bool scan_frozen(Visit&& visit) {
    if (std::exchange(zero_.pending, false) && !visit(std::uint64_t{0}, zero_.value)) return false;
    return slots_.scan_frozen([&](const Entry& entry) { return visit(entry.key, entry.value); });
  }

  void clear() {
    slots_.clear();
    zero_ = {};
  }

  // See HashSlots.
  std::size_t longest_probe() const { return slots_.longest_probe(); }

 private:
  static constexpr std::size_t group_size = 64;
  static constexpr std::size_t growth_margin = 4096;

  static std::uint64_t hash_of(std::uint64_t key) { return key * 0x9E3779B97F4A7C15u; }
  struct Entry {
    std::uint64_t key;  // 0: free; the key 0 lives in zero_
    V value;
    bool is_free() const { return key == 0; }
    std::uint64_t hash() const { return hash_of(key); }
  };
  struct ZeroEntry {
    bool occupied = false;
    bool changed = false;
    bool pending = false;
    V value{};
  };

  __attribute__((noinline)) std::pair<V*, bool> find_or_add_one(
      std::uint64_t key, const SaveReference<std::uint64_t, V>& save) {
    slots_.reserve_for(1);
    std::pair<V*, bool> found;
    const auto keep = [&](V& value, bool is_new, std::size_t) { found = {&value, is_new}; };
    Entry* const home = slots_.home(hash_of(key));
    switch (slots_.tracking(1)) {
      case Tracking::none: update_one<Tracking::none>(key, home, 0, keep, save); break;
      case Tracking::changes:
        slots_.mark_home(hash_of(key));
        update_one<Tracking::changes>(key, home, 0, keep, save);
        break;
      case Tracking::snapshot: update_one<Tracking::snapshot>(key, home, 0, keep, save); break;
    }
    return found;
  }

  // Not inlined: three copies of the loop in a caller leave none of them the registers it needs.
  template <Tracking tracking, typename KeyOf, typename Apply, typename Save>
  __attribute__((noinline)) void update_all(std::size_t count, KeyOf& key_of, Apply& apply,
                                            Save& save) {
    std::uint64_t keys[group_size];
    Entry* homes[group_size];
    for (std::size_t from = 0; from < count; from += group_size) {
      const std::size_t length = std::min(count - from, group_size);
      slots_.reserve_for(length);
      for (std::size_t i = 0; i < length; ++i) {
        keys[i] = static_cast<std::uint64_t>(key_of(from + i));
        homes[i] = slots_.home(hash_of(keys[i]));
        __builtin_prefetch(homes[i]);
        if constexpr (tracking == Tracking::changes) slots_.mark_home(hash_of(keys[i]));
      }
      for (std::size_t i = 0; i < length; ++i) {
        update_one<tracking>(keys[i], homes[i], from + i, apply, save);
      }
    }
  }

  template <Tracking tracking, typename Apply, typename Save>
  void update_one(std::uint64_t key, Entry* home, std::size_t i, Apply& apply, Save& save) {
    if (key == 0) [[unlikely]] {
      const bool is_new = !zero_.occupied;
      zero_.occupied = zero_.changed = true;
      if (std::exchange(zero_.pending, false)) save(key, zero_.value);
      apply(zero_.value, is_new, i);
      return;
    }
    const auto [entry, is_new] = slots_.find_or_add(
        home, [&](const Entry& other) { return other.key == key; },
        [&](Entry& added) { added.key = key; });
    if constexpr (tracking == Tracking::changes) {
      if (entry != home) slots_.mark(entry);
    } else if constexpr (tracking == Tracking::snapshot) {
      if (slots_.changing(entry) && !is_new) [[unlikely]]
        save(key, entry->value);
    }
    apply(entry->value, is_new, i);
  }

  HashSlots<Entry> slots_;
  ZeroEntry zero_;
};

}  // namespace hummer
