// The codecs that are built in (hummer/codec.hpp), and what they tell of a type: whether its memory
// is its encoding, and whether it holds views. Included by codec.hpp, and never by itself.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <hummer/codec.hpp>
#include <hummer/detail/reflection.hpp>
#include <hummer/detail/saved_layouts.hpp>
#include <hummer/evolving.hpp>
#include <hummer/text.hpp>

namespace hummer {
namespace detail {

template <typename T>
concept Arithmetic = std::is_arithmetic_v<T>;

// Whether memory and encoding are the same bytes, so that arrays are copied whole.
template <typename T>
struct Bitwise : std::false_type {};
template <Arithmetic T>
struct Bitwise<T> : std::bool_constant<!std::same_as<T, bool> && !std::same_as<T, long double>> {};
template <typename T>
  requires std::is_enum_v<T>
struct Bitwise<T> : Bitwise<std::underlying_type_t<T>> {};
template <typename T, std::size_t N>
struct Bitwise<std::array<T, N>> : Bitwise<T> {};

// Whether a value may point into memory that it does not own.
template <typename T>
struct HoldsViews : std::false_type {};
template <>
struct HoldsViews<std::string_view> : std::true_type {};
template <>
struct HoldsViews<TextBlock> : std::true_type {};
template <typename A, typename B>
struct HoldsViews<std::pair<A, B>>
    : std::bool_constant<HoldsViews<A>::value || HoldsViews<B>::value> {};
template <typename... T>
struct HoldsViews<std::tuple<T...>> : std::bool_constant<(HoldsViews<T>::value || ...)> {};
template <typename T, std::size_t N>
struct HoldsViews<std::array<T, N>> : HoldsViews<T> {};
template <typename T>
struct HoldsViews<std::vector<T>> : HoldsViews<T> {};
template <typename T>
struct HoldsViews<std::optional<T>> : HoldsViews<T> {};

template <typename T>
consteval std::string_view raw_type_name() {
  const std::string_view text = __PRETTY_FUNCTION__;
  const std::size_t begin = text.find("T = ") + 4;
  const std::size_t semicolon = text.find(';', begin);
  const std::size_t end = semicolon == std::string_view::npos ? text.rfind(']') : semicolon;
  return text.substr(begin, end - begin);
}

// The name that GCC has for the type that Clang calls `by_clang`.
std::string spelled_as_gcc(std::string_view by_clang, const char* mangled);

// Kept in snapshots, and part of the uids that are generated, so no compiler's own: all names are
// as GCC 12 spells them. (Without RTTI, Clang's name stays.)
template <typename T>
[[gnu::cold]] std::string type_name() {
#if defined(__clang__) && defined(__cpp_rtti)
  return spelled_as_gcc(raw_type_name<T>(), typeid(T).name());
#else
  return std::string(raw_type_name<T>());
#endif
}

// The names of the parts with commas between, after `head` and ahead of `tail`.
std::string joined_names(std::string_view head, std::initializer_list<std::string (*)()> parts,
                         std::string_view tail);
// Such as "i64".
std::string number_name(char kind, std::size_t size_bytes);
template <typename T>
std::string name_of() {
  return Codec<T>::name();
}

// Aggregates whose codec is the one below, not one of the author's own.
template <typename T>
concept EncodedByReflection = requires { typename Codec<T>::Reflection; };

template <typename T, std::size_t... I>
consteval bool all_fields_bitwise(std::index_sequence<I...>) {
  return (Bitwise<boost::pfr::tuple_element_t<I, T>>::value && ...) &&
         (sizeof(boost::pfr::tuple_element_t<I, T>) + ... + 0) == sizeof(T);
}
template <typename T, std::size_t... I>
consteval bool any_field_holds_views(std::index_sequence<I...>) {
  return (HoldsViews<boost::pfr::tuple_element_t<I, T>>::value || ...);
}

template <Reflected T>
  requires(!requires { std::tuple_size<T>::value; } && !std::same_as<T, TextBlock> &&
           Reflectable<T>)
struct Bitwise<T>
    : std::bool_constant<!Evolving<T> && EncodedByReflection<T> &&
                         all_fields_bitwise<T>(
                             std::make_index_sequence<boost::pfr::tuple_size_v<T>>{})> {};
template <Reflected T>
  requires(!requires { std::tuple_size<T>::value; } && !std::same_as<T, TextBlock> &&
           Reflectable<T>)
struct HoldsViews<T> : std::bool_constant<any_field_holds_views<T>(
                           std::make_index_sequence<boost::pfr::tuple_size_v<T>>{})> {};

}  // namespace detail

template <typename T>
inline constexpr bool is_bitwise = detail::Bitwise<T>::value;
template <typename T>
inline constexpr bool holds_views = detail::HoldsViews<T>::value;

template <detail::Arithmetic T>
struct Codec<T> {
  static std::string name() {
    if constexpr (std::same_as<T, bool>) return "bool";
    const char kind = std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
    return detail::number_name(kind, sizeof(T));
  }
  static void encode(T value, ByteWriter& out) {
    if constexpr (std::is_floating_point_v<T>) {
      if (out.canonical()) {
        if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();
        if (value == T(0)) value = T(0);  // −0.0 too
      }
    }
    if constexpr (std::same_as<T, long double>) {
      // Its padding may hold anything.
      char bytes[sizeof value] = {};
      std::memcpy(bytes, &value, std::min(sizeof value, long_double_bytes));
      out.put(bytes, sizeof bytes);
    } else {
      out.put_value(value);
    }
  }
  static bool decode(ByteReader& in, T& value) {
    if constexpr (std::same_as<T, bool>) {
      std::uint8_t byte = 0;
      if (!in.get_value(byte) || byte > 1) return false;
      value = byte != 0;
      return true;
    } else {
      return in.get_value(value);
    }
  }

 private:
  static constexpr std::size_t long_double_bytes =
      std::numeric_limits<long double>::digits == 64 ? 10 : sizeof(long double);
};

template <typename T>
  requires std::is_enum_v<T>
struct Codec<T> {
  using Enumeration = T;  // tells this codec from one of the author's own

  static std::string name() { return detail::type_name<T>(); }
  static void encode(T value, ByteWriter& out) { out.put_value(value); }
  static bool decode(ByteReader& in, T& value) {
    std::underlying_type_t<T> number{};
    if (!Codec<std::underlying_type_t<T>>::decode(in, number)) return false;
    value = static_cast<T>(number);
    return true;
  }
};

template <>
struct Codec<std::string_view> {
  static std::string name() { return "text"; }
  static void encode(std::string_view value, ByteWriter& out) { out.put_text(value); }
  static bool decode(ByteReader& in, std::string_view& value) { return in.get_text(value); }
};

template <>
struct Codec<std::string> {
  static std::string name() { return "string"; }
  static void encode(const std::string& value, ByteWriter& out) { out.put_text(value); }
  static bool decode(ByteReader& in, std::string& value) {
    std::string_view text;
    if (!in.get_text(text)) return false;
    value.assign(text);
    return true;
  }
};

// The name of the origin stays behind: a block that crossed a wire has none.
template <>
struct Codec<TextBlock> {
  static std::string name() { return "text_block"; }
  static void encode(const TextBlock& block, ByteWriter& out) {
    out.put_value(block.offset);
    out.put_text(block.view());
  }
  static bool decode(ByteReader& in, TextBlock& block) {
    std::string_view text;
    if (!in.get_value(block.offset) || !in.get_text(text)) return false;
    block.data = text.data();
    block.size = text.size();
    block.origin = nullptr;
    return true;
  }
};

namespace detail {

template <typename Tuple, std::size_t... I>
bool decode_fields(ByteReader& in, Tuple& value, std::index_sequence<I...>) {
  using std::get;
  return (Codec<std::remove_cvref_t<decltype(get<I>(value))>>::decode(in, get<I>(value)) && ...);
}

}  // namespace detail

template <typename A, typename B>
  requires detail::HasCodec<A> && detail::HasCodec<B>
struct Codec<std::pair<A, B>> {
  static std::string name() {
    return detail::joined_names("pair<", {detail::name_of<A>, detail::name_of<B>}, ">");
  }
  static void encode(const std::pair<A, B>& value, ByteWriter& out) {
    Codec<A>::encode(value.first, out);
    Codec<B>::encode(value.second, out);
  }
  static bool decode(ByteReader& in, std::pair<A, B>& value) {
    return Codec<A>::decode(in, value.first) && Codec<B>::decode(in, value.second);
  }
};

template <typename... T>
  requires(detail::HasCodec<T> && ...)
struct Codec<std::tuple<T...>> {
  static std::string name() { return detail::joined_names("tuple<", {detail::name_of<T>...}, ">"); }
  static void encode(const std::tuple<T...>& value, ByteWriter& out) {
    std::apply([&](const T&... field) { (Codec<T>::encode(field, out), ...); }, value);
  }
  static bool decode(ByteReader& in, std::tuple<T...>& value) {
    return detail::decode_fields(in, value, std::index_sequence_for<T...>{});
  }
};

template <typename T, std::size_t N>
  requires detail::HasCodec<T>
struct Codec<std::array<T, N>> {
  static std::string name() {
    return detail::joined_names("array<", {detail::name_of<T>}, "," + std::to_string(N) + ">");
  }
  static void encode(const std::array<T, N>& value, ByteWriter& out) {
    // As key bytes, floats inside of the elements have one form.
    if (is_bitwise<T> && !out.canonical()) {
      out.put(value.data(), N * sizeof(T));
    } else {
      for (const T& element : value) Codec<T>::encode(element, out);
    }
  }
  static bool decode(ByteReader& in, std::array<T, N>& value) {
    if constexpr (is_bitwise<T> && std::is_trivially_copyable_v<T>) {
      return in.get_value(value);
    } else {
      for (T& element : value) {
        if (!Codec<T>::decode(in, element)) return false;
      }
      return true;
    }
  }
};

template <typename T>
  requires detail::HasCodec<T>
struct Codec<std::vector<T>> {
  static_assert(!std::is_empty_v<T>,
                "a vector of a type without fields: keep their number instead");
  static std::string name() { return detail::joined_names("vector<", {detail::name_of<T>}, ">"); }
  static void encode(const std::vector<T>& value, ByteWriter& out) {
    out.put_value(static_cast<std::uint32_t>(value.size()));
    for (const auto& element : value) Codec<T>::encode(element, out);
  }
  static bool decode(ByteReader& in, std::vector<T>& value) {
    std::uint32_t count = 0;
    if (!in.get_value(count)) return false;
    value.clear();
    // Grows with what is really there: a length alone must not allocate.
    for (std::uint32_t i = 0; i < count; ++i) {
      if (in.left() == 0) return false;
      T element{};
      if (!Codec<T>::decode(in, element)) return false;
      value.push_back(std::move(element));
    }
    return true;
  }
};

template <typename T>
  requires detail::HasCodec<T>
struct Codec<std::optional<T>> {
  static std::string name() { return detail::joined_names("optional<", {detail::name_of<T>}, ">"); }
  static void encode(const std::optional<T>& value, ByteWriter& out) {
    Codec<bool>::encode(value.has_value(), out);
    if (value) Codec<T>::encode(*value, out);
  }
  static bool decode(ByteReader& in, std::optional<T>& value) {
    bool present = false;
    if (!Codec<bool>::decode(in, present)) return false;
    value.reset();
    return !present || Codec<T>::decode(in, value.emplace());
  }
};

namespace detail {

template <typename T>
std::string type_head() {
  if constexpr (Evolving<T>) {
    return std::string(T::evolving) + "+{";
  } else {
    return type_name<T>() + '{';
  }
}

}  // namespace detail

template <detail::Reflected T>
  requires(!requires { std::tuple_size<T>::value; } && !std::same_as<T, TextBlock>)
struct Codec<T> {
  using Reflection = T;  // tells this codec from one of the author's own

  static std::string name() {
    if constexpr (detail::NamesFields<T>) return detail::NamedFields<T>::name();
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return detail::joined_names(detail::type_head<T>(),
                                  {detail::name_of<boost::pfr::tuple_element_t<I, T>>...}, "}");
    }(std::make_index_sequence<boost::pfr::tuple_size_v<T>>{});
  }
  static void encode(const T& value, ByteWriter& out) {
    if constexpr (detail::Evolving<T> && !detail::NamesFields<T>) {
      out.put_value(static_cast<std::uint8_t>(field_count()));
    }
    boost::pfr::for_each_field(
        value, [&]<typename Field>(const Field& field) { Codec<Field>::encode(field, out); });
  }
  static bool decode(ByteReader& in, T& value) {
    if constexpr (detail::NamesFields<T>) return detail::NamedFields<T>::decode(in, value);
    bool valid = true;
    std::uint8_t left = field_count();
    if constexpr (detail::Evolving<T>) {
      static_assert(field_count() <= 255, "an evolving type has at most 255 fields");
      if (!in.get_value(left) || left > field_count()) return false;
      value = T{};
    }
    boost::pfr::for_each_field(value, [&]<typename Field>(Field& field) {
      if (left == 0) return;
      --left;
      valid = valid && Codec<Field>::decode(in, field);
    });
    return valid;
  }

 private:
  // A function: types that reflection can't take apart are looked at ahead of a call of it.
  static constexpr std::size_t field_count() { return boost::pfr::tuple_size_v<T>; }
};

}  // namespace hummer
