#include <cmath>
#include <utility>

#include <hummer/formats/json.hpp>

#include "json_decoder.hpp"
#include "time_form.hpp"
#include "value_text.hpp"

namespace hummer::formats {
namespace {

void append_string(std::string_view value, std::string& text) {
  text.push_back('"');
  std::size_t from = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto c = static_cast<unsigned char>(value[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    text.append(value.substr(from, i - from));
    from = i + 1;
    switch (c) {
      case '"': text.append("\\\""); break;
      case '\\': text.append("\\\\"); break;
      case '\n': text.append("\\n"); break;
      case '\t': text.append("\\t"); break;
      case '\r': text.append("\\r"); break;
      default: {
        constexpr std::string_view digits = "0123456789abcdef";
        text.append("\\u00");
        text.push_back(digits[c >> 4]);
        text.push_back(digits[c & 15]);
      }
    }
  }
  text.append(value.substr(from));
  text.push_back('"');
}

class JsonEncoder final : public Encoder {
 public:
  JsonEncoder(const RecordShape& shape, const TimeFields& times)
      : shape_(shape), times_(shape, times) {}

  void encode(const void* record, std::string& text) override {
    append_object(shape_, record, text, &times_);
    text.push_back('\n');
  }
  void encode_message(const void* record, std::string& text) override {
    append_object(shape_, record, text, &times_);
  }

 private:
  // `times`: of the record itself.
  static void append_object(const RecordShape& shape, const void* record, std::string& text,
                            const BoundTimes* times = nullptr) {
    text.push_back('{');
    bool first = true;
    for (const FieldShape& field : shape.fields) {
      const void* const value = static_cast<const char*>(record) + field.offset;
      if (field.value.kind == ValueKind::optional && field.value.count(value) == 0) continue;
      if (!first) text.push_back(',');
      first = false;
      append_string(field.name, text);
      text.push_back(':');
      const auto number = static_cast<std::size_t>(&field - shape.fields.data());
      const TimeForm* const time = times != nullptr ? times->of(number) : nullptr;
      time == nullptr ? append_value(field.value, value, text)
                      : append_time(*time, field.value, value, text);
    }
    text.push_back('}');
  }

  static void append_time(const TimeForm& time, const ValueShape& shape, const void* value,
                          std::string& text) {
    if (shape.kind == ValueKind::optional) value = shape.at(value, 0);
    std::string written;
    time.append(*static_cast<const std::int64_t*>(value), written);
    append_string(written, text);
  }

  static void append_value(const ValueShape& shape, const void* value, std::string& text) {
    switch (shape.kind) {
      case ValueKind::view:
        return append_string(*static_cast<const std::string_view*>(value), text);
      case ValueKind::string: return append_string(*static_cast<const std::string*>(value), text);
      case ValueKind::optional:
        if (shape.count(value) == 0) {
          text.append("null");
        } else {
          append_value(*shape.element, shape.at(value, 0), text);
        }
        return;
      case ValueKind::list: {
        text.push_back('[');
        const std::size_t count = shape.count(value);
        for (std::size_t i = 0; i < count; ++i) {
          if (i > 0) text.push_back(',');
          append_value(*shape.element, shape.at(value, i), text);
        }
        text.push_back(']');
        return;
      }
      case ValueKind::record: return append_object(*shape.record, value, text);
      case ValueKind::f64:
        if (!std::isfinite(*static_cast<const double*>(value))) break;
        return append_scalar(shape.kind, value, text);
      case ValueKind::f32:
        if (!std::isfinite(*static_cast<const float*>(value))) break;
        return append_scalar(shape.kind, value, text);
      default: return append_scalar(shape.kind, value, text);
    }
    text.append("null");
  }

  const RecordShape& shape_;
  const BoundTimes times_;
};

class Json final : public Format {
 public:
  explicit Json(JsonOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return "json"; }

  Status check(const RecordShape& shape) const override {
    HUMMER_TRY(BoundTimes::check(shape, options_.times));
    return check_size(shape);
  }

  static Status check_size(const RecordShape& shape) {
    if (shape.fields.size() > JsonDecoder::largest_record_fields) {
      return {ErrorCode::invalid_argument,
              "a record has at most " + std::to_string(JsonDecoder::largest_record_fields) +
                  " fields, and this one has " + std::to_string(shape.fields.size()) +
                  ": put some of them into a struct of their own"};
    }
    for (const FieldShape& field : shape.fields) {
      const ValueShape* value = &field.value;
      while (value->element != nullptr) value = value->element;
      if (value->record != nullptr) HUMMER_TRY(check_size(*value->record));
    }
    return {};
  }

  bool has_head() const override { return false; }
  std::unique_ptr<Decoder> make_decoder(const RecordShape& shape) const override {
    return std::make_unique<JsonDecoder>(shape, options_);
  }
  std::unique_ptr<Encoder> make_encoder(const RecordShape& shape) const override {
    return std::make_unique<JsonEncoder>(shape, options_.times);
  }
  std::string head(const RecordShape&) const override { return {}; }
  CapturedValues captured() const override {
    return encoded_values(options_.refuse_missing_fields, options_.refuse_unknown_fields,
                          options_.times);
  }

 private:
  const JsonOptions options_;
};

}  // namespace

std::shared_ptr<const Format> json(JsonOptions options) {
  return std::make_shared<Json>(std::move(options));
}

}  // namespace hummer::formats
