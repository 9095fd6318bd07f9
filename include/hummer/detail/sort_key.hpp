// SortKey<K>: a key as bytes that compare (memcmp) as the keys do.
//
//   std::string space;
//   ByteWriter out(space);
//   SortKey<std::pair<std::string_view, std::int64_t>>::append({"Zürich", -3}, out);
//
//   bool, integers, enumerations   big-endian, the sign bit of signed ones turned over
//   float, double                  -0.0 as 0.0; every NaN the same, behind infinity
//   text                           byte by byte as unsigned, a zero byte as 00 FF; 00 00 ends it
//   optional                       00: none, which goes first; 01, the value
//   pair, tuple, array             one member after the other: the first that differs decides
//   Descending<K>                  K with all bits turned over, so that the larger ones go first
//
// Equal keys give equal bytes, and the bytes of no key are the beginning of another's; so keys can
// be joined, and turned over. (Numbers of an ordinary double compare as with <; std::less has no
// place for NaN.)
//
// Thread: functions without state. Cost: linear in the key; no allocation but the writer's.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <hummer/bytes.hpp>

namespace hummer {

// A key, or a member of one, by which the larger ones go first.
template <typename K>
struct Descending {
  K value;
};
template <typename K>
Descending(K) -> Descending<K>;
template <typename K>
Descending<std::remove_cvref_t<K>> descending(K&& key) {
  return {std::forward<K>(key)};
}

template <typename K>
struct SortKey {
  static constexpr bool known = false;
};

namespace detail {

// The bytes of an unsigned number, the highest first.
template <std::unsigned_integral N>
void append_big_endian(N number, ByteWriter& out) {
  if constexpr (sizeof(N) == 2) number = __builtin_bswap16(number);
  if constexpr (sizeof(N) == 4) number = __builtin_bswap32(number);
  if constexpr (sizeof(N) == 8) number = __builtin_bswap64(number);
  static_assert(sizeof(N) <= 8);
  out.put_value(number);
}

template <std::size_t size>
using UnsignedOf = std::conditional_t<
    size == 1, std::uint8_t,
    std::conditional_t<size == 2, std::uint16_t,
                       std::conditional_t<size == 4, std::uint32_t, std::uint64_t>>>;

}  // namespace detail

template <typename K>
  requires(std::is_integral_v<K> && sizeof(K) <= 8)
struct SortKey<K> {
  static constexpr bool known = true;
  static void append(K key, ByteWriter& out) {
    using Unsigned = detail::UnsignedOf<sizeof(K)>;
    constexpr auto sign =
        static_cast<Unsigned>(std::is_signed_v<K> ? Unsigned{1} << (8 * sizeof(K) - 1) : 0);
    detail::append_big_endian(static_cast<Unsigned>(static_cast<Unsigned>(key) ^ sign), out);
  }
};

template <typename K>
  requires std::is_enum_v<K>
struct SortKey<K> {
  static constexpr bool known = true;
  static void append(K key, ByteWriter& out) {
    using Number = std::underlying_type_t<K>;
    SortKey<Number>::append(static_cast<Number>(key), out);
  }
};

template <typename K>
  requires(std::same_as<K, float> || std::same_as<K, double>)
struct SortKey<K> {
  static constexpr bool known = true;
  static void append(K key, ByteWriter& out) {
    using Unsigned = detail::UnsignedOf<sizeof(K)>;
    constexpr auto sign = Unsigned{1} << (8 * sizeof(K) - 1);
    if (std::isnan(key)) return detail::append_big_endian(static_cast<Unsigned>(~Unsigned{0}), out);
    const auto bits = std::bit_cast<Unsigned>(key == 0 ? K{0} : key);
    detail::append_big_endian(static_cast<Unsigned>((bits & sign) != 0 ? ~bits : bits | sign), out);
  }
};

template <typename K>
  requires(std::same_as<K, std::string_view> || std::same_as<K, std::string>)
struct SortKey<K> {
  static constexpr bool known = true;
  static void append(std::string_view key, ByteWriter& out) {
    while (!key.empty()) {
      const auto* zero = static_cast<const char*>(std::memchr(key.data(), 0, key.size()));
      if (zero == nullptr) break;
      const auto length = static_cast<std::size_t>(zero - key.data());
      out.put(key.data(), length);
      out.put("\x00\xFF", 2);
      key.remove_prefix(length + 1);
    }
    out.put(key.data(), key.size());
    out.put("\x00\x00", 2);
  }
};

template <typename K>
struct SortKey<std::optional<K>> {
  static constexpr bool known = SortKey<K>::known;
  static void append(const std::optional<K>& key, ByteWriter& out) {
    out.put_value(static_cast<std::uint8_t>(key.has_value() ? 1 : 0));
    if (key) SortKey<K>::append(*key, out);
  }
};

template <typename A, typename B>
struct SortKey<std::pair<A, B>> {
  static constexpr bool known =
      SortKey<std::remove_cvref_t<A>>::known && SortKey<std::remove_cvref_t<B>>::known;
  static void append(const std::pair<A, B>& key, ByteWriter& out) {
    SortKey<std::remove_cvref_t<A>>::append(key.first, out);
    SortKey<std::remove_cvref_t<B>>::append(key.second, out);
  }
};

template <typename... K>
struct SortKey<std::tuple<K...>> {
  static constexpr bool known = (SortKey<std::remove_cvref_t<K>>::known && ...);
  static void append(const std::tuple<K...>& key, ByteWriter& out) {
    std::apply(
        [&](const auto&... member) {
          (SortKey<std::remove_cvref_t<decltype(member)>>::append(member, out), ...);
        },
        key);
  }
};

template <typename K, std::size_t count>
struct SortKey<std::array<K, count>> {
  static constexpr bool known = SortKey<K>::known;
  static void append(const std::array<K, count>& key, ByteWriter& out) {
    if constexpr (std::same_as<K, std::uint8_t>) {
      out.put(key.data(), count);
    } else {
      for (const K& member : key) SortKey<K>::append(member, out);
    }
  }
};

namespace detail {

template <typename K>
void append_reversed(const K& key, ByteWriter& out) {
  const std::size_t begin = out.size();
  SortKey<K>::append(key, out);
  // They are the writer's last bytes, and its own to change.
  const std::string_view written = out.view().substr(begin);
  char* bytes = const_cast<char*>(written.data());
  for (std::size_t i = 0; i < written.size(); ++i) bytes[i] = static_cast<char>(~bytes[i]);
}

}  // namespace detail

template <typename K>
struct SortKey<Descending<K>> {
  static constexpr bool known = SortKey<K>::known;
  static void append(const Descending<K>& key, ByteWriter& out) {
    detail::append_reversed(key.value, out);
  }
};

template <typename K>
concept SortableKey = SortKey<K>::known;

}  // namespace hummer
