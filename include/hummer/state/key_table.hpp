// KeyTable<K, V>: the table that suits the key.
//
//   text                      TextTable
//   integers up to 64 bits    IntegerTable
//   every other type          TextTable over the codec's canonical key bytes
//
// Same calls as theirs, with keys of type K. `scan` hands out keys by value; the
// views in them are valid until clear().
//
// Thread: one.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include <hummer/bytes.hpp>
#include <hummer/codec.hpp>
#include <hummer/state/integer_table.hpp>
#include <hummer/state/text_table.hpp>

namespace hummer {

template <typename K, typename V>
class KeyTable {
 public:
  static constexpr std::size_t scan_end = static_cast<std::size_t>(-1);
  static constexpr bool by_text = std::same_as<K, std::string_view>;
  static constexpr bool by_integer =
      (std::integral<K> || std::is_enum_v<K>) && sizeof(K) <= 8 && !std::same_as<K, bool>;

  std::size_t size() const { return table_.size(); }
  bool empty() const { return table_.empty(); }
  std::size_t memory_bytes() const { return table_.memory_bytes(); }
  bool at_limit(std::size_t limit_bytes) const { return table_.at_limit(limit_bytes); }
  void clear() { table_.clear(); }

  template <typename KeyOf, typename Apply>
  void update(std::size_t count, KeyOf&& key_of, Apply&& apply) {
    if constexpr (by_text || by_integer) {
      table_.update(count, key_of, apply);
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        char space[128];
        ByteWriter bytes(std::span<char>(space, sizeof space), true);
        const K& key = key_of(i);
        Codec<K>::encode(key, bytes);
        if (!bytes.overflowed()) {
          update_one(bytes.view(), i, apply);
        } else {
          std::string grown;
          ByteWriter more(grown, true);
          Codec<K>::encode(key, more);
          update_one(more.view(), i, apply);
        }
      }
    }
  }

  template <typename Visit>
  std::size_t scan(std::size_t cursor, Visit&& visit) const {
    if constexpr (by_text) {
      return table_.scan(cursor, visit);
    } else if constexpr (by_integer) {
      return table_.scan(cursor, [&](std::uint64_t key, const V& value) {
        return visit(static_cast<K>(key), value);
      });
    } else {
      return table_.scan(cursor, [&](std::string_view bytes, const V& value) {
        K key{};
        ByteReader reader(bytes);
        HUMMER_ASSERT(Codec<K>::decode(reader, key));
        return visit(key, value);
      });
    }
  }

 private:
  template <typename Apply>
  void update_one(std::string_view bytes, std::size_t i, Apply& apply) {
    table_.update(
        1, [&](std::size_t) { return bytes; },
        [&](V& value, bool is_new, std::size_t) { apply(value, is_new, i); });
  }

  std::conditional_t<by_integer, IntegerTable<V>, TextTable<V>> table_;
};

}  // namespace hummer
