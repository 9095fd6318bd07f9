// Which types reflection (Boost.PFR) can take apart: aggregates without a base class and without
// arrays as members. Of others it would be a dozen errors of the library's own.
#pragma once

#include <boost/pfr/core.hpp>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace hummer::detail {

// Aggregates that reflection might take apart.
template <typename T>
concept Reflected = std::is_aggregate_v<T> && std::is_class_v<T> && !std::is_polymorphic_v<T>;

// Stands for any base class of T. (These conversions are never called; a body is what compilers
// want of those to types of an unnamed namespace.)
template <typename T>
struct AnyBaseOf {
  template <typename Base>
    requires(std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>)
  operator Base() const {
    __builtin_unreachable();
  }
};
struct NoField {};

// The first initialiser of an aggregate is its base class, where it has one. (A member that takes
// anything would take NoField, too.)
template <typename T>
concept HasBase = requires { T{AnyBaseOf<T>{}}; } && !requires { T{NoField{}}; };

// Stands for any field of T, as reflection counts them: by reference where T can be copied.
template <typename T, std::size_t, bool copyable = std::is_copy_constructible_v<T>>
struct AnyField {
  template <typename Field>
  operator Field&() const&& {
    __builtin_unreachable();
  }
  template <typename Field>
  operator Field&() const& {
    __builtin_unreachable();
  }
};
template <typename T, std::size_t i>
struct AnyField<T, i, false> {
  template <typename Field>
  operator Field() const&& {
    __builtin_unreachable();
  }
};

// Whether the i-th initialiser begins an array: `{}` is the whole of it, so that fewer others can
// follow than reflection has counted.
template <typename T, std::size_t... before, std::size_t... after>
consteval bool begins_array(std::index_sequence<before...>, std::index_sequence<after...>) {
  return !requires { T{AnyField<T, before>{}..., {}, AnyField<T, after>{}...}; } &&
         requires { T{AnyField<T, before>{}..., {}}; };
}
template <typename T, std::size_t... i>
consteval bool has_array(std::index_sequence<i...>) {
  return (begins_array<T>(std::make_index_sequence<i>(),
                          std::make_index_sequence<sizeof...(i) - i - 1>()) ||
          ...);
}
template <typename T>
consteval bool has_array() {
  return has_array<T>(std::make_index_sequence<boost::pfr::tuple_size_v<T>>());
}

template <typename T>
consteval bool can_be_taken_apart() {
  if constexpr (!Reflected<T>) {
    return false;
  } else if constexpr (HasBase<T>) {
    return false;
  } else {
    return !has_array<T>();
  }
}
template <typename T>
concept Reflectable = can_be_taken_apart<T>();

}  // namespace hummer::detail
