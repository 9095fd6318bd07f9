// Codec<T>: how a value becomes bytes on a wire, in a snapshot and in a key.
//
// Built in: arithmetic types, enums, std::string_view and std::string, pairs,
// tuples, arrays, vectors, optionals, and aggregates of these (their fields are
// found by reflection; no macro). For a type of your own, specialise:
//
//   template <> struct hummer::Codec<Money> {
//     static std::string name() { return "shop.Money/1"; }        // stable, with a version
//     static void encode(const Money& m, ByteWriter& out) { ... }
//     static bool decode(ByteReader& in, Money& m) { ... }         // false: not valid
//   };
//
// A type that is in the state of jobs and will change: see hummer/evolving.hpp.
//
// Rules: equal values encode to equal bytes when `out.canonical()` (key bytes
// decide where a record goes and what a snapshot holds); decode must accept any
// bytes without reading past them; a decoded std::string_view points into the
// bytes that were read.
//
// Thread: functions without state. Cost: linear in the value.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>

#include <hummer/bytes.hpp>

namespace hummer {

template <typename T>
struct Codec;

namespace detail {

template <typename T>
concept HasCodec = requires(const T& value, T& target, ByteWriter& out, ByteReader& in) {
  { Codec<T>::name() } -> std::convertible_to<std::string>;
  Codec<T>::encode(value, out);
  { Codec<T>::decode(in, target) } -> std::convertible_to<bool>;
};

}  // namespace detail

// What every type of a stream must satisfy.
template <typename T>
concept StreamType = detail::HasCodec<T> && std::is_object_v<T> && std::is_move_constructible_v<T>;

}  // namespace hummer

#include <hummer/detail/codecs.hpp>
