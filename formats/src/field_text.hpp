// put_scalar: a field's text, whose border is known, into a value of any plain kind; of CSV's
// rules.
//
//   put_scalar(ValueKind::i32, "-12", 3, readable, &value)          // false: it is none
//
// `readable`: bytes that may be read before the text's end (number_text.hpp).
//
// Thread: functions without state.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <hummer/formats/record_shape.hpp>

#include "number_text.hpp"

namespace hummer::formats {

inline bool parse_bool(std::string_view text, bool& value) {
  const auto is = [text](std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                      [](char a, char b) { return (a | 0x20) == b; });
  };
  if (text == "1" || is("true")) {
    value = true;
  } else if (text == "0" || is("false")) {
    value = false;
  } else {
    return false;
  }
  return true;
}

[[gnu::always_inline]] inline bool put_scalar(ValueKind kind, const char* text, std::size_t size,
                                              std::size_t readable, void* field) {
  const auto integer = [&]<typename Integer>(Integer) __attribute__((always_inline)) {
    return parse_integer(text, size, readable, *static_cast<Integer*>(field));
  };
  switch (kind) {
    case ValueKind::view: *static_cast<std::string_view*>(field) = {text, size}; return true;
    case ValueKind::f64: return parse_real(text, size, readable, *static_cast<double*>(field));
    case ValueKind::i64: return integer(std::int64_t());
    case ValueKind::i32: return integer(std::int32_t());
    case ValueKind::string: static_cast<std::string*>(field)->assign(text, size); return true;
    case ValueKind::i16: return integer(std::int16_t());
    case ValueKind::i8: return integer(std::int8_t());
    case ValueKind::u64: return integer(std::uint64_t());
    case ValueKind::u32: return integer(std::uint32_t());
    case ValueKind::u16: return integer(std::uint16_t());
    case ValueKind::u8: return integer(std::uint8_t());
    case ValueKind::f32:
      return size != 0 && parse_by_library(text, size, *static_cast<float*>(field));
    case ValueKind::boolean: return parse_bool({text, size}, *static_cast<bool*>(field));
    default: return false;
  }
}

}  // namespace hummer::formats
