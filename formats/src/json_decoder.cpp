#include "json_decoder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "json_text.hpp"

namespace hummer::formats {
namespace {

using simdjson::error_code;

// After a line that can't be read, so many are read one by one.
constexpr std::size_t lines_after_bad = 32;

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

JsonDecoder::JsonDecoder(const RecordShape& shape, const JsonOptions& options)
    : shape_(shape),
      options_(options),
      times_(shape, options.times),
      lines_(shape, options, times_) {
  parser_.threaded = false;
}

Decoder::Outcome JsonDecoder::decode(std::string_view text, std::size_t& at, Batch& batch,
                                     std::size_t limit) {
  batch_ = &batch;
  RecordRun run(shape_, batch, limit);
  while (at < text.size()) {
    if (is_block_ && lines_by_line_ == 0) {
      if (!put_lines(text, at, run)) return Outcome::bad_record;
      if (at == text.size()) break;
      if (run.full()) return Outcome::full;
      if (lines_by_line_ == 0) continue;
    }
    if (lines_by_line_ > 0) --lines_by_line_;
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (!is_blank(line)) {
      if (run.full()) return Outcome::full;
      const std::size_t readable = is_block_ ? simdjson::SIMDJSON_PADDING : text.size() - end;
      if (!put_line(line, readable, run.next())) return Outcome::bad_record;
      run.keep();
    }
    at = std::min(end + 1, text.size());
  }
  return Outcome::done;
}

bool JsonDecoder::put_lines(std::string_view text, std::size_t& at, RecordRun& run) {
  // About as many as there is room for: the structure of others would be found in vain.
  const std::size_t wanted = (run.room() + 1) * record_bytes_ + 512;
  std::size_t size = text.size() - at;
  if (wanted < size) {
    const std::size_t cut = text.rfind('\n', at + wanted - 1);
    if (cut != std::string_view::npos && cut > at) size = cut + 1 - at;
  }
  const std::size_t begin = at;
  if (!lines_.index(text.substr(begin, size), begin, *batch_)) {
    lines_by_line_ = lines_after_bad;
    return true;
  }
  std::size_t records = 0;
  for (; !run.full() && !lines_.at_end(); ++records) {
    if (!lines_.next(run.next())) {
      if (!put_line(lines_.line(), simdjson::SIMDJSON_PADDING, run.next())) {
        at = begin + lines_.line_begin();
        // Whoever has many bad lines pays for each of them once.
        if (records == 0) lines_by_line_ = lines_after_bad;
        return false;
      }
      lines_.skip_line();
    }
    run.keep();
  }
  if (records > 0) record_bytes_ = lines_.passed() / records + 1;
  at = begin + lines_.passed();
  return true;
}

std::size_t JsonDecoder::end_of_record(std::string_view text, std::size_t at) const {
  std::size_t end = at;
  bool blank = true;
  while (blank && at < text.size()) {
    end = std::min(text.find('\n', at), text.size());
    blank = is_blank(text.substr(at, end - at));
    at = std::min(end + 1, text.size());
  }
  return at;
}

bool JsonDecoder::put_line(std::string_view line, std::size_t readable, char* record) {
  moved_ = 0;
  std::string_view padded = line;
  if (readable < simdjson::SIMDJSON_PADDING) {
    padded_.assign(line);
    padded_.resize(line.size() + simdjson::SIMDJSON_PADDING);
    padded = std::string_view(padded_).substr(0, line.size());
    moved_ = line.data() - padded.data();
  }
  text_begin_ = padded.data();
  simdjson::ondemand::document document;
  if (const error_code error =
          parser_.iterate(padded.data(), padded.size(), padded.size() + simdjson::SIMDJSON_PADDING)
              .get(document)) {
    return bad_line(error);
  }
  simdjson::ondemand::object object;
  if (const error_code error = document.get_object().get(object)) return bad_line(error);
  if (!put_object(shape_, object, record)) return false;
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    why_ = "the object ends before its line does: each line has one";
    return false;
  }
  return true;
}

bool JsonDecoder::put_object(const RecordShape& shape, simdjson::ondemand::object& object,
                             char* record) {
  std::uint64_t seen[largest_record_fields / 64] = {};
  std::size_t expected = 0;
  for (auto each : object) {
    if (const error_code error = each.error()) return bad_line(error);
    // Not copied: a copy would be read back before it is written.
    simdjson::ondemand::field& member = each.value_unsafe();
    const simdjson::ondemand::raw_json_string raw = member.key();
    std::size_t field = expected;
    if (expected >= shape.fields.size() || !is_key(raw.raw(), shape.fields[expected])) {
      std::string_view name;
      if (const error_code error = member.unescaped_key().get(name)) return bad_line(error);
      field = shape.find(name);
      if (field == shape.fields.size()) {
        if (!options_.refuse_unknown_fields) continue;
        why_ = "'" + std::string(name) + "' is no field of " + std::string(shape.name);
        return false;
      }
    }
    const FieldShape& found = shape.fields[field];
    const TimeForm* const time = &shape == &shape_ ? times_.of(field) : nullptr;
    char* const to = record + found.offset;
    if (time != nullptr ? !put_time(found, *time, member.value(), to)
                        : !put(found, found.value, member.value(), to)) {
      return false;
    }
    seen[field / 64] |= std::uint64_t{1} << (field % 64);
    expected = field + 1;
  }
  return !options_.refuse_missing_fields || !missing(shape, seen);
}

bool JsonDecoder::missing(const RecordShape& shape, const std::uint64_t* seen) {
  const std::size_t count = shape.fields.size();
  for (std::size_t i = 0; i < count; i += 64) {
    const std::uint64_t wanted =
        count - i >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (count - i)) - 1;
    for (std::uint64_t left = wanted & ~seen[i / 64]; left != 0; left &= left - 1) {
      const FieldShape& field = shape.fields[i + static_cast<std::size_t>(std::countr_zero(left))];
      if (field.value.may_be_missing()) continue;
      why_ = "the object has no '" + std::string(field.name) +
             "' (a field that may be missing is a std::optional)";
      return true;
    }
  }
  return false;
}

bool JsonDecoder::put(const FieldShape& field, const ValueShape& shape, Value& value, void* to) {
  switch (shape.kind) {
    case ValueKind::view:
    case ValueKind::string: return put_text(field, shape, value, to);
    case ValueKind::f64: {
      if (put_digits<double>(value, to)) return true;
      const error_code error = value.get_double().get(*static_cast<double*>(to));
      return error == simdjson::SUCCESS || bad(field, shape, error);
    }
    case ValueKind::i64: {
      if (put_digits<std::int64_t>(value, to)) return true;
      const error_code error = value.get_int64().get(*static_cast<std::int64_t*>(to));
      return error == simdjson::SUCCESS || bad(field, shape, error);
    }
    case ValueKind::u64: {
      if (put_digits<std::uint64_t>(value, to)) return true;
      const error_code error = value.get_uint64().get(*static_cast<std::uint64_t*>(to));
      return error == simdjson::SUCCESS || bad(field, shape, error);
    }
    case ValueKind::boolean: {
      const error_code error = value.get_bool().get(*static_cast<bool*>(to));
      return error == simdjson::SUCCESS || bad(field, shape, error);
    }
    case ValueKind::i32: return put_integer<std::int32_t>(field, shape, value, to);
    case ValueKind::i16: return put_integer<std::int16_t>(field, shape, value, to);
    case ValueKind::i8: return put_integer<std::int8_t>(field, shape, value, to);
    case ValueKind::u32: return put_integer<std::uint32_t>(field, shape, value, to);
    case ValueKind::u16: return put_integer<std::uint16_t>(field, shape, value, to);
    case ValueKind::u8: return put_integer<std::uint8_t>(field, shape, value, to);
    case ValueKind::f32: {
      double wide = 0;
      const error_code error = value.get_double().get(wide);
      if (error != simdjson::SUCCESS) return bad(field, shape, error);
      if (wide > std::numeric_limits<float>::max() || wide < std::numeric_limits<float>::lowest()) {
        return bad(field, shape, simdjson::NUMBER_OUT_OF_RANGE);
      }
      *static_cast<float*>(to) = static_cast<float>(wide);
      return true;
    }
    case ValueKind::optional: {
      shape.clear(to);
      bool nothing = false;
      if (const error_code error = value.is_null().get(nothing)) return bad(field, shape, error);
      return nothing || put(field, *shape.element, value, shape.add(to));
    }
    case ValueKind::list: return put_list(field, shape, value, to);
    case ValueKind::record: {
      simdjson::ondemand::object object;
      const error_code error = value.get_object().get(object);
      if (error != simdjson::SUCCESS) return bad(field, shape, error);
      if (put_object(*shape.record, object, static_cast<char*>(to))) return true;
      why_ = "in '" + std::string(field.name) + "': " + why_;
      return false;
    }
  }
  return false;
}

template <typename Number>
bool JsonDecoder::put_digits(Value& value, void* to) const {
  // Up to the next token.
  const std::string_view token = value.raw_json_token();
  return parse_token(token.data(), token.data() + token.size(), text_begin_,
                     *static_cast<Number*>(to));
}

template <typename Integer>
bool JsonDecoder::put_integer(const FieldShape& field, const ValueShape& shape, Value& value,
                              void* to) {
  if (put_digits<Integer>(value, to)) return true;
  std::int64_t wide = 0;
  if (const error_code error = value.get_int64().get(wide)) return bad(field, shape, error);
  if (!std::in_range<Integer>(wide)) return bad(field, shape, simdjson::NUMBER_OUT_OF_RANGE);
  *static_cast<Integer*>(to) = static_cast<Integer>(wide);
  return true;
}

bool JsonDecoder::put_text(const FieldShape& field, const ValueShape& shape, Value& value,
                           void* to) {
  // Not taken yet: it may be no text. A text that is one token has its closing quote.
  const char* const begin = value.raw_json_token().data() + 1;
  const char* const close = begin[-1] == '"' ? find_close(begin) : nullptr;
  if (close != nullptr) [[likely]] {
    (void)value.get_raw_json_string();  // goes on behind it
    const std::string_view text(begin, static_cast<std::size_t>(close - begin));
    if (shape.kind == ValueKind::string) {
      static_cast<std::string*>(to)->assign(text);
    } else {
      *static_cast<std::string_view*>(to) = {text.data() + moved_, text.size()};
    }
    return true;
  }
  std::string_view unescaped;
  if (const error_code error = value.get_string().get(unescaped)) return bad(field, shape, error);
  if (shape.kind == ValueKind::string) {
    static_cast<std::string*>(to)->assign(unescaped);
  } else {
    *static_cast<std::string_view*>(to) = batch_->copy_text(unescaped);
  }
  return true;
}

bool JsonDecoder::put_list(const FieldShape& field, const ValueShape& shape, Value& value,
                           void* to) {
  shape.clear(to);
  simdjson::ondemand::array array;
  if (const error_code error = value.get_array().get(array)) return bad(field, shape, error);
  for (auto element : array) {
    Value each;
    if (const error_code error = element.get(each)) return bad(field, shape, error);
    if (!put(field, *shape.element, each, shape.add(to))) return false;
  }
  return true;
}

bool JsonDecoder::put_time(const FieldShape& field, const TimeForm& form, Value& value, void* to) {
  const ValueShape& shape = field.value;
  if (shape.kind == ValueKind::optional) {
    shape.clear(to);
    bool nothing = false;
    if (const error_code error = value.is_null().get(nothing)) return bad(field, shape, error);
    if (nothing) return true;
    to = shape.add(to);
  }
  std::string_view text;
  if (value.get_string().get(text) == simdjson::SUCCESS &&
      form.parse(text, *static_cast<std::int64_t*>(to))) {
    return true;
  }
  why_ = "'" + std::string(field.name) + "' is not a time of the form in `times`";
  return false;
}

bool JsonDecoder::bad(const FieldShape& field, const ValueShape& shape, error_code error) {
  const bool fits = error != simdjson::NUMBER_OUT_OF_RANGE;
  why_ = "'" + std::string(field.name) + "' is not " + std::string(describe(shape.kind)) +
         (fits ? "" : " that it can hold");
  if (error != simdjson::INCORRECT_TYPE && fits) {
    why_ += " (" + std::string(simdjson::error_message(error)) + ")";
  }
  return false;
}

bool JsonDecoder::bad_line(error_code error) {
  why_ = error == simdjson::INCORRECT_TYPE
             ? std::string("the line is no object")
             : "the line is no JSON (" + std::string(simdjson::error_message(error)) + ")";
  return false;
}

}  // namespace hummer::formats
