#include "graph/json_writer.hpp"

#include <fmt/format.h>

#include <hummer/status.hpp>

namespace hummer {
namespace {

// Bytes of the UTF-8 sequence at the start of `text` (RFC 3629), or 0 when it is not one.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  std::size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;  // no surrogates
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return 0;
  }
  if (text.size() < length || byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

void JsonWriter::separate() {
  if (empty_.empty()) return;
  text_ += empty_.back() ? "\n" : ",\n";
  empty_.back() = false;
  text_.append(2 * empty_.size(), ' ');
}

void JsonWriter::key(std::string_view name) {
  separate();
  write_text(name);
  text_ += ": ";
}

void JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  empty_.push_back(true);
}

void JsonWriter::open(std::string_view name, char bracket) {
  key(name);
  text_ += bracket;
  empty_.push_back(true);
}

void JsonWriter::close(char bracket) {
  HUMMER_ASSERT(!empty_.empty());
  const bool was_empty = empty_.back();
  empty_.pop_back();
  if (!was_empty) {
    text_ += '\n';
    text_.append(2 * empty_.size(), ' ');
  }
  text_ += bracket;
}

void JsonWriter::write_text(std::string_view text) {
  text_ += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const unsigned char first = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      text_ += "\\ufffd";
    } else if (first == '"' || first == '\\') {
      text_ += '\\';
      text_ += text[0];
    } else if (first < 0x20) {
      text_ += fmt::format("\\u{:04x}", first);
    } else {
      text_ += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  text_ += '"';
}

std::string JsonWriter::finish() && {
  HUMMER_ASSERT(empty_.empty());
  text_ += '\n';
  return std::move(text_);
}

}  // namespace hummer
