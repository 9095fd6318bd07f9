#include "avro_json.hpp"

#include <algorithm>
#include <cstring>

#include "schema_text.hpp"
#include "varint.hpp"

namespace hummer::formats {
namespace {

constexpr const char* data_ends = "the data ends inside of it";

// Decimals of more bytes are shown as bytes: their digits take a step for each byte and digit.
constexpr std::size_t largest_decimal_bytes = 64;

// The digits of a number in two's complement, the highest byte first, with a point.
std::string decimal_of(std::string_view bytes, std::size_t scale) {
  std::string magnitude(bytes);
  const bool negative = !bytes.empty() && (bytes.front() & 0x80) != 0;
  if (negative) {
    unsigned carry = 1;
    for (auto byte = magnitude.rbegin(); byte != magnitude.rend(); ++byte) {
      carry += static_cast<unsigned char>(~static_cast<unsigned char>(*byte));
      *byte = static_cast<char>(carry);
      carry >>= 8;
    }
  }
  std::string digits;  // the lowest first
  while (std::any_of(magnitude.begin(), magnitude.end(), [](char byte) { return byte != 0; })) {
    unsigned rest = 0;
    for (char& byte : magnitude) {
      rest = rest << 8 | static_cast<unsigned char>(byte);
      byte = static_cast<char>(rest / 10);
      rest %= 10;
    }
    digits += static_cast<char>('0' + rest);
  }
  if (digits.size() <= scale) digits.append(scale + 1 - digits.size(), '0');
  if (scale > 0) digits.insert(scale, 1, '.');
  if (negative) digits += '-';
  return {digits.rbegin(), digits.rend()};
}

std::string uuid_of(std::string_view bytes) {
  constexpr std::string_view letters = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += letters[static_cast<unsigned char>(bytes[i]) >> 4];
    text += letters[static_cast<unsigned char>(bytes[i]) & 15];
  }
  return text;
}

void append_duration(std::string_view bytes, std::string& text) {
  const char* name = "{\"months\":";
  for (std::size_t part = 0; part < 3; ++part) {
    std::uint32_t number = 0;
    std::memcpy(&number, bytes.data() + part * sizeof number, sizeof number);
    text += name;
    append_number(number, text);
    name = part == 0 ? ",\"days\":" : ",\"milliseconds\":";
  }
  text += '}';
}

}  // namespace

const char* AvroJson::append(const AvroType& type, const char* at, std::string& text) {
  text_ = &text;
  first_ = text.size();
  place_.clear();
  return value(type, at, 0);
}

std::string AvroJson::why() const { return place_.empty() ? what_ : "'" + place_ + "': " + what_; }

const char* AvroJson::broken(const char* what) {
  what_ = what;
  return nullptr;
}

const char* AvroJson::read_size(const char* at, std::uint64_t& size) {
  at = read_varint(at, end_, size);
  // An odd one is folded of what is below 0.
  if (at == nullptr || (size & 1) != 0) return broken(data_ends);
  size >>= 1;
  return at;
}

const char* AvroJson::value(const AvroType& type, const char* at, int depth) {
  if (depth > deepest_shown_value) return broken("values are nested too deeply");
  if (text_->size() - first_ > most_) return broken("the record is too long");
  std::uint64_t size = 0;
  switch (type.kind) {
    case AvroKind::null: text_->append("null"); return at;
    case AvroKind::boolean:
      if (at == end_) return broken(data_ends);
      if (static_cast<unsigned char>(*at) > 1) return broken("the boolean is neither 0 nor 1");
      text_->append(*at == 1 ? "true" : "false");
      return at + 1;
    case AvroKind::int32:
    case AvroKind::int64: return integer(type, at);
    case AvroKind::float32:
    case AvroKind::float64: return real(type, at);
    case AvroKind::bytes:
    case AvroKind::string:
      at = read_size(at, size);
      return at == nullptr ? nullptr : bytes(type, at, size);
    case AvroKind::fixed: return bytes(type, at, type.size);
    case AvroKind::enumeration:
      at = read_size(at, size);
      if (at == nullptr || size >= type.names.size()) return broken("the enum has no such symbol");
      append_shown_text(type.names[size], *text_);
      return at;
    case AvroKind::record: return record(type, at, depth);
    case AvroKind::list:
    case AvroKind::map: return items(type, at, depth);
    case AvroKind::choice: return branch(type, at, depth);
  }
  return nullptr;
}

const char* AvroJson::integer(const AvroType& type, const char* at) {
  std::uint64_t folded_value = 0;
  at = read_varint(at, end_, folded_value);
  if (at == nullptr) return broken("what stands there is no number, or the data ends inside of it");
  if (type.kind == AvroKind::int32 && folded_value > UINT32_MAX) {
    return broken("the number is no int");
  }
  const std::int64_t number = unfolded(folded_value);
  switch (type.logical) {
    case AvroLogical::date: append_shown_date(number, *text_); break;
    case AvroLogical::time: append_shown_time(number, type.scale, *text_); break;
    case AvroLogical::timestamp: append_shown_moment(number, type.scale, true, *text_); break;
    case AvroLogical::local_timestamp:
      append_shown_moment(number, type.scale, false, *text_);
      break;
    default: append_number(number, *text_);
  }
  return at;
}

const char* AvroJson::real(const AvroType& type, const char* at) {
  const std::size_t size = type.kind == AvroKind::float32 ? sizeof(float) : sizeof(double);
  if (static_cast<std::size_t>(end_ - at) < size) return broken(data_ends);
  if (type.kind == AvroKind::float32) {
    float number = 0;
    std::memcpy(&number, at, size);
    append_shown_real(number, *text_);
  } else {
    double number = 0;
    std::memcpy(&number, at, size);
    append_shown_real(number, *text_);
  }
  return at + size;
}

const char* AvroJson::bytes(const AvroType& type, const char* at, std::uint64_t size) {
  if (size > static_cast<std::size_t>(end_ - at)) return broken(data_ends);
  const std::string_view bytes(at, size);
  if (type.logical == AvroLogical::decimal && size > 0 && size <= largest_decimal_bytes) {
    append_shown_text(decimal_of(bytes, type.scale), *text_);
  } else if (type.logical == AvroLogical::uuid) {
    append_shown_text(uuid_of(bytes), *text_);
  } else if (type.logical == AvroLogical::duration) {
    append_duration(bytes, *text_);
  } else if (type.kind == AvroKind::string) {
    append_shown_text(bytes, *text_);
  } else {
    append_shown_bytes(bytes, *text_);
  }
  return at + size;
}

const char* AvroJson::record(const AvroType& type, const char* at, int depth) {
  text_->push_back('{');
  for (std::size_t i = 0; i < type.parts.size(); ++i) {
    if (i > 0) text_->push_back(',');
    append_quoted(type.names[i], *text_);
    text_->push_back(':');
    at = value(*type.parts[i], at, depth + 1);
    if (at == nullptr) {
      place_ = place_.empty() ? type.names[i] : type.names[i] + "." + place_;
      return nullptr;
    }
  }
  text_->push_back('}');
  return at;
}

const char* AvroJson::items(const AvroType& type, const char* at, int depth) {
  const bool map = type.kind == AvroKind::map;
  text_->push_back(map ? '{' : '[');
  bool first = true;
  while (true) {
    std::uint64_t folded_count = 0;
    at = read_varint(at, end_, folded_count);
    if (at == nullptr) return broken(data_ends);
    const std::int64_t said = unfolded(folded_count);
    std::uint64_t count = static_cast<std::uint64_t>(said);
    if (said < 0) {
      // The size of the elements follows, which are read anyway.
      count = 0 - count;
      std::uint64_t size = 0;
      at = read_size(at, size);
      if (at == nullptr) return nullptr;
    }
    if (count == 0) break;
    for (; count > 0; --count) {
      if (!first) text_->push_back(',');
      first = false;
      if (map) {
        std::uint64_t size = 0;
        at = read_size(at, size);
        if (at == nullptr || size > static_cast<std::size_t>(end_ - at)) return broken(data_ends);
        append_shown_text({at, size}, *text_);
        text_->push_back(':');
        at += size;
      }
      at = value(*type.element, at, depth + 1);
      if (at == nullptr) return nullptr;
    }
  }
  text_->push_back(map ? '}' : ']');
  return at;
}

const char* AvroJson::branch(const AvroType& type, const char* at, int depth) {
  std::uint64_t which = 0;
  at = read_size(at, which);
  if (at == nullptr || which >= type.parts.size()) return broken("the union has no such branch");
  return value(*type.parts[which], at, depth + 1);
}

}  // namespace hummer::formats
