// KeyTable<K, V>: the table that suits the key.
//
//   text                      TextTable
//   integers up to 64 bits    IntegerTable
//   every other type          TextTable over the codec's canonical key bytes
//
// Same calls as theirs, with keys of type K. `scan` hands out keys by value; the
// views in them are valid until clear(). Base: HashTable, or what is one.
//
// TableKey<K>: how such a table has a key as bytes, and back.
//
// Thread: one.
#pragma once

#include <concepts>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <hummer/bytes.hpp>
#include <hummer/codec.hpp>
#include <hummer/detail/state/integer_table.hpp>
#include <hummer/detail/state/text_table.hpp>

namespace hummer {

template <typename K>
struct TableKey {
  static constexpr bool by_text = std::same_as<K, std::string_view>;
  static constexpr bool by_integer =
      (std::integral<K> || std::is_enum_v<K>) && sizeof(K) <= 8 && !std::same_as<K, bool>;
  // A byte is put behind encoded keys, since integers mostly end in zero bytes and a TextTable
  // treats text that does so as long.
  static constexpr char end_mark = 1;

  // Text: valid as long as the table's.
  static K of(std::string_view bytes) {
    if constexpr (by_text) {
      return bytes;
    } else if constexpr (by_integer) {
      std::uint64_t number;
      std::memcpy(&number, bytes.data(), sizeof number);
      return static_cast<K>(number);
    } else {
      K key{};
      ByteReader reader(bytes.substr(0, bytes.size() - sizeof end_mark));
      HUMMER_ASSERT(Codec<K>::decode(reader, key));
      return key;
    }
  }
  static void encode(const K& key, ByteWriter& bytes) {
    Codec<K>::encode(key, bytes);
    bytes.put_value(end_mark);
  }

  // The bytes of one key.
  class Bytes {
   public:
    explicit Bytes(const K& key) {
      if constexpr (by_text) {
        space_ = key;
      } else if constexpr (by_integer) {
        space_ = static_cast<std::uint64_t>(key);
      } else {
        ByteWriter out(space_, true);
        encode(key, out);
        space_.resize(out.size());
      }
    }
    operator std::string_view() const {
      if constexpr (by_integer) {
        return {reinterpret_cast<const char*>(&space_), sizeof space_};
      } else {
        return space_;
      }
    }

   private:
    std::conditional_t<by_text, std::string_view,
                       std::conditional_t<by_integer, std::uint64_t, std::string>>
        space_;
  };
};

template <typename K, typename V, typename Base = HashTable>
class KeyTable : public std::conditional_t<TableKey<K>::by_integer, IntegerTable<V, Base>,
                                           TextTable<V, Base>> {
  using Table =
      std::conditional_t<TableKey<K>::by_integer, IntegerTable<V, Base>, TextTable<V, Base>>;

 public:
  using Key = TableKey<K>;
  static constexpr bool by_text = Key::by_text;

  template <typename KeyOf, typename Apply>
  void update(std::size_t count, KeyOf&& key_of, Apply&& apply, const SaveReference& save = {}) {
    if constexpr (by_text || Key::by_integer) {
      Table::update(count, key_of, apply, save);
    } else {
      update_encoded(count, key_of, apply, save);
    }
  }

  // The same for one key: see HashTable.
  std::pair<V*, bool> find_or_add(const K& key, const SaveReference& save = {}) {
    const auto [value, is_new] = HashTable::find_or_add(typename Key::Bytes(key), save);
    return {static_cast<V*>(value), is_new};
  }
  const V* find(const K& key) const {
    return static_cast<const V*>(HashTable::find(typename Key::Bytes(key)));
  }

  // visit(const K&, const V&) answers whether to go on: see HashTable::visit_from.
  template <typename Visit>
  std::size_t scan(std::size_t cursor, Visit&& visit) const {
    return this->visit_from(cursor, [&](const FoundEntry& found) {
      return visit(Key::of(found.key), *static_cast<const V*>(found.value));
    });
  }

 private:
  // Key bytes are collected, so that the table gets groups; a key that has no room goes alone.
  template <typename KeyOf, typename Apply>
  void update_encoded(std::size_t count, KeyOf& key_of, Apply& apply, const SaveReference& save) {
    char space[4096];
    std::string_view views[64];
    std::size_t first = 0;  // the keys [first, first + collected) wait, with `used` bytes
    std::size_t collected = 0;
    std::size_t used = 0;
    const auto hand_on = [&] {
      Table::update_views(
          std::span<const std::string_view>(views, collected),
          [&](V& value, bool is_new, std::size_t i) { apply(value, is_new, first + i); }, save);
      first += collected;
      collected = 0;
      used = 0;
    };
    for (std::size_t i = 0; i < count; ++i) {
      decltype(auto) key = key_of(i);
      for (;;) {
        ByteWriter bytes(std::span<char>(space + used, sizeof space - used), true);
        Key::encode(key, bytes);
        if (!bytes.overflowed()) {
          views[collected++] = std::string_view(space + used, bytes.size());
          used += bytes.size();
          break;
        }
        if (collected > 0) {
          hand_on();
          continue;
        }
        const typename Key::Bytes grown(key);
        views[collected++] = grown;
        hand_on();
        break;
      }
      if (collected == std::size(views)) hand_on();
    }
    if (collected > 0) hand_on();
  }
};

}  // namespace hummer
