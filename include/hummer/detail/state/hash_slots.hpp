// HashSlots: the flat memory of a hash table with open addressing.
//
// An entry is a key and a value of some fixed size behind it. Its home is given by the upper bits
// of its hash; collisions go to the next free slot. At most three quarters of the slots are used,
// and the table doubles (fourfold while it is small): entries lie in the order of their hashes, so
// that growth reads and writes memory in order, and needs none beside the table's.
//
// A large table grows in steps, so that no update waits for all of its entries: those at the upper
// end go first, a few with each reserve_for. Until all have moved, hashes whose old home is below a
// mark (unmoved_) lie as before, and the others as in the grown table, twice as far back: home()
// looks at the mark. (So does Litwin's linear hashing, 1980, which splits one bucket at a time.)
// Scans find all entries meanwhile; a snapshot first lets all of them move.
//
// What is done for each record is a template over the entry; everything else (growth, scans,
// snapshots) goes by the key's kind and the entry's size, and is compiled once, in
// src/state/hash_slots.cpp.
//
// Lifecycle: no memory before the first reserve_for. Growth moves entries; clear()
// keeps the memory. Thread: one.
//
// Snapshots: freeze() fixes what is in it, read_frozen() hands it out in steps while the table goes
// on changing; whoever changes an entry asks changing() first (see change_marks.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <hummer/detail/state/change_marks.hpp>
#include <hummer/detail/state/text_keys.hpp>
#include <hummer/detail/zeroed_pages.hpp>

namespace hummer {

// What an entry begins with. It is free when that is zero bytes; of the hash the upper 32 bits
// count.
enum class KeyKind : std::uint8_t { integer, short_text, medium_text, wide_text, long_text };

struct IntegerKey {
  static constexpr KeyKind kind = KeyKind::integer;
  std::uint64_t key;
  bool is_free() const { return key == 0; }
  static std::uint64_t hash_of(std::uint64_t key) { return key * 0x9E3779B97F4A7C15u; }
  std::uint64_t hash() const { return hash_of(key); }
  std::string_view view() const { return {reinterpret_cast<const char*>(&key), sizeof key}; }
};
struct ShortKey {
  static constexpr KeyKind kind = KeyKind::short_text;
  std::uint64_t key;
  bool is_free() const { return key == 0; }
  std::uint64_t hash() const { return hash_short_key(key); }
  std::string_view view() const {
    return {reinterpret_cast<const char*>(&key),
            8 - static_cast<std::size_t>(__builtin_clzll(key)) / 8};
  }
};
struct MediumKey {
  static constexpr KeyKind kind = KeyKind::medium_text;
  std::uint64_t low;
  std::uint64_t high;
  bool is_free() const { return high == 0; }
  std::uint64_t hash() const { return hash_medium_key(low, high); }
  std::string_view view() const {
    return {reinterpret_cast<const char*>(&low),
            16 - static_cast<std::size_t>(__builtin_clzll(high)) / 8};
  }
};
struct WideKey {
  static constexpr KeyKind kind = KeyKind::wide_text;
  std::uint64_t key[4];
  bool is_free() const { return (key[2] | key[3]) == 0; }  // the last byte is in one of them
  std::uint64_t hash() const { return hash_wide_key(key); }
  std::string_view view() const {
    const std::size_t last = key[3] != 0 ? 3 : 2;
    return {reinterpret_cast<const char*>(key),
            8 * last + 8 - static_cast<std::size_t>(__builtin_clzll(key[last])) / 8};
  }
};
struct LongKey {
  static constexpr KeyKind kind = KeyKind::long_text;
  const char* text;
  std::uint32_t length;
  std::uint32_t hash_bits;
  bool is_free() const { return text == nullptr; }
  std::uint64_t hash() const { return std::uint64_t{hash_bits} << 32; }
  std::string_view view() const { return {text, length}; }
};

// Where keys of 17 to 32 bytes fit into a cache line with their value, they have one to themselves.
// Other entries are packed: a third less memory weighs more than one across two lines now and then.
template <typename Key>
constexpr std::size_t key_alignment(std::size_t value_bytes) {
  return Key::kind == KeyKind::wide_text && value_bytes <= 32 ? 64 : alignof(Key);
}
template <typename Key, typename V>
struct alignas(std::max(key_alignment<Key>(sizeof(V)), alignof(V))) SlotEntry {
  static_assert(std::is_trivially_copyable_v<V>, "values are moved as bytes when the table grows");
  Key key;
  V value;
};

// The same, known at run time.
struct SlotLayout {
  KeyKind kind;
  std::uint32_t entry_bytes;
  std::uint32_t value_offset;

  template <typename Key>
  static constexpr SlotLayout of(std::size_t value_bytes, std::size_t value_alignment) {
    const auto up_to = [](std::size_t bytes, std::size_t alignment) {
      return (bytes + alignment - 1) / alignment * alignment;
    };
    const std::size_t offset = up_to(sizeof(Key), value_alignment);
    const std::size_t alignment = std::max(key_alignment<Key>(value_bytes), value_alignment);
    return {Key::kind, static_cast<std::uint32_t>(up_to(offset + value_bytes, alignment)),
            static_cast<std::uint32_t>(offset)};
  }
};

// What a scan reads of an entry.
struct FoundEntry {
  std::string_view key;
  const void* value;
  std::size_t next;  // the cursor behind it
};
// Scans take so many entries at once, so that what visits them is compiled once and not for each
// kind of entry.
struct FoundEntries {
  static constexpr std::size_t capacity = 64;
  std::size_t count = 0;
  std::size_t pages_read = 0;  // by read_frozen(), over all calls
  FoundEntry entries[capacity];
};

class HashSlots {
 public:
  HashSlots() = default;
  HashSlots(SlotLayout layout, std::size_t expected_entries);
  // What is moved from is empty, and of the same layout.
  HashSlots(HashSlots&& other) noexcept : layout_(other.layout_) { swap(other); }
  HashSlots& operator=(HashSlots&& other) noexcept {
    layout_ = other.layout_;
    swap(other);
    return *this;
  }

  const SlotLayout& layout() const { return layout_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  std::size_t memory_bytes() const { return capacity_ * layout_.entry_bytes; }
  // The least memory for its entries and `more`; 0 while it has none.
  std::size_t needed_bytes(std::size_t more) const;

  // Room for `more` entries: before find_or_add, which does not grow. Growth moves entries, also
  // those that are there; while it is under way there is no room without that.
  bool has_room_for(std::size_t more) const { return !growing() && fits(more); }
  void reserve_for(std::size_t more) {
    if (!has_room_for(more)) [[unlikely]]
      make_room_for(more);
  }
  // Whether `more` entries fit into the slots that there are, or those that it is growing to.
  bool fits(std::size_t more) const { return (size_ + more) * 8 <= capacity_ * (dense_ ? 7 : 6); }
  // A growth is under way.
  bool growing() const { return unmoved_ > 0; }
  // REQUIRES: growing(). What so many updates owe to it; entries move.
  void grow_on(std::size_t updates);
  // It is changed no more: entries stay where they are, also where a growth is under way.
  void rest() { resting_ = true; }

  // Lets seven eighths of the slots be used: slower, and good for the end of a table's life, when
  // growth would be for a few entries more.
  void set_dense(bool dense) { dense_ = dense; }

  // Where the probe for a hash begins.
  std::size_t home_slot(std::uint64_t hash) const {
    const std::size_t home = hash >> shift_;
    return home < 2 * unmoved_ ? home / 2 : home;
  }
  // The same, unless growing(): whoever asks for many looks at that once.
  template <typename Entry>
  Entry* settled_home(std::uint64_t hash) const {
    return static_cast<Entry*>(entries_) + (hash >> shift_);
  }
  std::uint64_t shift() const { return shift_; }
  const void* entries() const { return entries_; }

  // From a home on: the entry for which same(key) holds, or a free one, after fill(key) has given
  // it a key; and whether it is new. Keys are compared before asking whether they are free: most
  // are found at once, so same() must not hold for a free one.
  template <typename Entry, typename Same, typename Fill>
  std::pair<Entry*, bool> find_or_add(Entry* entry, Same&& same, Fill&& fill) {
    for (;;) {
      if (same(entry->key)) [[likely]]
        return {entry, false};
      if (entry->key.is_free()) {
        fill(entry->key);
        ++size_;
        return {entry, true};
      }
      if (++entry == static_cast<Entry*>(entries_) + capacity_) {
        entry = static_cast<Entry*>(entries_);
      }
    }
  }

  // Where the entry for which same(key) holds, or a free one, is. REQUIRES: capacity() > 0.
  template <typename Key, typename Same>
  void* probe(std::uint64_t hash, Same&& same) const {
    char* const entries = static_cast<char*>(entries_);
    for (std::size_t at = home_slot(hash);; at = (at + 1) & (capacity_ - 1)) {
      char* const entry = entries + at * layout_.entry_bytes;
      const Key& key = *reinterpret_cast<const Key*>(entry);
      if (key.is_free() || same(key)) return entry;
    }
  }
  void count_new() { ++size_; }
  void* value_of(void* entry) const { return static_cast<char*>(entry) + layout_.value_offset; }

  // Reads entries from `cursor` on, which runs from 0 to capacity() and moves behind them, until
  // there is no room for more; answers whether it has got to the end. Their cursors are counted
  // from `before`. Groups of a few pages come in bit-reversed order: in order of their hashes they
  // would fill another table of this kind from one end, in ever longer runs of used slots (probes
  // quadratic in the number of entries). Larger groups are read faster (neighbours in memory) and
  // fill another table more slowly; at 64 slots both together cost least.
  bool read(std::size_t& cursor, std::size_t before, FoundEntries& found) const;
  // Where a scan finds the entry at this cursor; with its key. REQUIRES: there is one.
  const void* at_cursor(std::size_t cursor) const;
  FoundEntry entry_at(std::size_t cursor) const;

  // ---- snapshots ----

  // What `changes` more, about to come, ask for.
  Tracking tracking(std::size_t changes) {
    const Tracking tracking = marks_.tracking();
    return tracking == Tracking::changes ? tracking_with_look(changes) : tracking;
  }
  // See ChangeMarks::freeze.
  bool freeze(bool may_be_delta);
  bool frozen() const { return marks_.frozen(); }
  // REQUIRES: Tracking::snapshot. The entry is about to change; true: what it holds now, unless it
  // is new, is part of the snapshot under way and has to be saved before.
  bool changing(const void* entry);
  // REQUIRES: Tracking::changes. At the home of what is about to change, known long before its
  // entry is; where that turns out to be elsewhere, there too.
  void mark_home(std::uint64_t hash) { marks_.mark(home_slot(hash)); }
  template <typename Entry>
  void mark(const Entry* entry) {
    marks_.mark(static_cast<std::size_t>(entry - static_cast<const Entry*>(entries_)));
  }
  void mark_at(const void* entry) { marks_.mark(slot_of(entry)); }
  // Reads entries of the snapshot under way that are still as they were, as long as there is room
  // for those of a page. True: there are no more; false also where many slots were looked at
  // since `found` was empty. In read()'s order; the table may change between two calls.
  bool read_frozen(FoundEntries& found);
  static bool has_room_for_page(const FoundEntries& found) {
    return found.count + page_slots <= FoundEntries::capacity;
  }

  void clear() { (void)clear_some(SIZE_MAX); }
  // A part of that, of about so many bytes; false: there is more, and nothing but this may be
  // called next.
  bool clear_some(std::size_t bytes);

  // The most slots that finding an entry looks at, over all entries. Linear; for tests.
  std::size_t longest_probe() const;

 private:
  static constexpr std::size_t page_slots = 16;  // reads look at so many slots at once
  static constexpr std::size_t least_capacity = 64;

  std::size_t capacity_for(std::size_t entries) const;
  void make_room_for(std::size_t more);
  Tracking tracking_with_look(std::size_t changes);
  void look();
  void grow(std::size_t capacity);
  void move_to(std::size_t capacity);
  void begin_growth();
  void move_some(std::size_t slots);
  template <typename Key>
  std::size_t put(const char* entry);
  template <typename Key>
  void put_anew(std::size_t begin, std::size_t end);
  void swap(HashSlots& other) noexcept;

  char* at(std::size_t slot) const {
    return static_cast<char*>(entries_) + slot * layout_.entry_bytes;
  }
  std::size_t slot_of(const void* entry) const {
    return static_cast<std::size_t>(static_cast<const char*>(entry) - at(0)) / layout_.entry_bytes;
  }
  template <typename Key>
  std::uint32_t used_slots(std::size_t start) const;
  template <typename Key>
  bool read_frozen_of(FoundEntries& found);
  void prefetch_page(std::size_t start) const;

  ZeroedPages pages_;
  void* entries_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  std::uint64_t shift_ = 63;
  std::size_t unmoved_ = 0;        // slots whose entries lie as before the growth under way
  std::size_t owed_slots_ = 0;     // that updates should have moved since the last ones moved
  std::size_t cleared_bytes_ = 0;  // of entries, while some are
  std::size_t first_capacity_ = least_capacity;
  SlotLayout layout_{};
  bool dense_ = false;
  bool resting_ = false;
  ChangeMarks marks_;
  std::size_t frozen_cursor_ = 0;
  std::size_t frozen_entries_ = 0;  // of the snapshot under way, so far
  std::size_t changes_to_look_ = 0;
};

}  // namespace hummer
