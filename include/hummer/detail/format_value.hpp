// Values as text, by their types: what format_record (hummer/format.hpp) does.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <hummer/detail/reflection.hpp>
#include <hummer/text.hpp>

namespace hummer {

// Looks for the user's function by its argument's namespace alone: hummer::format_record itself is
// an object, so that it is never found this way.
namespace format_lookup {
void format_record() = delete;
template <typename T>
concept HasOwnFormat = requires(const T& value, std::string& out) { format_record(value, out); };
template <typename T>
void call_own_format(const T& value, std::string& out) {
  format_record(value, out);
}
}  // namespace format_lookup

namespace detail {

template <typename T>
concept Streamable = requires(std::ostream& out, const T& value) {
  { out << value } -> std::convertible_to<std::ostream&>;
};

template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <typename T>
inline constexpr bool is_vector = false;
template <typename T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <typename T>
inline constexpr bool is_std_array = false;
template <typename T, std::size_t N>
inline constexpr bool is_std_array<std::array<T, N>> = true;
template <typename T>
inline constexpr bool is_tuple = false;
template <typename A, typename B>
inline constexpr bool is_tuple<std::pair<A, B>> = true;
template <typename... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;
template <typename T>
inline constexpr bool is_plain_aggregate = Reflectable<T>;

template <typename T>
inline constexpr bool cannot_be_written = false;

template <typename T>
consteval bool can_be_written();
template <typename T, std::size_t... i>
consteval bool can_fields_be_written(std::index_sequence<i...>) {
  return (can_be_written<boost::pfr::tuple_element_t<i, T>>() && ...);
}
template <typename... T>
consteval bool can_all_be_written(std::type_identity<std::tuple<T...>>) {
  return (can_be_written<T>() && ...);
}
template <typename A, typename B>
consteval bool can_all_be_written(std::type_identity<std::pair<A, B>>) {
  return can_be_written<A>() && can_be_written<B>();
}
// What format_value says below, in the same order.
template <typename T>
consteval bool can_be_written() {
  if constexpr (format_lookup::HasOwnFormat<T> || std::is_arithmetic_v<T> || std::is_enum_v<T> ||
                std::is_convertible_v<const T&, std::string_view> || std::same_as<T, TextBlock>) {
    return true;
  } else if constexpr (is_optional<T> || is_vector<T> || is_std_array<T>) {
    return can_be_written<typename T::value_type>();
  } else if constexpr (is_tuple<T>) {
    return can_all_be_written(std::type_identity<T>());
  } else if constexpr (is_plain_aggregate<T> && !Streamable<T>) {
    return can_fields_be_written<T>(std::make_index_sequence<boost::pfr::tuple_size_v<T>>());
  } else {
    return Streamable<T>;
  }
}

void format_number(std::int64_t value, std::string& out);
void format_number(std::uint64_t value, std::string& out);
void format_number(float value, std::string& out);
void format_number(double value, std::string& out);
void format_number(long double value, std::string& out);
// Appends the text that `put` writes of `value`, by an operator<<.
void format_streamed(const void* value, void (*put)(const void* value, std::ostream& stream),
                     std::string& out);

// Appends `separator` before every call but the first.
class Separator {
 public:
  Separator(char separator, std::string& out) : separator_(separator), out_(out) {}
  void next() {
    if (!first_) out_.push_back(separator_);
    first_ = false;
  }

 private:
  char separator_;
  std::string& out_;
  bool first_ = true;
};

template <typename T, bool nested>
void format_value(const T& value, std::string& out) {
  if constexpr (format_lookup::HasOwnFormat<T>) {
    format_lookup::call_own_format(value, out);
  } else if constexpr (std::same_as<T, bool>) {
    out.append(value ? "true" : "false");
  } else if constexpr (std::same_as<T, char>) {
    out.push_back(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    format_number(value, out);
  } else if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_signed_v<T>) {
      format_number(static_cast<std::int64_t>(value), out);
    } else {
      format_number(static_cast<std::uint64_t>(value), out);
    }
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    out.append(static_cast<std::string_view>(value));
  } else if constexpr (std::same_as<T, TextBlock>) {
    out.append(value.view());
  } else if constexpr (is_optional<T>) {
    if (value) format_value<typename T::value_type, nested>(*value, out);
  } else if constexpr (is_vector<T> || (is_std_array<T> && nested)) {
    out.push_back('[');
    Separator comma(',', out);
    for (const auto& element : value) {
      comma.next();
      format_value<typename T::value_type, true>(element, out);
    }
    out.push_back(']');
  } else if constexpr (is_std_array<T>) {
    Separator tab('\t', out);
    for (const auto& element : value) {
      tab.next();
      format_value<typename T::value_type, true>(element, out);
    }
  } else if constexpr (is_tuple<T> || (is_plain_aggregate<T> && !Streamable<T>)) {
    if (nested) out.push_back('(');
    Separator separator(nested ? ',' : '\t', out);
    const auto format_field = [&]<typename Field>(const Field& field) {
      separator.next();
      format_value<Field, true>(field, out);
    };
    if constexpr (is_tuple<T>) {
      std::apply([&](const auto&... field) { (format_field(field), ...); }, value);
    } else {
      boost::pfr::for_each_field(value, format_field);
    }
    if (nested) out.push_back(')');
  } else if constexpr (Streamable<T>) {
    const auto put = [](const void* streamed, std::ostream& stream) {
      stream << *static_cast<const T*>(streamed);
    };
    format_streamed(&value, put, out);
  } else if constexpr (std::is_enum_v<T>) {
    format_value<std::underlying_type_t<T>, nested>(static_cast<std::underlying_type_t<T>>(value),
                                                    out);
  } else {
    static_assert(cannot_be_written<T>,
                  "records of this type cannot be written as text: give the type `void "
                  "format_record(const T&, std::string&)` in its own namespace, or operator<<, or "
                  "map it to text first");
  }
}

struct FormatRecord {
  template <typename T>
  void operator()(const T& record, std::string& out) const {
    format_value<T, false>(record, out);
  }
};

}  // namespace detail

}  // namespace hummer
