#include "base/type_grammar.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

namespace hummer {
namespace {

using Kind = ParsedType::Kind;

constexpr int most_brackets_in_one_another = 64;

bool opens(char c) { return c == '<' || c == '{' || c == '('; }
bool closes(char c) { return c == '>' || c == '}' || c == ')'; }

// Of "i64"; 0: it is no number.
std::size_t number_bytes(std::string_view text) {
  if (text.size() < 2 || (text[0] != 'i' && text[0] != 'u' && text[0] != 'f')) return 0;
  std::size_t bits = 0;
  const auto end = std::from_chars(text.data() + 1, text.data() + text.size(), bits);
  if (end.ptr != text.data() + text.size() || bits % 8 != 0 || bits > 128) return 0;
  const bool known = text[0] == 'f' ? bits == 32 || bits == 64 || bits == 128
                                    : bits == 8 || bits == 16 || bits == 32 || bits == 64;
  return known ? bits / 8 : 0;
}

// Where the last bracket of `text` was opened; npos: nowhere.
std::size_t opening_of_last(std::string_view text) {
  int depth = 0;
  for (std::size_t at = text.size(); at-- > 0;) {
    if (closes(text[at])) ++depth;
    if (opens(text[at]) && --depth == 0) return at;
  }
  return std::string_view::npos;
}

bool parse_whole(std::string_view text, int depth, ParsedType& type);

bool parse_parts(std::string_view inside, int depth, ParsedType& type) {
  while (!inside.empty()) {
    ParsedType& part = type.parts.emplace_back();
    const std::string_view field =
        type.kind == Kind::named ? take_field_name(inside) : std::string_view();
    if (type.kind == Kind::named && field.empty()) return false;
    const std::string_view one = take_type(inside);
    if (!parse_whole(one, depth, part)) return false;
    part.field = field;
    if (inside.empty()) return true;
    if (inside.front() != ',' || inside.size() == 1) return false;
    inside.remove_prefix(1);
  }
  return true;
}

bool parse_array(std::string_view inside, int depth, ParsedType& type) {
  const std::string_view element = take_type(inside);
  if (inside.size() < 2 || inside.front() != ',') return false;
  const char* const end = inside.data() + inside.size();
  const auto count = std::from_chars(inside.data() + 1, end, type.count);
  type.kind = Kind::array;
  return count.ec == std::errc() && count.ptr == end &&
         parse_whole(element, depth, type.parts.emplace_back());
}

struct Head {
  std::string_view text;
  Kind kind;
  std::size_t parts;  // 0: any number
};
constexpr std::array heads = {
    Head{"vector", Kind::sequence, 1}, Head{"optional", Kind::optional, 1},
    Head{"pair", Kind::tuple, 2},      Head{"tuple", Kind::tuple, 0},
    Head{"value", Kind::state, 1},     Head{"list", Kind::state, 1},
    Head{"map", Kind::state, 2},       Head{"aggregate", Kind::state, 1},
    Head{"windows", Kind::state, 2},   Head{"broadcast", Kind::state, 2},
    Head{"table", Kind::state, 2},
};

bool parse_brackets(std::string_view text, int depth, ParsedType& type) {
  const std::size_t open = opening_of_last(text);
  if (open == std::string_view::npos) return false;
  const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  type.head = text.substr(0, open);
  if (text.back() == '}' && text[open] == '{') {
    const char mark = type.head.empty() ? '\0' : type.head.back();
    type.kind = mark == '+' ? Kind::evolving : mark == '#' ? Kind::named : Kind::aggregate;
    if (type.kind != Kind::aggregate) type.head.remove_suffix(1);
    return parse_parts(inside, depth, type);
  }
  if (type.head == "array") return parse_array(inside, depth, type);
  if (type.head == "enum") {
    std::string_view rest = inside;
    type.kind = Kind::enumerator;
    return parse_whole(take_type(rest), depth, type.parts.emplace_back()) &&
           type.parts.front().kind == Kind::number && rest.size() > 1;
  }
  for (const Head& head : heads) {
    if (head.text != type.head) continue;
    type.kind = head.kind;
    return parse_parts(inside, depth, type) && (head.parts == 0 || head.parts == type.parts.size());
  }
  return true;  // unknown, such as a template of the author's
}

bool parse_whole(std::string_view text, int depth, ParsedType& type) {
  if (text.empty() || depth >= most_brackets_in_one_another) return false;
  if (std::count_if(text.begin(), text.end(), opens) !=
      std::count_if(text.begin(), text.end(), closes)) {
    return false;
  }
  type.text = text;
  type.head = text;
  if (closes(text.back())) return parse_brackets(text, depth + 1, type);
  if (const std::size_t bytes = number_bytes(text); bytes != 0) {
    type.kind = Kind::number;
    type.count = bytes;
  } else if (text == "bool") {
    type.kind = Kind::boolean;
  } else if (text == "string" || text == "text") {
    type.kind = Kind::text;
  } else if (text == "text_block") {
    type.kind = Kind::block;
  }
  return true;
}

// Takes bytes, and copies them where somebody wants them.
class Taker {
 public:
  Taker(ByteReader& in, std::string* copy) : in_(in), copy_(copy) {}
  bool take(std::size_t length) {
    const char* const bytes = in_.take(length);
    if (bytes != nullptr && copy_ != nullptr) copy_->append(bytes, length);
    return bytes != nullptr;
  }
  template <typename T>
  bool take_value(T& value) {
    const char* const bytes = in_.take(sizeof value);
    if (bytes == nullptr) return false;
    std::memcpy(&value, bytes, sizeof value);
    if (copy_ != nullptr) copy_->append(bytes, sizeof value);
    return true;
  }
  bool take_all(const std::vector<ParsedType>& parts, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!take(parts[i])) return false;
    }
    return true;
  }
  bool take(const ParsedType& type);

 private:
  ByteReader& in_;
  std::string* const copy_;
};

bool Taker::take(const ParsedType& type) {
  switch (type.kind) {
    case Kind::number: return take(type.count);
    case Kind::boolean: {
      std::uint8_t byte = 0;
      return take_value(byte) && byte <= 1;
    }
    case Kind::block:
      if (!take(sizeof(std::uint64_t))) return false;
      [[fallthrough]];
    case Kind::text: {
      std::uint32_t length = 0;
      return take_value(length) && take(length);
    }
    case Kind::sequence: {
      std::uint32_t count = 0;
      if (!take_value(count)) return false;
      for (std::uint32_t i = 0; i < count; ++i) {
        if (!take(type.parts.front())) return false;
      }
      return true;
    }
    case Kind::optional: {
      std::uint8_t present = 0;
      if (!take_value(present) || present > 1) return false;
      return present == 0 || take(type.parts.front());
    }
    case Kind::array:
      for (std::size_t i = 0; i < type.count; ++i) {
        if (!take(type.parts.front())) return false;
      }
      return true;
    case Kind::evolving: {
      std::uint8_t count = 0;
      return take_value(count) && count <= type.parts.size() && take_all(type.parts, count);
    }
    case Kind::enumerator:
    case Kind::tuple:
    case Kind::aggregate:
    case Kind::named: return take_all(type.parts, type.parts.size());
    case Kind::state:
    case Kind::unknown: return false;
  }
  return false;
}

}  // namespace

std::string_view take_type(std::string_view& rest) {
  int depth = 0;
  std::size_t at = 0;
  for (; at < rest.size(); ++at) {
    const char c = rest[at];
    if (depth == 0 && (c == ',' || closes(c))) break;
    depth += opens(c) ? 1 : closes(c) ? -1 : 0;
  }
  const std::string_view type = rest.substr(0, at);
  rest.remove_prefix(at);
  return type;
}

std::string_view take_field_name(std::string_view& rest) {
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos || rest.find_first_of(",{}<>()") < colon) return {};
  const std::string_view name = rest.substr(0, colon);
  rest.remove_prefix(colon + 1);
  return name;
}

std::optional<ParsedType> parse_type(std::string_view text) {
  std::string_view rest = text;
  ParsedType type;
  if (take_type(rest).size() != text.size() || !parse_whole(text, 0, type)) return std::nullopt;
  return type;
}

bool takes_no_bytes(const ParsedType& type) {
  const bool made_of_parts = type.kind == Kind::aggregate || type.kind == Kind::named ||
                             type.kind == Kind::tuple || type.kind == Kind::array;
  return (type.kind == Kind::array && type.count == 0) ||
         (made_of_parts && std::all_of(type.parts.begin(), type.parts.end(), takes_no_bytes));
}

bool can_pass_over(const ParsedType& type) {
  if (type.kind == Kind::unknown || type.kind == Kind::state) return false;
  // Such a vector is refused by its codec, too; and their number could be anything.
  const bool repeats = type.kind == Kind::sequence || type.kind == Kind::array;
  if (repeats && takes_no_bytes(type.parts.front())) return false;
  return std::all_of(type.parts.begin(), type.parts.end(), can_pass_over);
}

bool pass_over(const ParsedType& type, ByteReader& in, std::string* copy) {
  return Taker(in, copy).take(type);
}

}  // namespace hummer
