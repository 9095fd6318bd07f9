#include "json_lines.hpp"

#include <algorithm>
#include <array>
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

template <std::size_t most>
class SeenFields {
 public:
  void add(std::size_t begin, std::size_t end) {
    for (; begin < end; ++begin) bits_[begin / 64] |= std::uint64_t{1} << (begin % 64);
  }
  bool has(std::size_t field) const { return (bits_[field / 64] >> (field % 64) & 1) != 0; }

 private:
  std::array<std::uint64_t, most / 64> bits_{};
};

}  // namespace

bool JsonLines::index(std::string_view text, std::size_t readable, Batch& batch) {
  batch_ = &batch;
  text_ = text.data();
  readable_from_ = text_ - readable;
  size_ = text.size();
  passed_ = 0;
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
  at_ = stage_->structural_indexes.get();
  end_ = at_ + stage_->n_structural_indexes;
  return true;
}

bool JsonLines::next(char* record) {
  const std::size_t begin = *at_;
  const void* const newline = std::memchr(text_ + begin, '\n', size_ - begin);
  line_end_ = newline == nullptr
                  ? size_
                  : static_cast<std::size_t>(static_cast<const char*>(newline) - text_);
  if (text_[begin] != '{') return false;
  const Token behind = put_object(shape_, record, at_);
  // What comes next stands behind the line.
  if (behind == nullptr || (behind < end_ && in_line(behind))) return false;
  at_ = behind;
  passed_ = std::min(line_end_ + 1, size_);
  return true;
}

std::size_t JsonLines::line_begin() const {
  const void* const newline = ::memrchr(text_, '\n', *at_);
  return newline == nullptr
             ? 0
             : static_cast<std::size_t>(static_cast<const char*>(newline) - text_) + 1;
}

void JsonLines::skip_line() {
  while (!at_end() && in_line(at_)) ++at_;
  passed_ = std::min(line_end_ + 1, size_);
}

// At an opening brace; to behind the closing one.
JsonLines::Token JsonLines::put_object(const RecordShape& shape, char* record, Token at) {
  const char* const text = text_;
  const std::size_t line_end = line_end_;
  const FieldShape* const fields = shape.fields.data();
  const std::size_t count = shape.fields.size();
  const BoundTimes* const times = &shape == &shape_ && times_.any() ? &times_ : nullptr;
  // Fields came in runs; those of the run at hand are not noted yet.
  SeenFields<largest_record_fields> seen;
  std::size_t run_begin = 0;
  std::size_t expected = 0;
  ++at;
  bool more = !(in_line(at) && text[*at] == '}');
  if (!more) ++at;
  while (more) {
    // A key, a colon and a value.
    if (at[0] >= line_end || at[2] >= line_end) return nullptr;
    if (text[at[0]] != '"' || text[at[1]] != ':') return nullptr;
    const char* const key = text + at[0] + 1;
    at += 2;
    std::size_t field = expected;
    if (expected >= count || !is_key(key, fields[expected])) [[unlikely]] {
      const char* const close = find_close(key);
      if (close == nullptr) return nullptr;
      field = shape.find({key, static_cast<std::size_t>(close - key)});
      seen.add(run_begin, expected);
      run_begin = field == count ? expected : field;
    }
    if (field == count) [[unlikely]] {
      at = options_.refuse_unknown_fields ? nullptr : skip_value(at);
    } else {
      const TimeForm* const time = times == nullptr ? nullptr : times->of(field);
      void* const to = record + fields[field].offset;
      at = time == nullptr ? put(fields[field].value, to, at)
                           : put_time(*time, fields[field].value, to, at);
      expected = field + 1;
    }
    if (at == nullptr || *at >= line_end) return nullptr;
    const char next = text[*at];
    ++at;
    if (next != ',' && next != '}') return nullptr;
    more = next == ',';
  }
  if (!options_.refuse_missing_fields || (run_begin == 0 && expected == count)) return at;
  seen.add(run_begin, expected);
  for (std::size_t i = 0; i < count; ++i) {
    if (!seen.has(i) && !fields[i].value.may_be_missing()) return nullptr;
  }
  return at;
}

// At the first token of a value; to behind its last one. REQUIRES: in_line(at)
[[gnu::always_inline]] inline JsonLines::Token JsonLines::put(const ValueShape& shape, void* to,
                                                              Token at) {
  switch (shape.kind) {
    case ValueKind::view:
    case ValueKind::string: return put_text(shape, to, at);
    case ValueKind::f64: return put_number<double>(to, at);
    case ValueKind::i64: return put_number<std::int64_t>(to, at);
    case ValueKind::i32: return put_number<std::int32_t>(to, at);
    default: return put_other(shape, to, at);
  }
}

JsonLines::Token JsonLines::put_other(const ValueShape& shape, void* to, Token at) {
  switch (shape.kind) {
    case ValueKind::i16: return put_number<std::int16_t>(to, at);
    case ValueKind::i8: return put_number<std::int8_t>(to, at);
    case ValueKind::u64: return put_number<std::uint64_t>(to, at);
    case ValueKind::u32: return put_number<std::uint32_t>(to, at);
    case ValueKind::u16: return put_number<std::uint16_t>(to, at);
    case ValueKind::u8: return put_number<std::uint8_t>(to, at);
    case ValueKind::f32: {
      // Of 16 digits at most, whose size a float can hold.
      double wide = 0;
      at = put_number<double>(&wide, at);
      *static_cast<float*>(to) = static_cast<float>(wide);
      return at;
    }
    case ValueKind::boolean: {
      const bool value = is_word("true", at);
      if (!value && !is_word("false", at)) return nullptr;
      *static_cast<bool*>(to) = value;
      return at + 1;
    }
    case ValueKind::optional:
      shape.clear(to);
      if (text_[*at] != 'n') return put(*shape.element, shape.add(to), at);
      return is_word("null", at) ? at + 1 : nullptr;
    case ValueKind::list: return put_list(shape, to, at);
    case ValueKind::record:
      return text_[*at] == '{' ? put_object(*shape.record, static_cast<char*>(to), at) : nullptr;
    default: return nullptr;
  }
}

template <typename Number>
[[gnu::always_inline]] inline JsonLines::Token JsonLines::put_number(void* to, Token at) {
  const bool taken =
      parse_token(text_ + at[0], text_ + at[1], readable_from_, *static_cast<Number*>(to));
  return taken ? at + 1 : nullptr;
}

// The token is this word, and nothing but white space is behind it.
bool JsonLines::is_word(std::string_view word, Token at) const {
  const std::string_view found(text_ + at[0], at[1] - at[0]);
  return found.starts_with(word) &&
         found.find_first_not_of(" \t\r\n", word.size()) == std::string_view::npos;
}

[[gnu::always_inline]] inline JsonLines::Token JsonLines::put_text(const ValueShape& shape,
                                                                   void* to, Token at) {
  const char* const text = text_ + *at + 1;
  if (text[-1] != '"') return nullptr;
  const char* const close = find_close(text);
  if (close == nullptr) [[unlikely]]
    return put_unescaped(shape, text, to) ? at + 1 : nullptr;
  const std::string_view value(text, static_cast<std::size_t>(close - text));
  if (shape.kind == ValueKind::string) {
    static_cast<std::string*>(to)->assign(value);
  } else {
    *static_cast<std::string_view*>(to) = value;
  }
  return at + 1;
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

JsonLines::Token JsonLines::put_time(const TimeForm& form, const ValueShape& shape, void* to,
                                     Token at) {
  if (shape.kind == ValueKind::optional) {
    shape.clear(to);
    if (text_[*at] == 'n') return is_word("null", at) ? at + 1 : nullptr;
    to = shape.add(to);
  }
  if (text_[*at] != '"') return nullptr;
  const char* const text = text_ + *at + 1;
  const char* const close = find_close(text);
  if (close == nullptr) return nullptr;
  const std::string_view written(text, static_cast<std::size_t>(close - text));
  return form.parse(written, *static_cast<std::int64_t*>(to)) ? at + 1 : nullptr;
}

JsonLines::Token JsonLines::put_list(const ValueShape& shape, void* to, Token at) {
  shape.clear(to);
  if (text_[*at] != '[') return nullptr;
  ++at;
  if (in_line(at) && text_[*at] == ']') return at + 1;
  while (true) {
    if (!in_line(at)) return nullptr;
    at = put(*shape.element, shape.add(to), at);
    if (at == nullptr || !in_line(at)) return nullptr;
    const char next = text_[*at];
    ++at;
    if (next == ']') return at;
    if (next != ',') return nullptr;
  }
}

// A scalar is one token. Of objects and arrays brackets are counted, as the other way does.
JsonLines::Token JsonLines::skip_value(Token at) const {
  std::size_t open = 0;
  do {
    if (!in_line(at)) return nullptr;
    const char first = text_[*at];
    if (first == '{' || first == '[') {
      ++open;
    } else if (open == 0 && (first == '}' || first == ']' || first == ',' || first == ':')) {
      return nullptr;
    } else if (first == '}' || first == ']') {
      --open;
    }
    ++at;
  } while (open > 0);
  return at;
}

}  // namespace hummer::formats
