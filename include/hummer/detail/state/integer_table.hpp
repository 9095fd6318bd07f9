// IntegerTable<V>: a hash table from 64-bit integers to a small fixed-size value.
//
// Flat entries, open addressing, updates in batches with prefetch: see
// text_table.hpp, whose interface this one shares. The index is a multiply-fold
// of the key, local to the table.
//
// Thread: one. Cost: O(1) per update, also while a large table grows (hash_slots.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include <hummer/detail/state/hash_table.hpp>

namespace hummer {

template <typename V, typename Base = HashTable>
class IntegerTable : public Base {
 public:
  explicit IntegerTable(std::size_t expected_keys = 0)
      : Base(HashTable::Keys::integers, sizeof(V), alignof(V), expected_keys,
             best_instruction_set()) {}

  template <typename KeyOf, typename Apply>
  void update(std::size_t count, KeyOf&& key_of, Apply&& apply, const SaveReference& save = {}) {
    const Tracking tracking = slots().tracking(count);
    if (tracking == Tracking::none) {
      update_all<false>(count, key_of, apply, save, tracking);
    } else {
      update_all<true>(count, key_of, apply, save, tracking);
    }
  }

  // For one key, without prefetch: see HashTable.
  std::pair<V*, bool> find_or_add(std::uint64_t key, const SaveReference& save = {}) {
    const auto [value, is_new] = HashTable::find_or_add(bytes_of(key), save);
    return {static_cast<V*>(value), is_new};
  }
  const V* find(std::uint64_t key) const {
    return static_cast<const V*>(HashTable::find(bytes_of(key)));
  }

  // visit(std::uint64_t key, const V&) answers whether to go on: see HashTable::visit_from.
  template <typename Visit>
  std::size_t scan(std::size_t cursor, Visit&& visit) const {
    return this->visit_from(cursor, [&](const FoundEntry& found) {
      std::uint64_t key;
      std::memcpy(&key, found.key.data(), sizeof key);
      return visit(key, *static_cast<const V*>(found.value));
    });
  }

 private:
  using Entry = SlotEntry<IntegerKey, V>;
  static_assert(SlotLayout::of<IntegerKey>(sizeof(V), alignof(V)).entry_bytes == sizeof(Entry));
  static constexpr std::size_t group_size = 64;

  static std::string_view bytes_of(const std::uint64_t& key) {
    return {reinterpret_cast<const char*>(&key), sizeof key};
  }
  HashSlots& slots() { return this->shorts(); }

  // Not inlined: copies of the loop in a caller leave none of them the registers it needs.
  template <bool tracked, typename KeyOf, typename Apply>
  __attribute__((noinline)) void update_all(std::size_t count, KeyOf& key_of, Apply& apply,
                                            const SaveReference& save, Tracking tracking) {
    std::uint64_t keys[group_size];
    Entry* homes[group_size];
    for (std::size_t from = 0; from < count; from += group_size) {
      const std::size_t length = std::min(count - from, group_size);
      slots().reserve_for(length);
      for (std::size_t i = 0; i < length; ++i) {
        keys[i] = static_cast<std::uint64_t>(key_of(from + i));
        const std::uint64_t hash = IntegerKey::hash_of(keys[i]);
        homes[i] = slots().template settled_home<Entry>(hash);
        __builtin_prefetch(homes[i]);
        if constexpr (tracked) {
          if (tracking == Tracking::changes) slots().mark_home(hash);
        }
      }
      if (slots().growing()) [[unlikely]]
        find_homes(keys, length, homes);
      for (std::size_t i = 0; i < length; ++i) {
        update_one<tracked>(keys[i], homes[i], from + i, apply, save, tracking);
      }
    }
  }

  void find_homes(const std::uint64_t* keys, std::size_t count, Entry** homes) {
    auto* const entries = const_cast<Entry*>(static_cast<const Entry*>(slots().entries()));
    for (std::size_t i = 0; i < count; ++i) {
      homes[i] = entries + slots().home_slot(IntegerKey::hash_of(keys[i]));
      __builtin_prefetch(homes[i]);
    }
  }

  template <bool tracked, typename Apply>
  void update_one(std::uint64_t key, Entry* home, std::size_t i, Apply& apply,
                  const SaveReference& save, Tracking tracking) {
    if (key == 0) [[unlikely]] {
      const auto [value, is_new] = this->find_or_add_zero(save);
      apply(*static_cast<V*>(value), is_new, i);
      return;
    }
    const auto [entry, is_new] = slots().find_or_add(
        home, [&](const IntegerKey& other) { return other.key == key; },
        [&](IntegerKey& added) { added.key = key; });
    if constexpr (tracked) {
      if (tracking == Tracking::changes) {
        if (entry != home) slots().mark(entry);
      } else {
        HashTable::save_before(slots(), entry, is_new, save);
      }
    }
    apply(entry->value, is_new, i);
  }
};

}  // namespace hummer
