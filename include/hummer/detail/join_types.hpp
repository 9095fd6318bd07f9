// What the functions of joins (hummer/joins.hpp) put out.
#pragma once

#include <type_traits>

#include <hummer/detail/owned_text.hpp>
#include <hummer/keyed_output.hpp>

namespace hummer {
namespace detail {

// The Out of a co-group's function.
template <typename Signature>
struct CoGroupCall;
template <typename Class, typename Return, typename Window, typename First, typename Second,
          typename Out>
struct CoGroupCall<Return (Class::*)(Window, First, Second, KeyedOutput<Out>&) const> {
  using Type = Out;
};
template <typename Class, typename Return, typename Window, typename First, typename Second,
          typename Out>
struct CoGroupCall<Return (Class::*)(Window, First, Second, KeyedOutput<Out>&)> {
  using Type = Out;
};

// Named, or found; void: unknown.
template <typename Named, typename Function>
auto co_group_output() {
  if constexpr (std::is_void_v<Named> &&
                requires { typename CoGroupCall<decltype(&Function::operator())>::Type; }) {
    return std::type_identity<typename CoGroupCall<decltype(&Function::operator())>::Type>{};
  } else {
    return std::type_identity<Named>{};
  }
}

template <typename Function, typename A, typename B>
using JoinedType = Stored<std::remove_cvref_t<std::invoke_result_t<Function&, const A&, const B&>>>;

}  // namespace detail

}  // namespace hummer
