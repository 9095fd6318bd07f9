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
  bool has_room_for(std::size_t more) const { return table_.has_room_for(more); }
  void make_room_for(std::size_t more) { table_.make_room_for(more); }
  void set_dense(bool dense) { table_.set_dense(dense); }  // see HashSlots
  void clear() { table_.clear(); }

  template <typename KeyOf, typename Apply, typename Save = SaveNothing>
  void update(std::size_t count, KeyOf&& key_of, Apply&& apply, Save&& save = {}) {
    if constexpr (by_text) {
      table_.update(count, key_of, apply, save);
    } else if constexpr (by_integer) {
      table_.update(count, key_of, apply,
                    [&](std::uint64_t key, const V& value) { save(static_cast<K>(key), value); });
    } else {
      update_encoded(count, key_of, apply, save);
    }
  }
  // The same where the keys lie in memory as views.
  template <typename Apply, typename Save = SaveNothing>
    requires by_text
  void update_views(std::span<const std::string_view> keys, Apply&& apply, Save&& save = {}) {
    table_.update_views(keys, apply, save);
  }

  // The same for one key: see TextTable.
  template <typename Save = SaveNothing>
  std::pair<V*, bool> find_or_add(const K& key, Save&& save = {}) {
    if constexpr (by_text) {
      return table_.find_or_add(key, save);
    } else if constexpr (by_integer) {
      const auto save_key = [&](std::uint64_t bits, const V& value) {
        save(static_cast<K>(bits), value);
      };
      return table_.find_or_add(static_cast<std::uint64_t>(key), save_key);
    } else {
      std::string grown;
      const auto save_key = [&](std::string_view bytes, const V& value) {
        save(decoded(bytes), value);
      };
      return table_.find_or_add(encoded(key, grown), save_key);
    }
  }

  // The value of a key, or null. Valid until the next update.
  const V* find(const K& key) const {
    if constexpr (by_text) {
      return table_.find(key);
    } else if constexpr (by_integer) {
      return table_.find(static_cast<std::uint64_t>(key));
    } else {
      std::string grown;
      return table_.find(encoded(key, grown));
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
        return visit(decoded(bytes), value);
      });
    }
  }

  // Snapshots: see TextTable.
  bool freeze(bool may_be_delta) { return table_.freeze(may_be_delta); }
  bool frozen() const { return table_.frozen(); }
  template <typename Visit>
  bool scan_frozen(Visit&& visit) {
    if constexpr (by_text) {
      return table_.scan_frozen(visit);
    } else if constexpr (by_integer) {
      return table_.scan_frozen(
          [&](std::uint64_t key, const V& value) { return visit(static_cast<K>(key), value); });
    } else {
      return table_.scan_frozen(
          [&](std::string_view bytes, const V& value) { return visit(decoded(bytes), value); });
    }
  }

 private:
  static constexpr char end_mark = 1;

  static K decoded(std::string_view bytes) {
    K key{};
    ByteReader reader(bytes.substr(0, bytes.size() - sizeof end_mark));
    HUMMER_ASSERT(Codec<K>::decode(reader, key));
    return key;
  }

  // The bytes that stand for a key in the table; they lie in `space`.
  static std::string_view encoded(const K& key, std::string& space) {
    ByteWriter bytes(space, true);
    Codec<K>::encode(key, bytes);
    bytes.put_value(end_mark);
    return bytes.view();
  }

  // Key bytes are collected, so that the table gets groups; a key that has no room goes alone.
  // A byte is put behind each, since integers mostly end in zero bytes and a TextTable treats
  // text that does so as long.
  template <typename KeyOf, typename Apply, typename Save>
  void update_encoded(std::size_t count, KeyOf& key_of, Apply& apply, Save& save) {
    char space[4096];
    std::string_view views[64];
    std::size_t first = 0;  // the keys [first, first + collected) wait, with `used` bytes
    std::size_t collected = 0;
    std::size_t used = 0;
    const auto hand_on = [&] {
      table_.update_views(
          std::span<const std::string_view>(views, collected),
          [&](V& value, bool is_new, std::size_t i) { apply(value, is_new, first + i); },
          [&](std::string_view bytes, const V& value) { save(decoded(bytes), value); });
      first += collected;
      collected = 0;
      used = 0;
    };
    for (std::size_t i = 0; i < count; ++i) {
      decltype(auto) key = key_of(i);
      for (;;) {
        ByteWriter bytes(std::span<char>(space + used, sizeof space - used), true);
        Codec<K>::encode(key, bytes);
        bytes.put_value(end_mark);
        if (!bytes.overflowed()) {
          views[collected++] = std::string_view(space + used, bytes.size());
          used += bytes.size();
          break;
        }
        if (collected > 0) {
          hand_on();
          continue;
        }
        std::string grown;
        views[collected++] = encoded(key, grown);
        hand_on();
        break;
      }
      if (collected == std::size(views)) hand_on();
    }
    if (collected > 0) hand_on();
  }

  std::conditional_t<by_integer, IntegerTable<V>, TextTable<V>> table_;
};

}  // namespace hummer
