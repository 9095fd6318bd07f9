#include "xml.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace hummer::s3 {
namespace {

constexpr std::size_t max_depth = 16;
constexpr std::size_t max_elements = 200'000;
constexpr std::size_t max_name_bytes = 256;
constexpr std::size_t max_reference_bytes = 12;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

void append_utf8(std::string& text, std::uint32_t code) {
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
}

class XmlReader {
 public:
  explicit XmlReader(std::string_view bytes) : bytes_(bytes) {}

  Result<XmlElement> read() {
    if (rest().starts_with("\xEF\xBB\xBF")) at_ += 3;
    HUMMER_TRY(pass_over_others());
    if (at_ == bytes_.size()) return wrong("no element");
    XmlElement root;
    HUMMER_TRY(read_element(root, 1));
    HUMMER_TRY(pass_over_others());
    if (at_ != bytes_.size()) return wrong("something behind the element");
    return root;
  }

 private:
  std::string_view rest() const { return bytes_.substr(at_); }
  Status wrong(const std::string& what) const {
    return {ErrorCode::protocol_error,
            "XML that cannot be read, at byte " + std::to_string(at_) + ": " + what};
  }
  void pass_over_space() {
    while (at_ < bytes_.size() && is_space(bytes_[at_])) ++at_;
  }
  Status pass_over(std::string_view end) {
    const std::size_t found = bytes_.find(end, at_);
    if (found == std::string_view::npos) return wrong("it ends too early");
    at_ = found + end.size();
    return {};
  }
  // Space, comments and instructions ahead of and behind the root.
  Status pass_over_others() {
    for (;;) {
      pass_over_space();
      if (rest().starts_with("<?")) {
        HUMMER_TRY(pass_over("?>"));
      } else if (rest().starts_with("<!--")) {
        HUMMER_TRY(pass_over("-->"));
      } else if (rest().starts_with("<!")) {
        return wrong("a document type");
      } else {
        return {};
      }
    }
  }
  Status read_name(std::string& name) {
    const std::size_t begin = at_;
    while (at_ < bytes_.size() && !is_space(bytes_[at_]) && bytes_[at_] != '>' &&
           bytes_[at_] != '/' && bytes_[at_] != '=' && bytes_[at_] != '<') {
      ++at_;
    }
    name = bytes_.substr(begin, at_ - begin);
    if (name.empty() || name.size() > max_name_bytes) return wrong("no name");
    if (const std::size_t colon = name.rfind(':'); colon != std::string::npos) {
      name.erase(0, colon + 1);
    }
    return {};
  }
  // From behind the name to behind '>'.
  Status pass_over_attributes(bool& is_empty) {
    std::string name;
    for (;;) {
      pass_over_space();
      if (rest().starts_with(">")) {
        ++at_;
        return {};
      }
      if (rest().starts_with("/>")) {
        at_ += 2;
        is_empty = true;
        return {};
      }
      HUMMER_TRY(read_name(name));
      pass_over_space();
      if (!rest().starts_with("=")) return wrong("an attribute without value");
      ++at_;
      pass_over_space();
      if (at_ == bytes_.size() || (bytes_[at_] != '"' && bytes_[at_] != '\'')) {
        return wrong("an attribute's value without quotes");
      }
      const char quote = bytes_[at_++];
      HUMMER_TRY(pass_over({&quote, 1}));
    }
  }
  Status read_reference(std::string& text) {
    const std::size_t end = rest().substr(0, max_reference_bytes).find(';');
    if (end == std::string_view::npos) return wrong("a reference without end");
    const std::string_view name = rest().substr(1, end - 1);
    static constexpr std::pair<std::string_view, char> named[] = {
        {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    for (const auto& [known, c] : named) {
      if (name != known) continue;
      text.push_back(c);
      at_ += end + 1;
      return {};
    }
    if (!name.starts_with("#")) return wrong("a reference that is not known");
    const bool is_hex = name.starts_with("#x");
    const std::string_view digits = name.substr(is_hex ? 2 : 1);
    std::uint32_t code = 0;
    for (const char c : digits) {
      std::uint32_t digit = 16;
      if (c >= '0' && c <= '9') digit = static_cast<std::uint32_t>(c - '0');
      if (is_hex && c >= 'a' && c <= 'f') digit = static_cast<std::uint32_t>(c - 'a') + 10;
      if (is_hex && c >= 'A' && c <= 'F') digit = static_cast<std::uint32_t>(c - 'A') + 10;
      if (digit == 16) return wrong("a reference that is no number");
      code = code * (is_hex ? 16 : 10) + digit;
      if (code > 0x10FFFF) return wrong("a reference to no character");
    }
    if (digits.empty() || code == 0 || (code >= 0xD800 && code < 0xE000)) {
      return wrong("a reference to no character");
    }
    append_utf8(text, code);
    at_ += end + 1;
    return {};
  }
  // REQUIRES: '<' of its begin is next.
  Status read_element(XmlElement& element, std::size_t depth) {
    if (depth > max_depth) return wrong("too many elements in each other");
    if (++elements_ > max_elements) return wrong("too many elements");
    if (!rest().starts_with("<")) return wrong("text outside of an element");
    ++at_;
    HUMMER_TRY(read_name(element.name));
    bool is_empty = false;
    HUMMER_TRY(pass_over_attributes(is_empty));
    if (is_empty) return {};
    for (;;) {
      if (at_ == bytes_.size()) return wrong("it ends too early");
      if (rest().starts_with("</")) {
        at_ += 2;
        std::string name;
        HUMMER_TRY(read_name(name));
        pass_over_space();
        if (name != element.name || !rest().starts_with(">")) return wrong("another element's end");
        ++at_;
        return {};
      }
      if (rest().starts_with("<![CDATA[")) {
        at_ += 9;
        const std::size_t begin = at_;
        HUMMER_TRY(pass_over("]]>"));
        element.text += bytes_.substr(begin, at_ - 3 - begin);
      } else if (rest().starts_with("<!--")) {
        HUMMER_TRY(pass_over("-->"));
      } else if (rest().starts_with("<?")) {
        HUMMER_TRY(pass_over("?>"));
      } else if (rest().starts_with("<")) {
        HUMMER_TRY(read_element(element.children.emplace_back(), depth + 1));
      } else if (rest().starts_with("&")) {
        HUMMER_TRY(read_reference(element.text));
      } else {
        const std::size_t end = std::min(bytes_.find_first_of("<&", at_), bytes_.size());
        element.text += bytes_.substr(at_, end - at_);
        at_ = end;
      }
    }
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::size_t elements_ = 0;
};

}  // namespace

std::string_view XmlElement::text_of(std::string_view child) const {
  for (const XmlElement& each : children) {
    if (each.name == child) return each.text;
  }
  return {};
}

Result<XmlElement> parse_xml(std::string_view bytes) { return XmlReader(bytes).read(); }

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\r': escaped += "&#13;"; break;
      default: escaped.push_back(c);
    }
  }
  return escaped;
}

}  // namespace hummer::s3
