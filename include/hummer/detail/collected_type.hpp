// Collected<Function>: the type of record that a user function puts out, as its Collector says.
//
//   void operator()(std::string_view line, Collector<int>& out) const      int
//
// Or the function's own `Output`, where it names one: a generic one must. And
// check_record_type<T>(), which says what such a type lacks.
#pragma once

#include <type_traits>

#include <hummer/codec.hpp>
#include <hummer/collector.hpp>

namespace hummer::detail {

// The one error for a type without a codec: who asks with `if constexpr` gets no others behind it.
template <typename T>
consteval bool check_record_type() {
  static_assert(StreamType<T>,
                "this record type has no hummer::Codec: specialise hummer::Codec<T> for it "
                "(see hummer/codec.hpp)");
  return StreamType<T>;
}

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

template <typename Function>
auto collected_type() {
  if constexpr (requires { typename Function::Output; }) {
    return std::type_identity<typename Function::Output>{};
  } else if constexpr (requires { &Function::operator(); }) {
    return std::type_identity<typename CollectedType<decltype(&Function::operator())>::Type>{};
  } else {
    return std::type_identity<typename CollectedType<Function>::Type>{};
  }
}
template <typename Function>
using Collected = typename decltype(collected_type<std::decay_t<Function>>())::type;

}  // namespace hummer::detail
