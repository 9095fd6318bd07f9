// AccumulatorTable<K, A>: accumulators by key, whatever their type.
//
// Trivially copyable accumulators lie in the hash table itself; others (strings,
// vectors) in a deque that the table points into. A new one is A{} in either.
//
// Accumulators own what they hold: one with text views is refused at compile
// time, because the text would be gone with its batch.
//
// Snapshots go in steps while the table changes: see freeze(). They, limits and what else knows an
// entry only as bytes are in AccumulatorTableBase, which is compiled once.
//
// Thread: one.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <hummer/detail/key_hash.hpp>
#include <hummer/detail/state/hash_numbers.hpp>
#include <hummer/detail/state/key_codec.hpp>
#include <hummer/detail/state/key_table.hpp>
#include <hummer/detail/state/saved_entries.hpp>

namespace hummer {

class ErasedAggregate;

class AccumulatorTableBase : public HashTable {
 public:
  using HashTable::HashTable;
  AccumulatorTableBase(AccumulatorTableBase&& other) noexcept;
  AccumulatorTableBase& operator=(AccumulatorTableBase&& other) noexcept;
  virtual ~AccumulatorTableBase();

  std::size_t memory_bytes() const { return HashTable::memory_bytes() + outside_bytes(); }
  bool at_limit(std::size_t limit_bytes) const {
    return HashTable::at_limit(limit_bytes) || outside_bytes() > limit_bytes;
  }
  void clear() { (void)clear_some(SIZE_MAX); }
  bool clear_some(std::size_t bytes);  // see HashTable

  virtual const KeyCodec& keys() const = 0;
  // Of an entry's value: writes the accumulator.
  virtual void encode(const void* value, ByteWriter& out) const = 0;
  // The accumulator of a key, A{} in a new entry, and whether it is new. Valid until the next
  // update.
  std::pair<void*, bool> find_or_add_accumulator(std::string_view key);

  // ---- snapshot ----

  // Fixes what the snapshot that write_frozen() then writes is made of: every entry, or with
  // `may_be_delta` those that changed since the last freeze; answers whether only those. Cheap; the
  // table may change at once. clear() forgets a snapshot under way.
  bool freeze(bool may_be_delta);
  // There is something left to write.
  bool frozen() const { return HashTable::frozen() || !saved_.empty(); }
  // Adds entries, until the step has about so many bytes; true: that was all. What restore()
  // reads is what comes of them and end_of_entries behind it.
  bool write_frozen(GroupedEntries& entries, ByteWriter& out, std::size_t until_bytes);
  static constexpr std::uint8_t end_of_entries = 0;
  static constexpr std::uint8_t entry_follows = 1;  // key and accumulator

  enum class Restored : std::uint8_t { all, some, not_valid };
  // Takes what a snapshot holds of the keys for which owns(hash): in the place of what there is, or
  // merged with it. `some`: call again, when there is room.
  [[nodiscard]] Restored restore(ByteReader& in, const OwnsKey& owns,
                                 const ErasedAggregate& aggregate, bool replace);

 protected:
  // ---- accumulators that do not lie in the table ----

  virtual std::size_t outside_bytes() const { return 0; }
  // Of about so many bytes; false: there are more.
  virtual bool clear_outside(std::size_t /*bytes*/) { return true; }
  // What entry_follows begins, for all of these: a call for many of them.
  virtual void write_entries(std::span<const FoundEntry> found, GroupedEntries& entries,
                             ByteWriter& out) const;
  void write_entry(std::string_view key, const void* value, ByteWriter& out) const;

  // The accumulator behind what the table holds for it.
  virtual void* reach(void* value, bool is_new) = 0;

  // Keeps entries of the snapshot under way before they change.
  SaveReference saving();

 private:
  SavedEntries saved_;
};

template <typename A>
inline constexpr bool lies_in_the_table = std::is_trivially_copyable_v<A> && sizeof(A) <= 64;

template <typename K, typename A>
class AccumulatorTable final
    : public KeyTable<K, std::conditional_t<lies_in_the_table<A>, A, std::uint64_t>,
                      AccumulatorTableBase> {
  static_assert(!holds_views<A>,
                "an accumulator must own its text: use std::string instead of std::string_view");
  static constexpr bool inside = lies_in_the_table<A>;
  using Value = std::conditional_t<inside, A, std::uint64_t>;
  using Table = KeyTable<K, Value, AccumulatorTableBase>;

 public:
  template <typename KeyOf, typename Apply>
  void update(std::size_t count, KeyOf&& key_of, Apply&& apply) {
    Table::update(count, key_of, reaching(apply), this->saving());
  }
  // The same where the keys lie in memory as views.
  template <typename Apply>
    requires Table::by_text
  void update_views(std::span<const std::string_view> keys, Apply&& apply) {
    Table::update_views(keys, reaching(apply), this->saving());
  }

  // The same for one key: its accumulator, A{} in a new entry, and whether it is new. Valid until
  // the next update.
  std::pair<A*, bool> find_or_add(const K& key) {
    const auto [value, is_new] = Table::find_or_add(key, this->saving());
    return {&reached(*value, is_new), is_new};
  }

  // The accumulator of a key, or null. Valid until the next update.
  const A* find(const K& key) const {
    const Value* const value = Table::find(key);
    return value == nullptr ? nullptr : &accumulator_of(value);
  }
  // Behind what the table holds for it.
  const A& accumulator_of(const void* value) const {
    if constexpr (inside) {
      return *static_cast<const A*>(value);
    } else {
      return outside_.all[*static_cast<const Value*>(value)];
    }
  }

  template <typename Visit>
  std::size_t scan(std::size_t cursor, Visit&& visit) const {
    return this->visit_from(cursor, [&](const FoundEntry& found) {
      return visit(TableKey<K>::of(found.key), accumulator_of(found.value));
    });
  }

  // Drops the entries for which keep(key, accumulator) is false. Answers what it lay in till then,
  // an empty table that has room. Linear; holds both tables.
  template <typename Keep>
  AccumulatorTable retain(Keep&& keep) {
    AccumulatorTable kept;
    scan(0, [&](const K& key, const A& accumulator) {
      if (keep(key, accumulator)) *kept.find_or_add(key).first = accumulator;
      return true;
    });
    std::swap(*this, kept);
    kept.clear();
    return kept;
  }

  const KeyCodec& keys() const override { return key_codec<K>(); }
  void encode(const void* value, ByteWriter& out) const override {
    if constexpr (detail::HasCodec<A>) {
      Codec<A>::encode(accumulator_of(value), out);
    } else {
      (void)value, (void)out;  // nobody can take a snapshot
    }
  }

 private:
  struct Outside {
    std::deque<A> all;
  };
  struct Nothing {};

  // An entry whose key and accumulator are written as they lie there.
  static constexpr bool is_fixed = inside && std::is_integral_v<K> && TableKey<K>::by_integer &&
                                   detail::HasCodec<A> && is_bitwise<A>;

  static void hash_keys(std::span<const FoundEntry> found, std::uint64_t* hashes) {
    K keys[FoundEntries::capacity] = {};
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::memcpy(&keys[i], found[i].key.data(), sizeof(K));
    }
    if constexpr (sizeof(K) == sizeof(std::uint64_t)) {
      static const HashNumbers hash_numbers = hash_numbers_function();
      hash_numbers(reinterpret_cast<const std::uint64_t*>(keys), found.size(), hashes);
    } else {
      for (std::size_t i = 0; i < found.size(); ++i) hashes[i] = key_hash(keys[i]);
    }
  }

  void write_entries(std::span<const FoundEntry> found, GroupedEntries& entries,
                     ByteWriter& out) const override {
    if constexpr (is_fixed) {
      HUMMER_ASSERT(found.size() <= FoundEntries::capacity);
      std::uint64_t hashes[FoundEntries::capacity];
      hash_keys(found, hashes);
      for (std::size_t i = 0; i < found.size(); ++i) {
        char* const entry = entries.add_fixed(hashes[i], 1 + sizeof(K) + sizeof(A), out);
        entry[0] = static_cast<char>(AccumulatorTableBase::entry_follows);
        std::memcpy(entry + 1, found[i].key.data(), sizeof(K));  // the lower bytes
        std::memcpy(entry + 1 + sizeof(K), found[i].value, sizeof(A));
      }
    } else {
      AccumulatorTableBase::write_entries(found, entries, out);
    }
  }
  std::size_t outside_bytes() const override {
    if constexpr (inside)
      return 0;
    else
      return outside_.all.size() * sizeof(A);
  }
  bool clear_outside(std::size_t bytes) override {
    if constexpr (!inside) {
      const std::size_t left = outside_.all.size();
      for (std::size_t i = 0; i < std::min(bytes / sizeof(A) + 1, left); ++i) {
        outside_.all.pop_back();
      }
      return outside_.all.empty();
    } else {
      return true;
    }
  }
  void* reach(void* value, bool is_new) override {
    return &reached(*static_cast<Value*>(value), is_new);
  }
  // `apply`, as called by the table with its value.
  template <typename Apply>
  auto reaching(Apply& apply) {
    return [this, &apply](Value& value, bool is_new, std::size_t i) {
      apply(reached(value, is_new), is_new, i);
    };
  }
  A& reached(Value& value, bool is_new) {
    if constexpr (inside) {
      // The table gave zero bytes, which is what the others begin as.
      if constexpr (!std::is_trivially_default_constructible_v<A>) {
        if (is_new) std::construct_at(&value);
      }
      return value;
    } else {
      if (is_new) {
        value = outside_.all.size();
        outside_.all.emplace_back();
      }
      return outside_.all[value];
    }
  }

  [[no_unique_address]] std::conditional_t<inside, Nothing, Outside> outside_;
};

}  // namespace hummer
