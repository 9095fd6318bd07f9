#include "base/value_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include <hummer/batch.hpp>

#include "base/utf8.hpp"

namespace hummer {
namespace {

using Kind = ParsedType::Kind;

template <typename T>
bool append_number(ByteReader& in, std::string& json) {
  T value{};
  if (!in.get_value(value)) return false;
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) {
      json += "\"nan\"";
    } else if (std::isinf(value)) {
      json += value < 0 ? "\"-inf\"" : "\"inf\"";
    } else {
      json += fmt::format("{}", value);
    }
  } else {
    json += std::to_string(value);
  }
  return true;
}

bool append_number(const ParsedType& type, ByteReader& in, std::string& json) {
  const std::string_view name = type.text;
  if (name == "i8") return append_number<std::int8_t>(in, json);
  if (name == "i16") return append_number<std::int16_t>(in, json);
  if (name == "i32") return append_number<std::int32_t>(in, json);
  if (name == "i64") return append_number<std::int64_t>(in, json);
  if (name == "u8") return append_number<std::uint8_t>(in, json);
  if (name == "u16") return append_number<std::uint16_t>(in, json);
  if (name == "u32") return append_number<std::uint32_t>(in, json);
  if (name == "u64") return append_number<std::uint64_t>(in, json);
  if (name == "f32") return append_number<float>(in, json);
  if (name == "f64") return append_number<double>(in, json);
  const char* const bytes = in.take(type.count);
  if (bytes == nullptr) return false;
  append_json_hex(name, {bytes, type.count}, json);
  return true;
}

// `count` of the parts, or of the only one.
bool append_array(const ParsedType& type, std::size_t count, ByteReader& in, std::string& json) {
  const bool alike = type.kind == Kind::sequence || type.kind == Kind::array;
  json += '[';
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) json += ',';
    if (!append_json_value(type.parts[alike ? 0 : i], in, json)) return false;
  }
  json += ']';
  return true;
}

bool append_object(const ParsedType& type, ByteReader& in, std::string& json) {
  json += '{';
  for (const ParsedType& part : type.parts) {
    if (&part != &type.parts.front()) json += ',';
    append_json_text(part.field, json);
    json += ':';
    if (!append_json_value(part, in, json)) return false;
  }
  json += '}';
  return true;
}

void end_expiring(Timestamp expires, std::string& json) {
  if (expires != end_of_time) json += ",\"expires_ms\":" + std::to_string(expires) + "}";
}
void begin_expiring(Timestamp expires, std::string& json) {
  if (expires != end_of_time) json += "{\"value\":";
}

bool append_list(const ParsedType& element, ByteReader& in, std::string& json) {
  std::uint32_t count = 0;
  std::uint8_t timed = 0;
  if (!in.get_value(count) || !in.get_value(timed)) return false;
  json += '[';
  for (std::uint32_t i = 0; i < count; ++i) {
    if (in.left() == 0) return false;
    Timestamp expires = end_of_time;
    if (timed != 0 && !in.get_value(expires)) return false;
    if (i > 0) json += ',';
    begin_expiring(expires, json);
    if (!append_json_value(element, in, json)) return false;
    end_expiring(expires, json);
  }
  json += ']';
  return true;
}

bool append_map(const ParsedType& map, ByteReader& in, std::string& json) {
  std::uint32_t count = 0;
  if (!in.get_value(count)) return false;
  json += '[';
  for (std::uint32_t i = 0; i < count; ++i) {
    Timestamp expires = 0;
    if (!in.get_value(expires)) return false;
    json += i > 0 ? ",{\"key\":" : "{\"key\":";
    if (!append_json_value(map.parts[0], in, json)) return false;
    json += ",\"value\":";
    if (!append_json_value(map.parts[1], in, json)) return false;
    if (expires != end_of_time) json += ",\"expires_ms\":" + std::to_string(expires);
    json += '}';
  }
  json += ']';
  return true;
}

// WindowCell (hummer/detail/state/window_states.hpp).
bool append_windows(const ParsedType& windows, ByteReader& in, std::string& json) {
  Timestamp queued = 0;
  std::uint32_t count = 0;
  if (!in.get_value(queued) || !in.get_value(queued) || !in.get_value(count)) return false;
  json += '[';
  for (std::uint32_t i = 0; i < count; ++i) {
    Timestamp start = 0, end = 0;
    std::uint8_t filled = 0;
    if (!in.get_value(start) || !in.get_value(end)) return false;
    json +=
        fmt::format("{}{{\"start_ms\":{},\"end_ms\":{},\"value\":", i > 0 ? "," : "", start, end);
    if (!append_json_value(windows.parts[0], in, json) || !in.get_value(filled) ||
        !pass_over(windows.parts[1], in) || in.take(2 * sizeof(Timestamp)) == nullptr) {
      return false;
    }
    json += '}';
  }
  json += ']';
  return true;
}

}  // namespace

void append_json_text(std::string_view text, std::string& json) {
  json += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto first = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      json += "\\ufffd";
    } else if (first == '"' || first == '\\') {
      json += '\\';
      json += text[0];
    } else if (first < 0x20) {
      json += fmt::format("\\u{:04x}", first);
    } else {
      json += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  json += '"';
}

void append_json_hex(std::string_view type, std::string_view bytes, std::string& json) {
  json += "{\"type\":";
  append_json_text(type, json);
  json += ",\"hex\":\"";
  for (const char byte : bytes) json += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  json += "\"}";
}

bool append_json_value(const ParsedType& type, ByteReader& in, std::string& json) {
  switch (type.kind) {
    case Kind::number: return append_number(type, in, json);
    case Kind::boolean: {
      std::uint8_t byte = 0;
      if (!in.get_value(byte) || byte > 1) return false;
      json += byte != 0 ? "true" : "false";
      return true;
    }
    case Kind::block:
      if (in.take(sizeof(std::uint64_t)) == nullptr) return false;
      [[fallthrough]];
    case Kind::text: {
      std::string_view text;
      if (!in.get_text(text)) return false;
      append_json_text(text, json);
      return true;
    }
    case Kind::sequence: {
      std::uint32_t count = 0;
      return in.get_value(count) && append_array(type, count, in, json);
    }
    case Kind::optional: {
      std::uint8_t present = 0;
      if (!in.get_value(present) || present > 1) return false;
      if (present != 0) return append_json_value(type.parts.front(), in, json);
      json += "null";
      return true;
    }
    case Kind::array: return append_array(type, type.count, in, json);
    case Kind::enumerator: return append_json_value(type.parts.front(), in, json);
    case Kind::evolving: {
      std::uint8_t count = 0;
      return in.get_value(count) && count <= type.parts.size() &&
             append_array(type, count, in, json);
    }
    case Kind::tuple:
    case Kind::aggregate: return append_array(type, type.parts.size(), in, json);
    case Kind::named: return append_object(type, in, json);
    case Kind::state:
    case Kind::unknown: return false;
  }
  return false;
}

bool append_json_cell(const ParsedType& state, std::string_view cell, std::string& json) {
  const bool known = state.kind == Kind::state &&
                     std::all_of(state.parts.begin(), state.parts.end(), can_pass_over) &&
                     !(state.head == "list" && takes_no_bytes(state.parts.front()));
  if (!known) {
    append_json_hex(state.text, cell, json);
    return true;
  }
  ByteReader in(cell);
  if (state.head == "list") {
    return append_list(state.parts[0], in, json) && in.left() == 0;
  }
  if (state.head == "map") return append_map(state, in, json) && in.left() == 0;
  if (state.head == "windows") return append_windows(state, in, json) && in.left() == 0;
  if (state.head != "value" && state.head != "aggregate") {
    append_json_hex(state.text, cell, json);
    return true;
  }
  Timestamp expires = 0;
  if (!in.get_value(expires)) return false;
  begin_expiring(expires, json);
  if (!append_json_value(state.parts[0], in, json) || in.left() != 0) return false;
  end_expiring(expires, json);
  return true;
}

}  // namespace hummer
