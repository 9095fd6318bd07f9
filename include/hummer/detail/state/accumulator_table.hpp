// AccumulatorTable<K, A>: accumulators by key, whatever their type.
//
// Trivially copyable accumulators lie in the hash table itself; others (strings,
// vectors) in a deque that the table points into. A new one is A{} in either.
//
// Accumulators own what they hold: one with text views is refused at compile
// time, because the text would be gone with its batch.
//
// Snapshots go in steps while the table changes: see freeze().
//
// Thread: one.
#pragma once

#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <hummer/detail/state/key_table.hpp>
#include <hummer/detail/state/saved_entries.hpp>

namespace hummer {

template <typename K, typename A>
class AccumulatorTable {
  static_assert(!holds_views<A>,
                "an accumulator must own its text: use std::string instead of std::string_view");
  static constexpr bool inside = std::is_trivially_copyable_v<A> && sizeof(A) <= 64;
  using Value = std::conditional_t<inside, A, std::uint64_t>;

 public:
  static constexpr std::size_t scan_end = KeyTable<K, Value>::scan_end;

  std::size_t size() const { return table_.size(); }
  bool empty() const { return table_.empty(); }
  std::size_t memory_bytes() const { return table_.memory_bytes() + outside_.size() * sizeof(A); }
  bool at_limit(std::size_t limit_bytes) const {
    return table_.at_limit(limit_bytes) || outside_.size() * sizeof(A) > limit_bytes;
  }
  bool has_room_for(std::size_t more) const { return table_.has_room_for(more); }
  void make_room_for(std::size_t more) { table_.make_room_for(more); }
  void set_dense(bool dense) { table_.set_dense(dense); }  // see HashSlots
  void clear() {
    table_.clear();
    outside_.clear();
    saved_.clear();
  }

  template <typename KeyOf, typename Apply>
  void update(std::size_t count, KeyOf&& key_of, Apply&& apply) {
    table_.update(count, key_of, reaching(apply), saving());
  }
  // The same where the keys lie in memory as views.
  template <typename Apply>
    requires KeyTable<K, Value>::by_text
  void update_views(std::span<const std::string_view> keys, Apply&& apply) {
    table_.update_views(keys, reaching(apply), saving());
  }

  // The same for one key: its accumulator, A{} in a new entry, and whether it is new. Valid until
  // the next update.
  std::pair<A*, bool> find_or_add(const K& key) {
    const auto [value, is_new] = table_.find_or_add(key, saving());
    return {&reached(*value, is_new), is_new};
  }

  // The accumulator of a key, or null. Valid until the next update.
  const A* find(const K& key) const {
    const Value* const value = table_.find(key);
    if (value == nullptr) return nullptr;
    if constexpr (inside) {
      return value;
    } else {
      return &outside_[*value];
    }
  }

  template <typename Visit>
  std::size_t scan(std::size_t cursor, Visit&& visit) const {
    return table_.scan(cursor, [&](const K& key, const Value& value) {
      if constexpr (inside) {
        return visit(key, value);
      } else {
        return visit(key, outside_[value]);
      }
    });
  }

  // Drops the entries for which keep(key, accumulator) is false. Linear; holds both tables
  // meanwhile.
  template <typename Keep>
  void retain(Keep&& keep) {
    AccumulatorTable kept;
    scan(0, [&](const K& key, const A& accumulator) {
      if (keep(key, accumulator)) *kept.find_or_add(key).first = accumulator;
      return true;
    });
    *this = std::move(kept);
  }

  // ---- snapshot ----

  // Fixes what the snapshot that write_frozen() then writes is made of: every entry, or with
  // `may_be_delta` those that changed since the last freeze; answers whether only those. Cheap; the
  // table may change at once. clear() forgets a snapshot under way.
  bool freeze(bool may_be_delta) {
    saved_.clear();
    return table_.freeze(may_be_delta);
  }
  // There is something left to write.
  bool frozen() const { return table_.frozen() || !saved_.empty(); }
  // Writes entries, until `out` holds about so many bytes; true: that was all. What restore()
  // reads is the bytes of all calls and end_of_entries behind them.
  bool write_frozen(ByteWriter& out, std::size_t until_bytes) {
    while (!saved_.empty()) {
      if (out.size() >= until_bytes) return false;
      saved_.write_chunk(out);
    }
    return table_.scan_frozen([&](const K& key, const Value& value) {
      encode(key, value, out);
      return out.size() < until_bytes;
    });
  }
  static constexpr std::uint8_t end_of_entries = 0;
  static constexpr std::uint8_t entry_follows = 1;  // key and accumulator

  enum class Restored : std::uint8_t { all, some, not_valid };
  // put(A&, is_new, const A&) for what a snapshot holds of the keys for which owns(key). `some`:
  // call again, when there is room.
  template <typename Owns, typename Put>
  [[nodiscard]] Restored restore(ByteReader& in, Owns&& owns, Put&& put) {
    constexpr int entries_per_call = 4096;
    for (int entries = 0; entries < entries_per_call; ++entries) {
      in.let_go();
      std::uint8_t mark = 0;
      if (!in.get_value(mark) || mark > entry_follows) return Restored::not_valid;
      if (mark == end_of_entries) return Restored::all;
      K key{};
      A other{};
      if (!Codec<K>::decode(in, key) || !Codec<A>::decode(in, other)) return Restored::not_valid;
      if (!owns(key)) continue;
      const auto [accumulator, is_new] = find_or_add(key);
      put(*accumulator, is_new, other);
    }
    return Restored::some;
  }

 private:
  void encode(const K& key, const Value& value, ByteWriter& out) const {
    if constexpr (std::is_integral_v<K> && std::is_integral_v<A>) {  // the codec's bytes, at one go
      char bytes[1 + sizeof(K) + sizeof(A)];
      bytes[0] = entry_follows;
      std::memcpy(bytes + 1, &key, sizeof(K));
      std::memcpy(bytes + 1 + sizeof(K), &value, sizeof(A));
      out.put(bytes, sizeof bytes);
    } else {
      out.put_value(entry_follows);
      Codec<K>::encode(key, out);
      if constexpr (inside) {
        Codec<A>::encode(value, out);
      } else {
        Codec<A>::encode(outside_[value], out);
      }
    }
  }
  auto saving() {
    if constexpr (detail::HasCodec<A>) {
      return [this](const K& key, const Value& value) {
        saved_.add([&](ByteWriter& out) { encode(key, value, out); });
      };
    } else {
      return SaveNothing{};  // nobody can take a snapshot
    }
  }
  // `apply`, as called by the table with its value.
  template <typename Apply>
  auto reaching(Apply& apply) {
    return [this, &apply](Value& value, bool is_new, std::size_t i) {
      apply(reached(value, is_new), is_new, i);
    };
  }
  // The accumulator behind what the table holds for it.
  A& reached(Value& value, bool is_new) {
    if constexpr (inside) {
      // The table gave zero bytes, which is what the others begin as.
      if constexpr (!std::is_trivially_default_constructible_v<A>) {
        if (is_new) std::construct_at(&value);
      }
      return value;
    } else {
      if (is_new) {
        value = outside_.size();
        outside_.emplace_back();
      }
      return outside_[value];
    }
  }

  KeyTable<K, Value> table_;
  std::deque<A> outside_;
  SavedEntries saved_;
};

}  // namespace hummer
