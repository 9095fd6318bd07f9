#include "json_lines.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <string>
#include <system_error>

#include "json_text.hpp"

namespace hummer::formats {
namespace {

constexpr std::size_t least_capacity = 64 << 10;
constexpr std::size_t depth = 1;  // only the second stage would need more

// Of the text between two quotes, with its escapes; the end of what was written, or null where it
// has one that is not plain: \u of more than one unit is left to simdjson.
char* unescape(const char* text, const char* end, char* to) {
  while (text != end) {
    if (*text != '\\') {
      *to++ = *text++;
      continue;
    }
    if (++text == end) return nullptr;
    switch (*text++) {
      case '"': *to++ = '"'; break;
      case '\\': *to++ = '\\'; break;
      case '/': *to++ = '/'; break;
      case 'b': *to++ = '\b'; break;
      case 'f': *to++ = '\f'; break;
      case 'n': *to++ = '\n'; break;
      case 'r': *to++ = '\r'; break;
      case 't': *to++ = '\t'; break;
      case 'u': {
        if (end - text < 4) return nullptr;
        std::uint32_t unit = 0;
        const auto [past, error] = std::from_chars(text, text + 4, unit, 16);
        if (error != std::errc() || past != text + 4 || (unit & 0xF800) == 0xD800) return nullptr;
        text += 4;
        if (unit < 0x80) {
          *to++ = static_cast<char>(unit);
        } else if (unit < 0x800) {
          *to++ = static_cast<char>(0xC0 | unit >> 6);
          *to++ = static_cast<char>(0x80 | (unit & 0x3F));
        } else {
          *to++ = static_cast<char>(0xE0 | unit >> 12);
          *to++ = static_cast<char>(0x80 | (unit >> 6 & 0x3F));
          *to++ = static_cast<char>(0x80 | (unit & 0x3F));
        }
        break;
      }
      default: return nullptr;
    }
  }
  return to;
}

// The quote that ends a text; escaped ones are passed over. REQUIRES: there is one.
const char* find_end_of_text(const char* text) {
  while (*text != '"') text += *text == '\\' ? 2 : 1;
  return text;
}

}  // namespace

bool JsonLines::index(std::string_view text, std::size_t readable, Batch& batch) {
  batch_ = &batch;
  text_ = text.data();
  readable_from_ = text_ - readable;
  size_ = text.size();
  at_ = passed_ = 0;
  if (text.size() > std::numeric_limits<std::uint32_t>::max() - 64) return false;
  if (stage_ == nullptr || stage_->capacity() < text.size()) {
    const std::size_t capacity = std::max(least_capacity, std::bit_ceil(text.size()));
    if (simdjson::get_active_implementation()->create_dom_parser_implementation(
            capacity, depth, stage_) != simdjson::SUCCESS) {
      stage_.reset();
      return false;
    }
  }
  if (stage_->stage1(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                     simdjson::stage1_mode::regular) != simdjson::SUCCESS) {
    return false;
  }
  tokens_ = stage_->structural_indexes.get();
  count_ = stage_->n_structural_indexes;
  return true;
}

bool JsonLines::next(char* record) {
  if (at_ == count_) {
    passed_ = size_;
    return false;
  }
  const std::size_t begin = tokens_[at_];
  const void* const newline = std::memchr(text_ + begin, '\n', size_ - begin);
  line_end_ = newline == nullptr
                  ? size_
                  : static_cast<std::size_t>(static_cast<const char*>(newline) - text_);
  if (token() != '{' || !put_object(shape_, record)) return false;
  // What comes next stands behind the line.
  if (at_ < count_ && in_line(at_)) return false;
  passed_ = std::min(line_end_ + 1, size_);
  return true;
}

// At an opening brace; to behind the closing one.
bool JsonLines::put_object(const RecordShape& shape, char* record) {
  std::uint64_t seen[largest_record_fields / 64] = {};
  const std::size_t count = shape.fields.size();
  std::size_t expected = 0;
  ++at_;
  if (in_line(at_) && token() == '}') {
    ++at_;
    return has_all(shape, seen);
  }
  while (true) {
    // A key, a colon and a value.
    if (!in_line(at_) || !in_line(at_ + 2)) return false;
    if (token() != '"' || text_[tokens_[at_ + 1]] != ':') return false;
    const char* const key = text_ + tokens_[at_] + 1;
    at_ += 2;
    std::size_t field = expected;
    if (expected >= count || !is_key(key, shape.fields[expected])) {
      const char* const close = find_close(key);
      if (close == nullptr) return false;
      field = shape.find({key, static_cast<std::size_t>(close - key)});
    }
    if (field != count) [[likely]] {
      const FieldShape& found = shape.fields[field];
      if (!put(found.value, record + found.offset)) return false;
      seen[field / 64] |= std::uint64_t{1} << (field % 64);
      expected = field + 1;
    } else if (options_.refuse_unknown_fields || !skip_value()) {
      return false;
    }
    if (!in_line(at_)) return false;
    const char next = token();
    ++at_;
    if (next == '}') return has_all(shape, seen);
    if (next != ',') return false;
  }
}

bool JsonLines::has_all(const RecordShape& shape, const std::uint64_t* seen) const {
  if (!options_.refuse_missing_fields) return true;
  const std::size_t count = shape.fields.size();
  for (std::size_t i = 0; i < count; i += 64) {
    const std::uint64_t wanted =
        count - i >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (count - i)) - 1;
    for (std::uint64_t left = wanted & ~seen[i / 64]; left != 0; left &= left - 1) {
      const auto missing = i + static_cast<std::size_t>(std::countr_zero(left));
      if (!shape.fields[missing].value.may_be_missing()) return false;
    }
  }
  return true;
}

// At the first token of a value; to behind its last one. REQUIRES: in_line(at_)
[[gnu::always_inline]] inline bool JsonLines::put(const ValueShape& shape, void* to) {
  switch (shape.kind) {
    case ValueKind::view:
    case ValueKind::string: return put_text(shape, to);
    case ValueKind::f64: return put_number<double>(to);
    case ValueKind::i64: return put_number<std::int64_t>(to);
    case ValueKind::i32: return put_number<std::int32_t>(to);
    case ValueKind::i16: return put_number<std::int16_t>(to);
    case ValueKind::i8: return put_number<std::int8_t>(to);
    case ValueKind::u64: return put_number<std::uint64_t>(to);
    case ValueKind::u32: return put_number<std::uint32_t>(to);
    case ValueKind::u16: return put_number<std::uint16_t>(to);
    case ValueKind::u8: return put_number<std::uint8_t>(to);
    case ValueKind::f32: {
      double wide = 0;
      if (!put_number<double>(&wide)) return false;
      // Of 16 digits at most, all of which a float can hold the size of.
      *static_cast<float*>(to) = static_cast<float>(wide);
      return true;
    }
    default: return put_other(shape, to);
  }
}

bool JsonLines::put_other(const ValueShape& shape, void* to) {
  switch (shape.kind) {
    case ValueKind::boolean: {
      const bool value = is_word("true");
      if (!value && !is_word("false")) return false;
      *static_cast<bool*>(to) = value;
      ++at_;
      return true;
    }
    case ValueKind::optional: {
      shape.clear(to);
      if (token() != 'n') return put(*shape.element, shape.add(to));
      if (!is_word("null")) return false;
      ++at_;
      return true;
    }
    case ValueKind::list: return put_list(shape, to);
    case ValueKind::record:
      return token() == '{' && put_object(*shape.record, static_cast<char*>(to));
    default: return false;
  }
}

template <typename Number>
[[gnu::always_inline]] inline bool JsonLines::put_number(void* to) {
  const char* const begin = text_ + tokens_[at_];
  const char* const end = text_ + tokens_[at_ + 1];
  ++at_;
  return parse_token(begin, end, readable_from_, *static_cast<Number*>(to));
}

// The token is this word, and nothing but white space is behind it.
bool JsonLines::is_word(std::string_view word) const {
  std::string_view found(text_ + tokens_[at_], tokens_[at_ + 1] - tokens_[at_]);
  return found.starts_with(word) &&
         found.find_first_not_of(" \t\r\n", word.size()) == std::string_view::npos;
}

[[gnu::always_inline]] inline bool JsonLines::put_text(const ValueShape& shape, void* to) {
  if (token() != '"') return false;
  const char* const text = text_ + tokens_[at_] + 1;
  ++at_;
  const char* const close = find_close(text);
  if (close == nullptr) [[unlikely]]
    return put_unescaped(shape, text, to);
  const std::string_view value(text, static_cast<std::size_t>(close - text));
  if (shape.kind == ValueKind::string) {
    static_cast<std::string*>(to)->assign(value);
  } else {
    *static_cast<std::string_view*>(to) = value;
  }
  return true;
}

bool JsonLines::put_unescaped(const ValueShape& shape, const char* text, void* to) {
  const char* const end = find_end_of_text(text);
  const auto most = static_cast<std::size_t>(end - text);
  if (shape.kind == ValueKind::string) {
    auto& owned = *static_cast<std::string*>(to);
    owned.resize(most);
    const char* const written = unescape(text, end, owned.data());
    if (written == nullptr) return false;
    owned.resize(static_cast<std::size_t>(written - owned.data()));
    return true;
  }
  char* const made = batch_->allocate_text(most);
  const char* const written = unescape(text, end, made);
  if (written == nullptr) return false;
  *static_cast<std::string_view*>(to) = {made, static_cast<std::size_t>(written - made)};
  return true;
}

bool JsonLines::put_list(const ValueShape& shape, void* to) {
  shape.clear(to);
  if (token() != '[') return false;
  ++at_;
  if (in_line(at_) && token() == ']') {
    ++at_;
    return true;
  }
  while (true) {
    if (!in_line(at_) || !put(*shape.element, shape.add(to))) return false;
    if (!in_line(at_)) return false;
    const char next = token();
    ++at_;
    if (next == ']') return true;
    if (next != ',') return false;
  }
}

// A scalar is one token. Of objects and arrays brackets are counted, as the other way does.
bool JsonLines::skip_value() {
  std::size_t open = 0;
  do {
    if (!in_line(at_)) return false;
    switch (token()) {
      case '{':
      case '[': ++open; break;
      case '}':
      case ']':
        if (open == 0) return false;
        --open;
        break;
      case ',':
      case ':':
        if (open == 0) return false;
        break;
      default: break;
    }
    ++at_;
  } while (open > 0);
  return true;
}

}  // namespace hummer::formats
