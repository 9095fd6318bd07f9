// OrderedKey<K>: the bytes of a key whose order (memcmp, the shorter first) is that of the keys.
//
// Integers by value, text as it is, other keys by their canonical bytes. Timers that are on disk
// lie in this order, so that it is the one in which they fire. A value class without state.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include <hummer/codec.hpp>

namespace hummer {

// The first eight, as a number that is ordered as they are.
inline std::uint64_t first_bytes(std::string_view text) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t first = 0;
  std::memcpy(&first, text.data(), text.size() < sizeof first ? text.size() : sizeof first);
  return __builtin_bswap64(first);
}

template <typename K>
struct OrderedKey {
  static constexpr bool by_value = std::is_integral_v<K>;
  static constexpr bool by_text = std::is_same_v<K, std::string>;

  static std::string of(const K& key) {
    if constexpr (by_value) {
      const std::uint64_t bytes = __builtin_bswap64(static_cast<std::uint64_t>(key) ^ sign_bit);
      return std::string(reinterpret_cast<const char*>(&bytes), sizeof bytes);
    } else if constexpr (by_text) {
      return key;
    } else {
      std::string space;
      ByteWriter out(space, true);
      Codec<K>::encode(key, out);
      return std::string(out.view());
    }
  }
  // REQUIRES: of() made them.
  static K key(std::string_view bytes) {
    if constexpr (by_value) {
      return static_cast<K>(first_bytes(bytes) ^ sign_bit);
    } else if constexpr (by_text) {
      return K(bytes);
    } else {
      K key{};
      ByteReader in(bytes);
      HUMMER_ASSERT(Codec<K>::decode(in, key));
      return key;
    }
  }

 private:
  static constexpr std::uint64_t sign_bit =
      std::is_signed_v<K> ? std::uint64_t{1} << 63 : std::uint64_t{0};
};

}  // namespace hummer
