#include "base/json_writer.hpp"

#include <cmath>

#include <fmt/format.h>

#include <hummer/status.hpp>

#include "base/utf8.hpp"

namespace hummer {
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

void JsonWriter::write_real(double value) {
  // Without the sign of a zero, which readers lose.
  text_ += std::isfinite(value) ? fmt::format("{:.9g}", value == 0 ? 0 : value) : "null";
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
