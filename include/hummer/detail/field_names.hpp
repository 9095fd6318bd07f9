// Which types say that they evolve, and which name their fields (hummer/evolving.hpp).
//
// fields("id", "cents"): names of a type's fields, in their order. What could not stand in a type's
// name, and a name that comes twice, does not compile.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>

namespace hummer {

template <std::size_t count>
struct FieldNames {
  std::array<std::string_view, count> names;
};
template <typename... Name>
consteval FieldNames<sizeof...(Name)> fields(Name... names) {
  const FieldNames<sizeof...(Name)> all{{names...}};
  for (std::size_t i = 0; i < sizeof...(Name); ++i) {
    const std::string_view name = all.names[i];
    if (name.empty() || name.find_first_of(",:{}<>()#+@ ") != name.npos) throw "no field's name";
    if (std::count(all.names.begin(), all.names.end(), name) != 1) throw "two fields of one name";
  }
  return all;
}

namespace detail {

template <typename T>
concept Evolving = requires {
  { T::evolving } -> std::convertible_to<std::string_view>;
};
template <typename T>
concept NamesFields =
    Evolving<T> && requires { []<std::size_t count>(const FieldNames<count>&) {}(T::fields); };

}  // namespace detail
}  // namespace hummer
