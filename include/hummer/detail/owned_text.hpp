// Owned<T>: a record type with std::string where T has views of text.
//
//   Owned<std::string_view>                          std::string
//   Owned<KeyValue<std::string_view, int>>           KeyValue<std::string, int>
//
// Text moves as views, but nobody has to write so: where a function takes records only as Owned<T>
// (`const std::string&`, `const KeyValue<std::string, int>&`), the stream is turned into one of
// these ahead of it (DataStream::owned), at the cost of a copy. A stream can also be assigned to a
// DataStream<Owned<T>>. Generic functions (`const auto&`) get T.
//
// Known: text, pairs, tuples, and the results of aggregates and windows. Others are left as they
// are.
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <hummer/aggregate.hpp>
#include <hummer/windows.hpp>

namespace hummer {

namespace detail {

template <typename T>
struct OwnedText {
  using Type = T;
  static const T& of(const T& value) { return value; }
};
template <>
struct OwnedText<std::string_view> {
  using Type = std::string;
  static std::string of(std::string_view value) { return std::string(value); }
};
template <typename A, typename B>
struct OwnedText<std::pair<A, B>> {
  using Type = std::pair<typename OwnedText<A>::Type, typename OwnedText<B>::Type>;
  static Type of(const std::pair<A, B>& value) {
    return {OwnedText<A>::of(value.first), OwnedText<B>::of(value.second)};
  }
};
template <typename... T>
struct OwnedText<std::tuple<T...>> {
  using Type = std::tuple<typename OwnedText<T>::Type...>;
  static Type of(const std::tuple<T...>& value) {
    return std::apply([](const T&... field) { return Type(OwnedText<T>::of(field)...); }, value);
  }
};
template <typename K, typename V>
struct OwnedText<KeyValue<K, V>> {
  using Type = KeyValue<typename OwnedText<K>::Type, typename OwnedText<V>::Type>;
  static Type of(const KeyValue<K, V>& value) {
    return {OwnedText<K>::of(value.key), OwnedText<V>::of(value.value)};
  }
};
template <typename K, typename V>
struct OwnedText<Windowed<K, V>> {
  using Type = Windowed<typename OwnedText<K>::Type, typename OwnedText<V>::Type>;
  static Type of(const Windowed<K, V>& value) {
    return {OwnedText<K>::of(value.key), value.window, OwnedText<V>::of(value.value)};
  }
};
template <typename V>
struct OwnedText<WindowedAll<V>> {
  using Type = WindowedAll<typename OwnedText<V>::Type>;
  static Type of(const WindowedAll<V>& value) {
    return {value.window, OwnedText<V>::of(value.value)};
  }
};

}  // namespace detail

template <typename T>
using Owned = typename detail::OwnedText<T>::Type;

template <typename T>
inline constexpr bool has_owned_form = !std::is_same_v<Owned<T>, T>;

struct OwnText {
  template <typename T>
  Owned<T> operator()(const T& record) const {
    return detail::OwnedText<T>::of(record);
  }
};

namespace detail {

// Asked step by step: a generic function is not looked into with what it is never called with.
template <typename Function, typename T, typename... Rest>
consteval bool called_with_owned() {
  if constexpr (!has_owned_form<T>) {
    return false;
  } else if constexpr (std::is_invocable_v<Function&, const T&, Rest...>) {
    return false;
  } else {
    return std::is_invocable_v<Function&, const Owned<T>&, Rest...>;
  }
}
template <typename User, typename T, typename Emit>
concept Processes = requires(User& user, const T& record, Emit& emit) {
  user.process(record, emit);
} || requires(User& user, const T& record, Emit& emit) { user(record, emit); };

template <typename User, typename T, typename Emit>
consteval bool processes_owned() {
  if constexpr (!has_owned_form<T>) {
    return false;
  } else if constexpr (Processes<User, T, Emit>) {
    return false;
  } else {
    return Processes<User, Owned<T>, Emit>;
  }
}

}  // namespace detail

// Whether Function can be called with an Owned<T>, and not with a T (and what follows it).
template <typename Function, typename T, typename... Rest>
inline constexpr bool wants_owned = detail::called_with_owned<Function, T, Rest...>();
// The same of a process function, whose hook takes a record and an Emit.
template <typename User, typename T, typename Emit>
inline constexpr bool process_wants_owned = detail::processes_owned<User, T, Emit>();

}  // namespace hummer
