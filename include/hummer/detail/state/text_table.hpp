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
// Views given to it need no slack behind them. A key is shorter than 4 GiB.
//
// Thread: one. Cost: O(1) per update; growth doubles at half load. Memory: entries of
// 8, 16, 32 or 16 bytes + V, at a load between a quarter and a half, and long keys.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <hummer/detail/key_hash.hpp>
#include <hummer/detail/state/hash_slots.hpp>
#include <hummer/detail/state/text_keys.hpp>
#include <hummer/status.hpp>

namespace hummer {

template <typename V>
class TextTable {
  static_assert(std::is_trivially_copyable_v<V>, "values are moved as bytes when the table grows");

 public:
  // `level`: which code finds the keys; the answers are the same.
  explicit TextTable(std::size_t expected_keys = 0, InstructionSet level = best_instruction_set())
      : find_keys_(text_keys_function(level)),
        shorts_(expected_keys),
        mediums_(expected_keys / 8),
        wides_(expected_keys / 64),
        longs_(expected_keys / 64) {}

  std::size_t size() const {
    return shorts_.size() + mediums_.size() + wides_.size() + longs_.size();
  }
  bool empty() const { return size() == 0; }
  std::size_t memory_bytes() const {
    return shorts_.memory_bytes() + mediums_.memory_bytes() + wides_.memory_bytes() +
           longs_.memory_bytes() + arena_bytes_;
  }

  // Whether a batch more might take it beyond `limit_bytes`: time to empty it. Counts what its
  // entries need, not what memory it has kept from before a clear().
  bool at_limit(std::size_t limit_bytes) const {
    return shorts_.needed_bytes(growth_margin) + mediums_.needed_bytes(growth_margin) +
               wides_.needed_bytes(growth_margin) + longs_.needed_bytes(growth_margin) +
               arena_bytes_ >
           limit_bytes;
  }

  // Whether `more` new keys fit without growth: then a scan may go on meanwhile.
  bool has_room_for(std::size_t more) const {
    return shorts_.has_room_for(more) && mediums_.has_room_for(more) && wides_.has_room_for(more) &&
           longs_.has_room_for(more);
  }

  // See HashSlots.
  void set_dense(bool dense) {
    shorts_.set_dense(dense);
    mediums_.set_dense(dense);
    wides_.set_dense(dense);
    longs_.set_dense(dense);
  }

  void make_room_for(std::size_t more) {
    shorts_.reserve_for(more);
    mediums_.reserve_for(more);
    wides_.reserve_for(more);
    longs_.reserve_for(more);
  }

  // For i in [0, count): finds or makes the entry of key_of(i) (a std::string_view) and calls
  // apply(V&, bool is_new, i); the value of a new entry is zero bytes. Equal keys come in order
  // of i; different ones in any order. Before it changes an entry that the snapshot under way has
  // yet to write it calls save(key, const V&); see freeze().
  template <typename KeyOf, typename Apply, typename Save = SaveNothing>
  void update(std::size_t count, KeyOf&& key_of, Apply&& apply, Save&& save = {}) {
    const Saver saver(save);
    std::string_view views[TextKeys::capacity];
    for (std::size_t from = 0; from < count; from += TextKeys::capacity) {
      const std::size_t length = std::min(count - from, TextKeys::capacity);
      for (std::size_t i = 0; i < length; ++i) views[i] = key_of(from + i);
      update_group(views, length, from, apply, saver);
    }
  }
  // The same where the keys lie in memory as views.
  template <typename Apply, typename Save = SaveNothing>
  void update_views(std::span<const std::string_view> keys, Apply&& apply, Save&& save = {}) {
    const Saver saver(save);
    for (std::size_t from = 0; from < keys.size(); from += TextKeys::capacity) {
      update_group(keys.data() + from, std::min(keys.size() - from, TextKeys::capacity), from,
                   apply, saver);
    }
  }
  // The same for one key: its value, zero bytes in a new entry, and whether it is new. Valid until
  // the next update. For what is done to single entries: nothing overlaps here.
  template <typename Save = SaveNothing>
  std::pair<V*, bool> find_or_add(std::string_view key, Save&& save = {}) {
    return find_or_add_one(key, Saver(save));
  }

  // The value of a key, or null. Valid until the next update. For single look-ups: no batch, no
  // prefetch.
  const V* find(std::string_view key) const {
    if (empty()) return nullptr;
    TextKeys keys;
    find_keys_(&key, 1, plan(), keys);
    const auto value_of = [](const auto* entry) { return entry ? &entry->value : nullptr; };
    if (keys.short_count > 0) {
      const std::uint64_t wanted = keys.short_keys[0];
      return value_of(shorts_.find(hash_short_key(wanted),
                                   [&](const ShortEntry& other) { return other.key == wanted; }));
    }
    if (keys.medium_count > 0) {
      const std::uint64_t low = keys.medium_keys[0][0];
      const std::uint64_t high = keys.medium_keys[0][1];
      return value_of(mediums_.find(hash_medium_key(low, high), [&](const MediumEntry& other) {
        return other.low == low && other.high == high;
      }));
    }
    if (keys.wide_count > 0) {
      const std::uint64_t* const wanted = keys.wide_keys[0];
      return value_of(wides_.find(hash_wide_key(wanted), [&](const WideEntry& other) {
        return std::equal(wanted, wanted + 4, other.key);
      }));
    }
    const std::uint64_t hash = hash_bytes(key.data(), key.size()) << 32;
    return value_of(longs_.find(hash, [&](const LongEntry& other) {
      return other.hash() == hash && !other.is_free() && other.view() == key;
    }));
  }

  // Visits entries from `cursor` (0 at first) on: visit(std::string_view key, const V&) answers
  // whether to go on. Returns the next cursor, or `scan_end`. The table must not change meanwhile;
  // views are valid until then.
  static constexpr std::size_t scan_end = static_cast<std::size_t>(-1);
  template <typename Visit>
  std::size_t scan(std::size_t cursor, Visit&& visit) const {
    Found found[entries_at_once];
    while (cursor != scan_end) {
      const std::size_t count = read_some(cursor, found);
      for (std::size_t i = 0; i < count; ++i) {
        if (!visit(found[i].key, *found[i].value)) return found[i].next;
      }
    }
    return scan_end;
  }

  // A snapshot in steps. freeze() fixes what belongs to it: all entries, or with `may_be_delta`
  // those that changed since the last freeze, and answers whether only those. Then scan_frozen()
  // visits them as they were, as scan() does, while the table goes on; what changes before goes to
  // the `save` of the update. True: there are no more. clear() forgets a snapshot under way.
  bool freeze(bool may_be_delta) {
    const bool shorts = shorts_.freeze(may_be_delta);
    const bool mediums = mediums_.freeze(may_be_delta);
    const bool wides = wides_.freeze(may_be_delta);
    const bool longs = longs_.freeze(may_be_delta);
    HUMMER_ASSERT(shorts == mediums && shorts == wides && shorts == longs);
    return shorts;
  }
  bool frozen() const {
    return shorts_.frozen() || mediums_.frozen() || wides_.frozen() || longs_.frozen();
  }
  template <typename Visit>
  bool scan_frozen(Visit&& visit) {
    Found found[entries_at_once];
    for (;;) {
      std::size_t count = 0;
      const FrozenRead read = read_some_frozen(found, count);
      bool goes_on = true;
      for (std::size_t i = 0; i < count; ++i) goes_on &= visit(found[i].key, *found[i].value);
      if (!goes_on || read != FrozenRead::some) return goes_on && read == FrozenRead::all;
    }
  }

  // Empties it and keeps the memory of the entries.
  void clear() {
    shorts_.clear();
    mediums_.clear();
    wides_.clear();
    longs_.clear();
    arena_.clear();
    arena_next_ = nullptr;
    arena_left_ = 0;
    arena_bytes_ = 0;
  }

  // See HashSlots.
  std::size_t longest_probe() const {
    return std::max({shorts_.longest_probe(), mediums_.longest_probe(), wides_.longest_probe(),
                     longs_.longest_probe()});
  }

 private:
  static constexpr std::size_t growth_margin = 4096;
  static constexpr std::size_t arena_chunk_bytes = 64 * 1024;

  struct ShortEntry {
    std::uint64_t key;
    V value;
    bool is_free() const { return key == 0; }
    std::uint64_t hash() const { return hash_short_key(key); }
    std::string_view view() const {
      return {reinterpret_cast<const char*>(&key),
              8 - static_cast<std::size_t>(__builtin_clzll(key)) / 8};
    }
  };
  // Packed: a third less memory weighs more than an entry across two cache lines now and then.
  static constexpr std::size_t medium_alignment = alignof(std::uint64_t);
  struct alignas(std::max(medium_alignment, alignof(V))) MediumEntry {
    std::uint64_t low;
    std::uint64_t high;
    V value;
    bool is_free() const { return high == 0; }
    std::uint64_t hash() const { return hash_medium_key(low, high); }
    std::string_view view() const {
      return {reinterpret_cast<const char*>(&low),
              16 - static_cast<std::size_t>(__builtin_clzll(high)) / 8};
    }
  };
  // One to a cache line, where it fits.
  static constexpr std::size_t wide_alignment = sizeof(V) <= 32 ? 64 : alignof(std::uint64_t);
  struct alignas(std::max(wide_alignment, alignof(V))) WideEntry {
    std::uint64_t key[4];
    V value;
    bool is_free() const { return (key[2] | key[3]) == 0; }  // the last byte is in one of them
    std::uint64_t hash() const { return hash_wide_key(key); }
    std::string_view view() const {
      const std::size_t last = key[3] != 0 ? 3 : 2;
      return {reinterpret_cast<const char*>(key),
              8 * last + 8 - static_cast<std::size_t>(__builtin_clzll(key[last])) / 8};
    }
  };
  struct LongEntry {
    const char* text;
    std::uint32_t length;
    std::uint32_t hash_bits;
    V value;
    bool is_free() const { return text == nullptr; }
    std::uint64_t hash() const { return std::uint64_t{hash_bits} << 32; }
    std::string_view view() const { return {text, length}; }
  };

  using Saver = SaveReference<std::string_view, V>;

  // Scans take entries into an array first, so that what visits them is compiled once and not for
  // each of the four kinds of entry.
  static constexpr std::size_t entries_at_once = 64;
  struct Found {
    std::string_view key;
    const V* value;
    std::size_t next;  // the cursor behind it
  };

  // Fills `found` from `cursor` on, which moves behind what was looked at; how many there are.
  __attribute__((noinline)) std::size_t read_some(std::size_t& cursor, Found* found) const {
    std::size_t count = 0;
    std::size_t before = 0;
    const auto read_slots = [&](const auto& slots) {
      if (cursor < before + slots.capacity()) {
        std::size_t place = cursor - before;
        const bool finished = slots.scan(place, [&](const auto& entry, std::size_t next) {
          found[count++] = {entry.view(), &entry.value, before + next};
          return count < entries_at_once;
        });
        cursor = before + place;
        if (!finished) return false;
      }
      before += slots.capacity();
      return true;
    };
    if (read_slots(shorts_) && read_slots(mediums_) && read_slots(wides_) && read_slots(longs_)) {
      cursor = scan_end;
    }
    return count;
  }
  enum class FrozenRead : std::uint8_t { some, paused, all };  // paused: many slots were looked at
  __attribute__((noinline)) FrozenRead read_some_frozen(Found* found, std::size_t& count) {
    const auto room_for_page = [&](const auto& slots) {
      return count + slots.page_slots <= entries_at_once;
    };
    const auto read_slots = [&](auto& slots) {
      if (!slots.frozen()) return true;
      return room_for_page(slots) && slots.scan_frozen([&](const auto& entry) {
        found[count++] = {entry.view(), &entry.value, 0};
        return room_for_page(slots);
      });
    };
    if (read_slots(shorts_) && read_slots(mediums_) && read_slots(wides_) && read_slots(longs_)) {
      return FrozenRead::all;
    }
    return room_for_page(shorts_) ? FrozenRead::paused : FrozenRead::some;
  }

  template <typename Entry>
  static SlotsPlan plan_of(const HashSlots<Entry>& slots) {
    return {slots.entries(), slots.shift(), sizeof(Entry)};
  }
  TextSlotsPlan plan() const { return {plan_of(shorts_), plan_of(mediums_), plan_of(wides_)}; }

  // The entry is about to change.
  template <typename Entry>
  static void changing(HashSlots<Entry>& slots, Tracking tracking, const Entry* entry, bool is_new,
                       const Saver& save) {
    if (tracking == Tracking::changes) {
      slots.mark(entry);
    } else if (tracking == Tracking::snapshot && slots.changing(entry) && !is_new) [[unlikely]] {
      save(entry->view(), entry->value);
    }
  }

  __attribute__((noinline)) std::pair<V*, bool> find_or_add_one(std::string_view key,
                                                                const Saver& save) {
    std::pair<V*, bool> found;
    const auto keep = [&](V& value, bool is_new, std::size_t) { found = {&value, is_new}; };
    update_group(&key, 1, 0, keep, save);
    return found;
  }

  template <typename Apply>
  void update_group(const std::string_view* views, std::size_t count, std::size_t from,
                    Apply& apply, const Saver& save) {
    TextKeys keys;  // filled by what comes next; 20 KiB
    find_keys_(views, count, plan(), keys);
    if (!shorts_.has_room_for(keys.short_count) || !mediums_.has_room_for(keys.medium_count) ||
        !wides_.has_room_for(keys.wide_count)) [[unlikely]] {
      shorts_.reserve_for(keys.short_count);
      mediums_.reserve_for(keys.medium_count);
      wides_.reserve_for(keys.wide_count);
      find_keys_(views, count, plan(), keys);  // entries have moved
    }
    const Tracking of_shorts = shorts_.tracking(keys.short_count);
    for (std::size_t i = 0; i < keys.short_count; ++i) {
      const std::uint64_t key = keys.short_keys[i];
      const auto [entry, is_new] = shorts_.find_or_add(
          TextKeys::entry_of<ShortEntry>(keys.short_places[i]),
          [&](const ShortEntry& other) { return other.key == key; },
          [&](ShortEntry& added) { added.key = key; });
      changing(shorts_, of_shorts, entry, is_new, save);
      apply(entry->value, is_new, from + TextKeys::index_of(keys.short_places[i]));
    }
    const Tracking of_mediums = mediums_.tracking(keys.medium_count);
    for (std::size_t i = 0; i < keys.medium_count; ++i) {
      const std::uint64_t low = keys.medium_keys[i][0];
      const std::uint64_t high = keys.medium_keys[i][1];
      const auto [entry, is_new] = mediums_.find_or_add(
          TextKeys::entry_of<MediumEntry>(keys.medium_places[i]),
          [&](const MediumEntry& other) { return ((other.low ^ low) | (other.high ^ high)) == 0; },
          [&](MediumEntry& added) {
            added.low = low;
            added.high = high;
          });
      changing(mediums_, of_mediums, entry, is_new, save);
      apply(entry->value, is_new, from + TextKeys::index_of(keys.medium_places[i]));
    }
    // Keys beyond 16 bytes are few, or cost cache misses: a call for each is little then, and the
    // code is there once and not in each of the loops that are made for their `apply`.
    if (keys.wide_count > 0) {
      const Tracking tracking = wides_.tracking(keys.wide_count);
      for (std::size_t i = 0; i < keys.wide_count; ++i) {
        const auto [value, is_new] = find_or_add_wide(keys, i, tracking, save);
        apply(*value, is_new, from + TextKeys::index_of(keys.wide_places[i]));
      }
    }
    if (keys.long_count > 0) {
      std::uint64_t hashes[TextKeys::capacity];
      prepare_longs(views, keys, hashes);
      const Tracking tracking = longs_.tracking(keys.long_count);
      for (std::size_t i = 0; i < keys.long_count; ++i) {
        const std::uint32_t index = keys.long_indexes[i];
        const auto [value, is_new] = find_or_add_long(views[index], hashes[i], tracking, save);
        apply(*value, is_new, from + index);
      }
    }
  }

  __attribute__((noinline)) std::pair<V*, bool> find_or_add_wide(const TextKeys& keys,
                                                                 std::size_t i, Tracking tracking,
                                                                 const Saver& save) {
    const std::uint64_t* const key = keys.wide_keys[i];
    const auto [entry, is_new] = wides_.find_or_add(
        TextKeys::entry_of<WideEntry>(keys.wide_places[i]),
        [&](const WideEntry& other) {
          return ((other.key[0] ^ key[0]) | (other.key[1] ^ key[1]) | (other.key[2] ^ key[2]) |
                  (other.key[3] ^ key[3])) == 0;
        },
        [&](WideEntry& added) { std::copy_n(key, 4, added.key); });
    changing(wides_, tracking, entry, is_new, save);
    return {&entry->value, is_new};
  }

  // Room for all, their hashes, and what of the table they need on its way to the caches.
  __attribute__((noinline)) void prepare_longs(const std::string_view* views, const TextKeys& keys,
                                               std::uint64_t* hashes) {
    longs_.reserve_for(keys.long_count);
    for (std::size_t i = 0; i < keys.long_count; ++i) {
      const std::string_view view = views[keys.long_indexes[i]];
      HUMMER_ASSERT(view.size() < UINT32_MAX);
      // The lower half: records were routed by the upper one.
      hashes[i] = hash_bytes(view.data(), view.size()) << 32;
      __builtin_prefetch(longs_.home(hashes[i]));
    }
    for (std::size_t i = 0; i < keys.long_count; ++i) {
      __builtin_prefetch(longs_.home(hashes[i])->text);
    }
  }
  __attribute__((noinline)) std::pair<V*, bool> find_or_add_long(std::string_view view,
                                                                 std::uint64_t hash,
                                                                 Tracking tracking,
                                                                 const Saver& save) {
    const auto [entry, is_new] = longs_.find_or_add(
        longs_.home(hash),
        [&](const LongEntry& other) {
          return other.hash() == hash && !other.is_free() && other.view() == view;
        },
        [&](LongEntry& added) {
          added.text = keep_text(view);
          added.length = static_cast<std::uint32_t>(view.size());
          added.hash_bits = static_cast<std::uint32_t>(hash >> 32);
        });
    changing(longs_, tracking, entry, is_new, save);
    return {&entry->value, is_new};
  }

  const char* keep_text(std::string_view text) {
    if (text.size() > arena_left_ || arena_next_ == nullptr) {
      arena_left_ = std::max(text.size(), arena_chunk_bytes);
      arena_.push_back(std::make_unique_for_overwrite<char[]>(arena_left_));
      arena_bytes_ += arena_left_;
      arena_next_ = arena_.back().get();
    }
    char* const at = arena_next_;
    std::copy_n(text.data(), text.size(), at);
    arena_next_ += text.size();
    arena_left_ -= text.size();
    return at;
  }

  FindTextKeys find_keys_;
  HashSlots<ShortEntry> shorts_;
  HashSlots<MediumEntry> mediums_;
  HashSlots<WideEntry> wides_;
  HashSlots<LongEntry> longs_;
  std::vector<std::unique_ptr<char[]>> arena_;
  char* arena_next_ = nullptr;
  std::size_t arena_left_ = 0;
  std::size_t arena_bytes_ = 0;
};

}  // namespace hummer
