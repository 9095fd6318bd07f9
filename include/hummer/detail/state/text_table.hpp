// TextTable<V>: a hash table from text to a small fixed-size value, made for
// counting words at memory speed.
//
// Four flat tables by the length of the key: up to 8 bytes are one integer (an entry
// of 8 bytes + V, four counters to a cache line), up to 16 two, up to 32 four, and longer
// ones lie in the table's arena, with address, length and hash in the entry. Keys may hold
// any bytes: see text_keys.hpp for the few short ones that count as long.
//
// Updates come in batches and go in passes: keys and hashes of a group, all its
// prefetches, then the compares, so that cache misses overlap. The first compare is a branch
// on purpose: to pick among a line's entries without one makes the value's address wait for
// the keys, and no later load may pass a store to an address that is not known yet.
//
// Here are the updates; everything else is in hash_table.hpp. Base: HashTable, or what is one.
//
// Views given to it need no slack behind them. A key is shorter than 4 GiB.
//
// Thread: one. Cost: O(1) per update, also while a large table grows (hash_slots.hpp). Memory:
// entries of 8, 16, 32 or 16 bytes + V, at a load of at most three quarters, and long keys.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <hummer/detail/state/hash_table.hpp>

namespace hummer {

template <typename V, typename Base = HashTable>
class TextTable : public Base {
 public:
  // `level`: which code finds the keys; the answers are the same.
  explicit TextTable(std::size_t expected_keys = 0, InstructionSet level = best_instruction_set())
      : Base(HashTable::Keys::text, sizeof(V), alignof(V), expected_keys, level) {}

  // For i in [0, count): finds or makes the entry of key_of(i) (a std::string_view) and calls
  // apply(V&, bool is_new, i); the value of a new entry is zero bytes. Equal keys come in order
  // of i; different ones in any order. `save`: see HashTable::find_or_add.
  template <typename KeyOf, typename Apply>
  void update(std::size_t count, KeyOf&& key_of, Apply&& apply, const SaveReference& save = {}) {
    std::string_view views[TextKeys::capacity];
    for (std::size_t from = 0; from < count; from += TextKeys::capacity) {
      const std::size_t length = std::min(count - from, TextKeys::capacity);
      for (std::size_t i = 0; i < length; ++i) views[i] = key_of(from + i);
      update_group(views, length, from, apply, save);
    }
  }
  // The same where the keys lie in memory as views.
  template <typename Apply>
  void update_views(std::span<const std::string_view> keys, Apply&& apply,
                    const SaveReference& save = {}) {
    for (std::size_t from = 0; from < keys.size(); from += TextKeys::capacity) {
      update_group(keys.data() + from, std::min(keys.size() - from, TextKeys::capacity), from,
                   apply, save);
    }
  }
  // For one key, without prefetch: see HashTable.
  std::pair<V*, bool> find_or_add(std::string_view key, const SaveReference& save = {}) {
    const auto [value, is_new] = HashTable::find_or_add(key, save);
    return {static_cast<V*>(value), is_new};
  }
  const V* find(std::string_view key) const { return static_cast<const V*>(HashTable::find(key)); }

  // visit(std::string_view key, const V&) answers whether to go on: see HashTable::visit_from.
  template <typename Visit>
  std::size_t scan(std::size_t cursor, Visit&& visit) const {
    return this->visit_from(cursor, [&](const FoundEntry& found) {
      return visit(found.key, *static_cast<const V*>(found.value));
    });
  }

 private:
  using ShortEntry = SlotEntry<ShortKey, V>;
  using MediumEntry = SlotEntry<MediumKey, V>;
  template <typename Key>
  static constexpr bool lies_as_the_layout_says =
      SlotLayout::of<Key>(sizeof(V), alignof(V)).entry_bytes == sizeof(SlotEntry<Key, V>);
  static_assert(lies_as_the_layout_says<ShortKey> && lies_as_the_layout_says<MediumKey> &&
                lies_as_the_layout_says<WideKey> && lies_as_the_layout_says<LongKey>);

  // The entry is about to change.
  template <typename Entry>
  static void changing(HashSlots& slots, Tracking tracking, Entry* entry, bool is_new,
                       const SaveReference& save) {
    if (tracking == Tracking::changes) {
      slots.mark(entry);
    } else if (tracking == Tracking::snapshot) [[unlikely]] {
      HashTable::save_before(slots, entry, is_new, save);
    }
  }

  template <typename Apply>
  void update_group(const std::string_view* views, std::size_t count, std::size_t from,
                    Apply& apply, const SaveReference& save) {
    TextKeys keys;  // filled by what comes next; 20 KiB
    this->take_apart(views, count, keys);
    HashSlots& shorts = this->shorts();
    const Tracking of_shorts = shorts.tracking(keys.short_count);
    for (std::size_t i = 0; i < keys.short_count; ++i) {
      const std::uint64_t key = keys.short_keys[i];
      const auto [entry, is_new] = shorts.find_or_add(
          TextKeys::entry_of<ShortEntry>(keys.short_places[i]),
          [&](const ShortKey& other) { return other.key == key; },
          [&](ShortKey& added) { added.key = key; });
      changing(shorts, of_shorts, entry, is_new, save);
      apply(entry->value, is_new, from + TextKeys::index_of(keys.short_places[i]));
    }
    HashSlots& mediums = this->mediums();
    const Tracking of_mediums = mediums.tracking(keys.medium_count);
    for (std::size_t i = 0; i < keys.medium_count; ++i) {
      const std::uint64_t low = keys.medium_keys[i][0];
      const std::uint64_t high = keys.medium_keys[i][1];
      const auto [entry, is_new] = mediums.find_or_add(
          TextKeys::entry_of<MediumEntry>(keys.medium_places[i]),
          [&](const MediumKey& other) { return ((other.low ^ low) | (other.high ^ high)) == 0; },
          [&](MediumKey& added) {
            added.low = low;
            added.high = high;
          });
      changing(mediums, of_mediums, entry, is_new, save);
      apply(entry->value, is_new, from + TextKeys::index_of(keys.medium_places[i]));
    }
    if (keys.wide_count + keys.long_count == 0) return;
    HashTable::RestEntry rest[TextKeys::capacity];
    const std::size_t others = this->find_or_add_rest(views, keys, save, rest);
    for (std::size_t i = 0; i < others; ++i) {
      apply(*static_cast<V*>(rest[i].value), rest[i].is_new, from + rest[i].index);
    }
  }
};

}  // namespace hummer
