// describe_value: a record as a person reads it in a test's report.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include <hummer/codec.hpp>

namespace hummer {

// In quotes, with unprintable bytes as \xNN.
inline std::string describe_bytes(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      text += c;
    } else {
      text += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return text + "\"";
}

template <typename T>
std::string describe_value(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_same_v<T, TextBlock>) {
    return "block at " + std::to_string(value.offset) + " " + describe_bytes(value.view());
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    return describe_bytes(value);
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    std::string text;
    std::apply(
        [&](const auto&... field) {
          ((text += (text.empty() ? "(" : ", ") + describe_value(field)), ...);
        },
        value);
    return text + ")";
  } else if constexpr (requires { value.has_value(); }) {
    return value.has_value() ? describe_value(*value) : "nothing";
  } else if constexpr (requires { value.begin(); }) {
    std::string text = "[";
    for (const auto& element : value) {
      text += (text.size() == 1 ? "" : ", ") + describe_value(element);
    }
    return text + "]";
  } else if constexpr (detail::Reflected<T>) {
    std::string text;
    boost::pfr::for_each_field(value, [&](const auto& field) {
      text += (text.empty() ? "{" : ", ") + describe_value(field);
    });
    return text + "}";
  } else {
    std::string grown;
    ByteWriter out(grown);
    Codec<T>::encode(value, out);
    return describe_bytes(out.view());
  }
}

}  // namespace hummer
