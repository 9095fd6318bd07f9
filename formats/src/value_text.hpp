// Numbers as text, in the shortest form that is read back as they are; of any kind of a shape.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>

#include <hummer/formats/record_shape.hpp>

namespace hummer::formats {

template <typename Number>
void append_number(Number number, std::string& text) {
  char digits[32];
  const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, number);
  text.append(digits, end.ptr);
}

// REQUIRES: boolean, an integer or a real number.
inline void append_scalar(ValueKind kind, const void* value, std::string& text) {
  switch (kind) {
    case ValueKind::boolean:
      text.append(*static_cast<const bool*>(value) ? "true" : "false");
      return;
    case ValueKind::i8: return append_number(*static_cast<const std::int8_t*>(value), text);
    case ValueKind::i16: return append_number(*static_cast<const std::int16_t*>(value), text);
    case ValueKind::i32: return append_number(*static_cast<const std::int32_t*>(value), text);
    case ValueKind::i64: return append_number(*static_cast<const std::int64_t*>(value), text);
    case ValueKind::u8: return append_number(*static_cast<const std::uint8_t*>(value), text);
    case ValueKind::u16: return append_number(*static_cast<const std::uint16_t*>(value), text);
    case ValueKind::u32: return append_number(*static_cast<const std::uint32_t*>(value), text);
    case ValueKind::u64: return append_number(*static_cast<const std::uint64_t*>(value), text);
    case ValueKind::f32: return append_number(*static_cast<const float*>(value), text);
    case ValueKind::f64: return append_number(*static_cast<const double*>(value), text);
    default: return;
  }
}

}  // namespace hummer::formats
