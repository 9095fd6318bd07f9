// KeyCodec: how the keys of a table are written and hashed, for code that knows them as the bytes
// that the table has of them (TableKey in key_table.hpp). One per type, static. Thread: any.
//
// OwnsKey: whether a key with this hash (key_hash.hpp) is one of those that a restore keeps.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

#include <hummer/detail/key_hash.hpp>
#include <hummer/detail/state/key_table.hpp>

namespace hummer {

class OperatorContext;

using OwnsKey = std::function<bool(std::uint64_t hash)>;
// Those of the subtask, for as long as the context lives.
OwnsKey owned_by(const OperatorContext& context);

struct KeyCodec {
  HashTable::Keys table_keys;
  std::uint8_t integer_bytes;  // 0: `encode` and the others say how, or it is text
  bool is_signed;
  void (*encode)(std::string_view key, ByteWriter& out);
  bool (*decode)(ByteReader& in, std::string& key);
  std::uint64_t (*hash)(std::string_view key);

  // As the codec of the type does.
  void write(std::string_view key, ByteWriter& out) const;
  // The same of an integer.
  void write_integer(std::string_view key, ByteWriter& out) const {
    out.put(key.data(), integer_bytes);  // the lower ones: little-endian
  }
  // False: not valid. `key` lies in `space`, or where it was read.
  [[nodiscard]] bool read(ByteReader& in, std::string& space, std::string_view& key) const;
  // As key_hash of it.
  std::uint64_t hash_of(std::string_view key) const {
    if (integer_bytes != sizeof(std::uint64_t)) return hash_of_others(key);
    std::uint64_t number = 0;
    std::memcpy(&number, key.data(), sizeof number);
    return hash_u64(number);
  }
  // Whether that is hash_bytes of what write() writes in canonical form: of text it is not, which
  // is written with its length.
  bool hash_is_of_written_bytes() const { return integer_bytes != 0 || encode != nullptr; }
  // Of those that are no integers of eight bytes.
  std::uint64_t hash_of_others(std::string_view key) const;
};

template <typename K>
const KeyCodec& key_codec() {
  using Key = TableKey<K>;
  constexpr auto table_keys = Key::by_integer ? HashTable::Keys::integers : HashTable::Keys::text;
  if constexpr (Key::by_text || (Key::by_integer && std::is_integral_v<K>)) {
    static constexpr KeyCodec codec{table_keys,
                                    Key::by_text ? std::uint8_t{0} : std::uint8_t{sizeof(K)},
                                    std::is_signed_v<K>,
                                    nullptr,
                                    nullptr,
                                    nullptr};
    return codec;
  } else {
    static constexpr KeyCodec codec{
        table_keys,
        0,
        false,
        [](std::string_view key, ByteWriter& out) { Codec<K>::encode(Key::of(key), out); },
        [](ByteReader& in, std::string& bytes) {
          K key{};
          if (!Codec<K>::decode(in, key)) return false;
          bytes = std::string_view(typename Key::Bytes(key));
          return true;
        },
        [](std::string_view key) { return key_hash(Key::of(key)); }};
    return codec;
  }
}

}  // namespace hummer
