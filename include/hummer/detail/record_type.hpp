// check_record_type<T>(): whether streams, keys and states can hold a T; where not, the one error
// that says why.
//
// A codec of the author's own is taken as it is. Other types are looked into, member by member, so
// that the error names the member's type (`Field`) and the type that has it (`Record`), and comes
// ahead of all that would be instantiated with them: who asks with `if constexpr` gets no second
// error.
#pragma once

#include <array>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <hummer/codec.hpp>

namespace hummer::detail {

// For an assertion that fails in the branch that it stands in.
template <typename...>
inline constexpr bool never = false;

enum class TypeProblem { none, opaque, member_without_codec, pointer, base_class, array };

template <TypeProblem what, typename Of, typename Part>
struct Problem {
  static constexpr TypeProblem problem = what;
  using Record = Of;
  using Field = Part;
};
using NoProblem = Problem<TypeProblem::none, void, void>;

// The types inside of those that the engine has codecs for.
template <typename T>
struct PartsOf {};
template <typename A, typename B>
struct PartsOf<std::pair<A, B>> : std::type_identity<std::tuple<A, B>> {};
template <typename... T>
struct PartsOf<std::tuple<T...>> : std::type_identity<std::tuple<T...>> {};
template <typename T, std::size_t size>
struct PartsOf<std::array<T, size>> : std::type_identity<std::tuple<T>> {};
template <typename T>
struct PartsOf<std::vector<T>> : std::type_identity<std::tuple<T>> {};
template <typename T>
struct PartsOf<std::optional<T>> : std::type_identity<std::tuple<T>> {};

template <typename T, std::size_t... i>
auto fields_of(std::index_sequence<i...>)
    -> std::type_identity<std::tuple<boost::pfr::tuple_element_t<i, T>...>>;

// Otherwise it is the author who wrote the codec of the whole.
template <typename... Parts>
consteval bool have_codecs(std::type_identity<std::tuple<Parts...>>) {
  return (HasCodec<Parts> && ...);
}

template <typename Record, typename T>
consteval auto problem_of();

template <typename Record, typename First, typename... Rest>
consteval auto first_problem(std::type_identity<std::tuple<First, Rest...>>) {
  constexpr auto found = problem_of<Record, First>();
  if constexpr (!std::is_same_v<decltype(found), const NoProblem> || sizeof...(Rest) == 0) {
    return found;
  } else {
    return first_problem<Record>(std::type_identity<std::tuple<Rest...>>());
  }
}
template <typename Record>
consteval NoProblem first_problem(std::type_identity<std::tuple<>>) {
  return {};
}

// What is wrong with T, a part of Record.
template <typename Record, typename T>
consteval auto problem_of() {
  if constexpr (std::is_pointer_v<T>) {
    return Problem<TypeProblem::pointer, Record, T>();
  } else if constexpr (EncodedByReflection<T>) {
    if constexpr (HasBase<T>) {
      return Problem<TypeProblem::base_class, Record, T>();
    } else {
      if constexpr (!Reflectable<T>) {
        return Problem<TypeProblem::array, Record, T>();
      } else {
        using Indexes = std::make_index_sequence<boost::pfr::tuple_size_v<T>>;
        return first_problem<T>(decltype(fields_of<T>(Indexes()))());
      }
    }
  } else if constexpr (requires { typename PartsOf<T>::type; }) {
    using Parts = std::type_identity<typename PartsOf<T>::type>;
    if constexpr (HasCodec<T> && !have_codecs(Parts())) {
      return NoProblem();
    } else {
      return first_problem<T>(Parts());
    }
  } else if constexpr (HasCodec<T>) {
    return NoProblem();
  } else if constexpr (std::is_same_v<Record, T>) {
    return Problem<TypeProblem::opaque, Record, T>();
  } else {
    return Problem<TypeProblem::member_without_codec, Record, T>();
  }
}

template <typename T, typename Found = decltype(problem_of<T, T>()),
          TypeProblem problem = Found::problem, typename Record = typename Found::Record,
          typename Field = typename Found::Field>
consteval bool check_record_type() {
  constexpr bool is_opaque = problem == TypeProblem::opaque;
  static_assert(!is_opaque,
                "this type has no hummer::Codec: make its members public and leave out "
                "constructors, or specialise hummer::Codec for it (hummer/codec.hpp)");
  constexpr bool lacks_codec = problem == TypeProblem::member_without_codec;
  static_assert(!lacks_codec,
                "a member's type (Field) has no hummer::Codec: use numbers, text, pairs, tuples, "
                "vectors, optionals and structs of these, or specialise hummer::Codec<Field>");
  constexpr bool is_pointer = problem == TypeProblem::pointer;
  static_assert(!is_pointer,
                "a record holds a pointer (Field), which means nothing in another process: hold "
                "the value itself, or a std::optional of it");
  constexpr bool has_base = problem == TypeProblem::base_class;
  static_assert(!has_base,
                "a record's type (Field) has a base class, which reflection can't take apart: make "
                "it a member, or specialise hummer::Codec<Field> (hummer/codec.hpp)");
  constexpr bool has_array_member = problem == TypeProblem::array;
  static_assert(!has_array_member,
                "a record's type (Field) has an array as a member, such as char text[16]: use "
                "std::array or std::string");
  return problem == TypeProblem::none;
}

}  // namespace hummer::detail
