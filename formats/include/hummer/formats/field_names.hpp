// field_names<T>: what the fields of a record are called in files.
//
// As in C++, which is found by reflection:
//
//   struct Trade { std::string symbol; double price; };          // "symbol", "price"
//
// A type that evolves and names its fields (hummer/evolving.hpp) has these names. Others are given
// by a specialisation, all of them in their order:
//
//   template <>
//   inline constexpr auto hummer::formats::field_names<Trade> =
//       hummer::formats::named("Trade Symbol", "Px");
//
// Formats that say an enumeration by names, such as Avro, have those of its values 0, 1, … from a
// specialisation, too; and Protobuf has the fields' numbers from one (else they are 1, 2, …):
//
//   template <>
//   inline constexpr auto hummer::formats::symbols<Side> = hummer::formats::named("buy", "sell");
//   template <>
//   inline constexpr auto hummer::formats::field_numbers<Trade> = hummer::formats::numbered(1, 5);
//
// Thread: constants.
#pragma once

#include <array>
#include <boost/pfr/core.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <hummer/detail/field_names.hpp>
#include <hummer/detail/reflection.hpp>

namespace hummer::formats {

template <typename... Name>
consteval std::array<std::string_view, sizeof...(Name)> named(Name... names) {
  return {names...};
}
template <typename... Number>
consteval std::array<std::uint32_t, sizeof...(Number)> numbered(Number... numbers) {
  return {static_cast<std::uint32_t>(numbers)...};
}

namespace detail {

// An object of T that is never made: its fields have addresses, whose spelling has their names.
template <typename T>
struct Holder {
  const T value;
};
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
template <typename T>
extern const Holder<T> never_made;

template <typename Field>
struct Place {
  Field* field;
};
template <typename Field>
Place(Field*) -> Place<Field>;

// "… place = …value.symbol}" by one compiler, "…value.Trade::symbol)}" by the other.
template <auto place>
consteval std::string_view spelled_last() {
  const std::string_view text = __PRETTY_FUNCTION__;
#if defined(__clang__)
  const std::size_t end = text.rfind("}]");
#else
  const std::size_t end = text.rfind(")}");
#endif
  const std::size_t begin = text.find_last_of(".:", end) + 1;
  return text.substr(begin, end - begin);
}

template <typename T, std::size_t... i>
consteval std::array<std::string_view, sizeof...(i)> reflected_names(std::index_sequence<i...>) {
  return {spelled_last<Place{&boost::pfr::get<i>(never_made<T>.value)}>()...};
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

template <typename T>
consteval auto names_of_fields() {
  if constexpr (hummer::detail::NamesFields<T>) {
    return T::fields.names;
  } else {
    return reflected_names<T>(std::make_index_sequence<boost::pfr::tuple_size_v<T>>());
  }
}

template <typename T>
consteval auto numbers_of_fields() {
  std::array<std::uint32_t, boost::pfr::tuple_size_v<T>> numbers{};
  for (std::uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i + 1;
  return numbers;
}

}  // namespace detail

template <typename T>
inline constexpr auto field_names = detail::names_of_fields<T>();
template <typename T>
inline constexpr auto field_numbers = detail::numbers_of_fields<T>();
template <typename Enumeration>
inline constexpr std::array<std::string_view, 0> symbols = {};

}  // namespace hummer::formats
