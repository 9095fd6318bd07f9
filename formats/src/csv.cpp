#include <algorithm>
#include <stdexcept>
#include <utility>

#include <hummer/formats/csv.hpp>

#include "csv_decoder.hpp"
#include "csv_text.hpp"
#include "time_form.hpp"
#include "value_text.hpp"

namespace hummer::formats {
namespace {

class CsvEncoder final : public Encoder {
 public:
  CsvEncoder(const RecordShape& shape, CsvOptions options)
      : shape_(shape), options_(std::move(options)), times_(shape, options_.times) {}

  void encode(const void* record, std::string& text) override {
    encode_message(record, text);
    text.push_back('\n');
  }

  void encode_message(const void* record, std::string& text) override {
    const std::size_t before = text.size();
    for (const FieldShape& field : shape_.fields) {
      if (&field != &shape_.fields.front()) text.push_back(options_.separator);
      const void* value = static_cast<const char*>(record) + field.offset;
      ValueKind kind = field.value.kind;
      const bool optional = kind == ValueKind::optional;
      if (optional) {
        if (field.value.count(value) == 0) {
          text.append(options_.null_text);
          continue;
        }
        value = field.value.at(value, 0);
        kind = field.value.element->kind;
      }
      const auto number = static_cast<std::size_t>(&field - shape_.fields.data());
      if (const TimeForm* const time = times_.of(number); time != nullptr) [[unlikely]] {
        time_.clear();
        time->append(*static_cast<const std::int64_t*>(value), time_);
        append_text(time_, optional, text);
      } else if (kind == ValueKind::view) {
        append_text(*static_cast<const std::string_view*>(value), optional, text);
      } else if (kind == ValueKind::string) {
        append_text(*static_cast<const std::string*>(value), optional, text);
      } else {
        append_scalar(kind, value, text);
      }
    }
    // An empty line would be passed over.
    if (text.size() == before && options_.quote != 0) text.append(2, options_.quote);
  }

  void append_text(std::string_view value, bool optional, std::string& text) const {
    const bool like_nothing = optional && (value.empty() || value == options_.null_text);
    if (!like_nothing && !needs_quotes(value, options_.separator, options_.quote)) {
      text.append(value);
      return;
    }
    if (options_.quote == 0) {
      throw std::invalid_argument("csv: " + shown(value) +
                                  " cannot be written without quotes: set the option quote");
    }
    text.push_back(options_.quote);
    for (const char c : value) {
      if (c == options_.quote) text.push_back(c);
      text.push_back(c);
    }
    text.push_back(options_.quote);
  }

 private:
  const RecordShape& shape_;
  const CsvOptions options_;
  const BoundTimes times_;
  std::string time_;
};

class Csv final : public Format {
 public:
  explicit Csv(CsvOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return "csv"; }

  Status check(const RecordShape& shape) const override {
    const auto refused = [](const std::string& why) {
      return Status{ErrorCode::invalid_argument, why};
    };
    const auto is_mark = [](char c) { return c != '\n' && c != '\r'; };
    if (!is_mark(options_.separator) || !is_mark(options_.quote) || options_.separator == 0 ||
        options_.separator == options_.quote) {
      return refused("separator and quote must be two different characters, and no line ends");
    }
    if (shape.fields.empty()) return refused("the record has no fields");
    for (const FieldShape& field : shape.fields) {
      const ValueShape& value =
          field.value.kind == ValueKind::optional ? *field.value.element : field.value;
      if (value.kind < ValueKind::optional) continue;
      return refused("the field '" + std::string(field.name) + "' is " +
                     std::string(describe(value.kind)) +
                     ", which a row of CSV can't hold: use numbers, bool, text and optionals");
    }
    if (options_.header && !options_.columns.empty()) {
      return refused(
          "a header says what the columns are: leave out `columns`, or set header to "
          "false");
    }
    for (const FieldShape& field : shape.fields) {
      if (options_.columns.empty() || field.value.may_be_missing()) continue;
      const auto& names = options_.columns;
      if (std::find(names.begin(), names.end(), field.name) != names.end()) continue;
      return refused("`columns` has no '" + std::string(field.name) + "', which the record needs");
    }
    return BoundTimes::check(shape, options_.times);
  }

  bool has_head() const override { return options_.header; }

  std::unique_ptr<Decoder> make_decoder(const RecordShape& shape) const override {
    return std::make_unique<CsvDecoder>(shape, options_);
  }
  std::unique_ptr<Encoder> make_encoder(const RecordShape& shape) const override {
    return std::make_unique<CsvEncoder>(shape, options_);
  }

  std::string head(const RecordShape& shape) const override {
    if (!options_.header) return {};
    const CsvEncoder encoder(shape, options_);
    std::string text;
    for (const FieldShape& field : shape.fields) {
      if (!text.empty()) text.push_back(options_.separator);
      encoder.append_text(field.name, false, text);
    }
    return text + '\n';
  }

  CapturedValues captured() const override {
    return encoded_values(options_.header, options_.separator, options_.quote, options_.line_breaks,
                          options_.columns, options_.null_text, options_.refuse_unknown_columns,
                          options_.times);
  }

 private:
  const CsvOptions options_;
};

}  // namespace

std::shared_ptr<const Format> csv(CsvOptions options) {
  return std::make_shared<Csv>(std::move(options));
}

FileSourceOptions csv_file(const CsvOptions& options, FileSourceOptions file) {
  file.repeat_first_line = options.header;
  if (options.line_breaks == CsvOptions::LineBreaks::quoted) file.quote = options.quote;
  return file;
}

}  // namespace hummer::formats
