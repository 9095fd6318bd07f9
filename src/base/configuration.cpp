#include "base/configuration.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "base/utf8.hpp"

namespace hummer {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_bare(char c) {
  return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '_';
}

// One pass over the text; the first mistake ends it. Failures are kept in status_, and every
// function answers whether there is none.
class Reader {
 public:
  Reader(std::string_view text, Configuration& configuration)
      : text_(text), configuration_(configuration) {}

  Status read() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    while (status_.ok() && at_ < text_.size()) {
      skip_blanks();
      if (peek() == '[') {
        if (read_head()) (void)end_line("a table's name");
      } else if (!at_line_end()) {
        if (read_entry()) (void)end_line("the value");
      } else {
        (void)end_line("nothing");
      }
    }
    return std::move(status_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  bool refuse(std::string what) {
    if (status_.ok()) {
      status_ = {ErrorCode::invalid_configuration,
                 fmt::format("{}: {}", configuration_.place(line_), std::move(what))};
    }
    return false;
  }

  // "'x'", "the line's end" or "the byte 0x0b"
  std::string what_stands_here() const {
    if (at_line_end() && peek() != '#') return "the line's end";
    const auto byte = static_cast<unsigned char>(peek());
    const std::size_t length = utf8_length(text_.substr(at_));
    if (byte < 0x20 || byte == 0x7f || length == 0) return fmt::format("the byte 0x{:02x}", byte);
    return fmt::format("'{}'", text_.substr(at_, length));
  }

  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t') ++at_;
  }

  bool at_line_end() const {
    return at_ >= text_.size() || peek() == '\n' || peek() == '#' ||
           (peek() == '\r' && peek(1) == '\n');
  }

  // A comment, if there is one, and the end of the line.
  bool end_line(std::string_view behind) {
    skip_blanks();
    if (!at_line_end()) {
      return refuse(
          fmt::format("{} stands behind {}; begin a new line", what_stands_here(), behind));
    }
    if (peek() == '#' && !skip_comment()) return false;
    if (peek() == '\r') ++at_;
    if (at_ < text_.size()) ++at_;
    ++line_;
    return true;
  }

  bool skip_comment() {
    while (at_ < text_.size() && peek() != '\n' && !(peek() == '\r' && peek(1) == '\n')) {
      if (!skip_character("a comment")) return false;
    }
    return true;
  }

  // One character of a text or a comment, whole.
  bool skip_character(std::string_view of) {
    const auto byte = static_cast<unsigned char>(peek());
    if ((byte < 0x20 && byte != '\t') || byte == 0x7f) {
      return refuse(fmt::format("{} may not stand in {}", what_stands_here(), of));
    }
    const std::size_t length = utf8_length(text_.substr(at_));
    if (length == 0) return refuse(fmt::format("the byte 0x{:02x} is no UTF-8", byte));
    at_ += length;
    return true;
  }

  bool read_head() {
    ++at_;
    if (peek() == '[') return refuse("[[...]] has no meaning here: write [TABLE]");
    std::string name;
    skip_blanks();
    if (!read_name(name, "a table's name")) return false;
    skip_blanks();
    if (peek() == '.') return refuse("tables have one level here: write [TABLE]");
    if (peek() != ']') {
      return refuse(fmt::format("expected ']' behind '[{}', found {}", name, what_stands_here()));
    }
    ++at_;
    for (const Configuration::TableHead& head : configuration_.tables) {
      if (head.name != name) continue;
      return refuse(fmt::format("the table [{}] is there already, in line {}", name, head.line));
    }
    keys_.clear();
    configuration_.tables.push_back({std::move(name), line_});
    return true;
  }

  bool read_entry() {
    ConfigurationEntry entry;
    entry.line = line_;
    if (!read_name(entry.key, "a key")) return false;
    skip_blanks();
    if (peek() == '.') return refuse("a dotted key: write its table as [TABLE] above it");
    if (peek() != '=') {
      return refuse(
          fmt::format("expected '=' behind '{}', found {}", entry.key, what_stands_here()));
    }
    ++at_;
    if (configuration_.tables.empty()) {
      return refuse(
          fmt::format("'{}' stands in no table; write [job] or the like above it", entry.key));
    }
    entry.table = configuration_.tables.back().name;
    if (!keys_.insert(entry.key).second) {
      return refuse(fmt::format("'{}' is in [{}] twice", entry.key, entry.table));
    }
    skip_blanks();
    entry.is_list = peek() == '[';
    if (entry.is_list ? !read_list(entry) : !read_value(entry.values.emplace_back())) return false;
    configuration_.entries.push_back(std::move(entry));
    return true;
  }

  bool read_name(std::string& name, std::string_view what) {
    if (peek() == '"' || peek() == '\'') {
      if (!read_text(name)) return false;
    } else {
      while (is_bare(peek())) name += text_[at_++];
    }
    if (!name.empty()) return true;
    return refuse(fmt::format("expected {}, found {}", what, what_stands_here()));
  }

  bool read_list(ConfigurationEntry& entry) {
    ++at_;
    while (true) {
      if (!skip_lines()) return false;
      if (peek() == ']') break;
      if (peek() == '[') return refuse("a list in a list: no option takes one");
      if (!read_value(entry.values.emplace_back()) || !skip_lines()) return false;
      if (peek() == ']') break;
      if (peek() != ',') {
        return refuse(fmt::format("expected ',' or ']' in the list of '{}', found {}", entry.key,
                                  what_stands_here()));
      }
      ++at_;
    }
    ++at_;
    return true;
  }

  // Blanks, comments and line ends, which may stand in a list.
  bool skip_lines() {
    while (at_ < text_.size()) {
      skip_blanks();
      if (!at_line_end()) return true;
      if (!end_line("a list")) return false;
    }
    return refuse("a list has no end: expected ']'");
  }

  bool read_value(ConfigurationValue& value) {
    if (peek() == '"' || peek() == '\'') return read_text(value.text);
    if (peek() == '{') return refuse("an inline table: no option takes one");
    const std::size_t begin = at_;
    while (is_bare(peek()) || peek() == '+' || peek() == '.' || peek() == ':') ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word == "true" || word == "false") {
      value.type = ConfigurationValue::Type::on_off;
      value.text = word;
      return true;
    }
    if (read_number(word, value)) return true;
    if (word.empty()) return refuse("expected a value, found " + what_stands_here());
    return refuse(
        fmt::format("'{}' is no value: texts stand in quotes, numbers are like 4 or 1.5, switches "
                    "true or false",
                    word));
  }

  bool read_text(std::string& text) {
    const char quote = peek();
    if (peek(1) == quote && peek(2) == quote) {
      return refuse("a text of several lines: no option takes one");
    }
    ++at_;
    while (peek() != quote) {
      if (at_ >= text_.size() || peek() == '\n' || (peek() == '\r' && peek(1) == '\n')) {
        return refuse(fmt::format("a text has no end: expected {} in this line", quote));
      }
      if (peek() == '\\' && quote == '"') {
        if (!read_escape(text)) return false;
        continue;
      }
      const std::size_t begin = at_;
      if (!skip_character("a text")) return false;
      text += text_.substr(begin, at_ - begin);
    }
    ++at_;
    return true;
  }

  bool read_escape(std::string& text) {
    constexpr std::string_view names = "btnfr\"\\";
    constexpr std::string_view meanings = "\b\t\n\f\r\"\\";
    const char name = peek(1);
    const std::size_t digits = name == 'u' ? 4 : name == 'U' ? 8 : 0;
    const std::size_t found = name == '\0' ? names.npos : names.find(name);
    if (found != names.npos) {
      text += meanings[found];
      at_ += 2;
      return true;
    }
    const std::string_view code = text_.substr(std::min(at_ + 2, text_.size()), digits);
    std::uint32_t point = 0;
    const auto [end, error] = std::from_chars(code.data(), code.data() + code.size(), point, 16);
    if (digits == 0 || code.size() != digits || error != std::errc() ||
        end != code.data() + code.size() || !append_utf8(point, text)) {
      return refuse(
          "an escape that means nothing: \\\\ is a backslash, \\\" a quote; others: \\b \\t \\n "
          "\\f \\r \\uXXXX \\UXXXXXXXX");
    }
    at_ += 2 + digits;
    return true;
  }

  // Whether `word` is one; its text without underscores and in decimal.
  static bool read_number(std::string_view word, ConfigurationValue& value) {
    std::string plain;
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (word[i] != '_') {
        plain += word[i];
      } else if (i == 0 || i + 1 == word.size() || !is_bare(word[i - 1]) || !is_bare(word[i + 1]) ||
                 word[i - 1] == '_' || word[i + 1] == '_') {
        return false;
      }
    }
    return read_integer(plain, value) || read_decimal(plain, value);
  }

  static bool read_integer(std::string_view word, ConfigurationValue& value) {
    int base = 10;
    std::int64_t number = 0;
    if (word.starts_with("0x")) base = 16;
    if (word.starts_with("0o")) base = 8;
    if (word.starts_with("0b")) base = 2;
    std::string_view digits = word;
    if (base != 10) {
      digits.remove_prefix(2);
      if (digits.starts_with('-')) return false;
    } else {
      if (digits.starts_with('+')) digits.remove_prefix(1);
      if (digits.starts_with('-') && digits != word) return false;
      const std::string_view unsigned_digits = digits.substr(digits.starts_with('-') ? 1 : 0);
      if (unsigned_digits.size() > 1 && unsigned_digits.front() == '0') return false;
    }
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
      return false;
    }
    value.type = ConfigurationValue::Type::integer;
    value.text = std::to_string(number);
    return true;
  }

  // TOML wants a digit on both sides of the point, and no zeros in front.
  static bool read_decimal(std::string_view word, ConfigurationValue& value) {
    std::string_view rest = word;
    if (rest.starts_with('+') || rest.starts_with('-')) rest.remove_prefix(1);
    const auto skip_digits = [&rest] {
      std::size_t count = 0;
      while (count < rest.size() && is_digit(rest[count])) ++count;
      rest.remove_prefix(count);
      return count;
    };
    const bool zero_in_front = rest.size() > 1 && rest[0] == '0' && is_digit(rest[1]);
    if (zero_in_front || skip_digits() == 0) return false;
    bool is_decimal = false;
    if (rest.starts_with('.')) {
      rest.remove_prefix(1);
      if (skip_digits() == 0) return false;
      is_decimal = true;
    }
    if (rest.starts_with('e') || rest.starts_with('E')) {
      rest.remove_prefix(1);
      if (rest.starts_with('+') || rest.starts_with('-')) rest.remove_prefix(1);
      if (skip_digits() == 0) return false;
      is_decimal = true;
    }
    if (!rest.empty() || !is_decimal) return false;
    value.type = ConfigurationValue::Type::decimal;
    value.text = word.starts_with('+') ? word.substr(1) : word;
    return true;
  }

  const std::string_view text_;
  Configuration& configuration_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::set<std::string> keys_;  // of the last table
  Status status_;
};

}  // namespace

Result<Configuration> parse_configuration(std::string_view text, std::string file) {
  if (text.size() > max_configuration_bytes) {
    return Status(ErrorCode::invalid_configuration,
                  fmt::format("{}: {} bytes are no configuration; the most is {}", file,
                              text.size(), max_configuration_bytes));
  }
  Configuration configuration;
  configuration.file = std::move(file);
  HUMMER_TRY(Reader(text, configuration).read());
  return configuration;
}

}  // namespace hummer
