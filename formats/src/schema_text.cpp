#include "schema_text.hpp"

#include <algorithm>

#include "utf8.hpp"

namespace hummer::formats {
namespace {

class SchemaTextParser {
 public:
  explicit SchemaTextParser(std::string_view text) : text_(text) {}

  Result<SchemaValue> parse() {
    SchemaValue value;
    HUMMER_TRY(take(value, 0));
    skip_blanks();
    if (at_ != text_.size()) return wrong("more behind its end");
    return value;
  }

 private:
  using Kind = SchemaValue::Kind;

  Status wrong(const std::string& what) const {
    return {ErrorCode::corrupt_record, "no JSON: " + what + " at byte " + std::to_string(at_)};
  }
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }
  bool take_mark(char mark) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != mark) return false;
    ++at_;
    return true;
  }

  Status take(SchemaValue& value, int depth) {
    if (depth > deepest_schema_value) {
      return {ErrorCode::limit_exceeded,
              "more than " + std::to_string(deepest_schema_value) + " values inside of each other"};
    }
    if (take_mark('{')) return take_members(value, depth);
    if (take_mark('[')) return take_items(value, depth);
    if (at_ == text_.size()) return wrong("nothing");
    if (text_[at_] == '"') {
      value.kind = Kind::text;
      return take_text(value.text);
    }
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n,]}", at_), text_.size());
    value.text = text_.substr(at_, end - at_);
    if (value.text == "null") {
      value.kind = Kind::null;
    } else if (value.text == "true" || value.text == "false") {
      value.kind = Kind::boolean;
    } else if (!value.text.empty() &&
               value.text.find_first_not_of("0123456789+-.eE") == std::string::npos) {
      value.kind = Kind::number;
    } else {
      return wrong("no value");
    }
    at_ = end;
    return {};
  }

  Status take_members(SchemaValue& value, int depth) {
    value.kind = Kind::object;
    if (take_mark('}')) return {};
    do {
      skip_blanks();
      if (at_ == text_.size() || text_[at_] != '"') return wrong("no name of a member");
      HUMMER_TRY(take_text(value.names.emplace_back()));
      if (!take_mark(':')) return wrong("no ':'");
      HUMMER_TRY(take(value.items.emplace_back(), depth + 1));
    } while (take_mark(','));
    return take_mark('}') ? Status() : wrong("no '}'");
  }

  Status take_items(SchemaValue& value, int depth) {
    value.kind = Kind::list;
    if (take_mark(']')) return {};
    do {
      HUMMER_TRY(take(value.items.emplace_back(), depth + 1));
    } while (take_mark(','));
    return take_mark(']') ? Status() : wrong("no ']'");
  }

  // REQUIRES: a quote at at_.
  Status take_text(std::string& text) {
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return {};
      }
      if (c != '\\') {
        text.push_back(c);
        continue;
      }
      if (++at_ == text_.size()) break;
      constexpr std::string_view escapes = "\"\\/bfnrt";
      constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
      const std::size_t known = escapes.find(text_[at_]);
      if (known != std::string_view::npos) {
        text.push_back(meant[known]);
      } else if (text_[at_] == 'u') {
        HUMMER_TRY(take_code(text));
      } else {
        return wrong("an unknown escape");
      }
    }
    return at_ < text_.size() ? Status() : wrong("a text without its end");
  }

  // Behind "\u"; stays at the last digit. Halves of a pair follow each other.
  Status take_code(std::string& text) {
    std::uint32_t code = 0;
    if (!take_digits(code)) return wrong("no four hexadecimal digits");
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_ + 1, 2) == "\\u") {
      at_ += 2;
      std::uint32_t low = 0;
      if (!take_digits(low) || low < 0xDC00 || low > 0xDFFF) return wrong("half of a character");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (code >= 0xD800 && code < 0xE000) return wrong("half of a character");
    const auto put = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xC0 | code >> 6);
      put(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      put(0xE0 | code >> 12);
      put(0x80 | (code >> 6 & 0x3F));
      put(0x80 | (code & 0x3F));
    } else {
      put(0xF0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3F));
      put(0x80 | (code >> 6 & 0x3F));
      put(0x80 | (code & 0x3F));
    }
    return {};
  }
  bool take_digits(std::uint32_t& code) {
    constexpr std::string_view digits = "0123456789abcdef";
    if (text_.size() - at_ < 5) return false;
    for (int i = 0; i < 4; ++i) {
      const char c = text_[++at_];
      const std::size_t digit = digits.find(c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c);
      if (digit == std::string_view::npos) return false;
      code = code << 4 | static_cast<std::uint32_t>(digit);
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

const SchemaValue* SchemaValue::find(std::string_view name) const {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return &items[i];
  }
  return nullptr;
}

std::string_view SchemaValue::text_of(std::string_view name) const {
  const SchemaValue* const member = find(name);
  return member != nullptr && member->is(Kind::text) ? std::string_view(member->text)
                                                     : std::string_view();
}

Result<SchemaValue> parse_schema_text(std::string_view text) {
  if (text.size() > largest_schema_bytes) {
    return Status(ErrorCode::limit_exceeded,
                  "more than " + std::to_string(largest_schema_bytes) + " bytes");
  }
  if (!is_utf8(text)) return Status(ErrorCode::corrupt_record, "no JSON: it is no UTF-8");
  return SchemaTextParser(text).parse();
}

void append_quoted(std::string_view value, std::string& text) {
  text.push_back('"');
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      text.push_back('\\');
      text.push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr std::string_view digits = "0123456789abcdef";
      text.append("\\u00");
      text.push_back(digits[static_cast<unsigned char>(c) >> 4]);
      text.push_back(digits[static_cast<unsigned char>(c) & 15]);
    } else {
      text.push_back(c);
    }
  }
  text.push_back('"');
}

}  // namespace hummer::formats
