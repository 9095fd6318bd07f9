// Collected<Function>: the type of record that a user function puts out, as its Collector says.
//
//   void operator()(std::string_view line, Collector<int>& out) const      int
//
// Or the function's own `Output`, where it names one: a generic one must. Otherwise void: unknown.
#pragma once

#include <type_traits>

#include <hummer/collector.hpp>

namespace hummer::detail {

// The T of `void f(X, Collector<T>&)`.
template <typename Signature>
struct CollectedType;
template <typename Class, typename Return, typename In, typename T>
struct CollectedType<Return (Class::*)(In, Collector<T>&) const> {
  using Type = T;
};
template <typename Class, typename Return, typename In, typename T>
struct CollectedType<Return (Class::*)(In, Collector<T>&)> {
  using Type = T;
};
template <typename Return, typename In, typename T>
struct CollectedType<Return (*)(In, Collector<T>&)> {
  using Type = T;
};
template <typename Class, typename Return, typename In, typename T>
struct CollectedType<Return (Class::*)(In, Collector<T>&) const noexcept> {
  using Type = T;
};
template <typename Class, typename Return, typename In, typename T>
struct CollectedType<Return (Class::*)(In, Collector<T>&) noexcept> {
  using Type = T;
};

template <typename Function>
auto collected_type() {
  if constexpr (requires { typename Function::Output; }) {
    return std::type_identity<typename Function::Output>{};
  } else if constexpr (requires {
                         typename CollectedType<decltype(&Function::operator())>::Type;
                       }) {
    return std::type_identity<typename CollectedType<decltype(&Function::operator())>::Type>{};
  } else if constexpr (requires { typename CollectedType<Function>::Type; }) {
    return std::type_identity<typename CollectedType<Function>::Type>{};
  } else {
    return std::type_identity<void>{};
  }
}
template <typename Function>
using Collected = typename decltype(collected_type<std::decay_t<Function>>())::type;

}  // namespace hummer::detail
