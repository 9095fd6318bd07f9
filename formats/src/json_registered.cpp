#include <cstring>
#include <unordered_map>
#include <utility>

#include <hummer/formats/registered_json.hpp>

#include "schema_text.hpp"
#include "varint.hpp"

namespace hummer::formats {
namespace {

constexpr std::size_t schema_head_bytes = 5;
constexpr std::size_t most_known_json = 1024;

std::string_view json_type_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::boolean: return "boolean";
    case ValueKind::f32:
    case ValueKind::f64: return "number";
    case ValueKind::view:
    case ValueKind::string: return "string";
    case ValueKind::list: return "array";
    case ValueKind::record: return "object";
    default: return "integer";
  }
}

void append_json_schema(const RecordShape& shape, std::string& text);

void append_value_schema(const ValueShape& shape, std::string& text) {
  if (shape.kind == ValueKind::record) return append_json_schema(*shape.record, text);
  text += "{\"type\":\"" + std::string(json_type_of(shape.kind)) + "\"";
  if (shape.kind == ValueKind::list) {
    text += ",\"items\":";
    append_value_schema(*shape.element, text);
  }
  text += '}';
}

void append_json_schema(const RecordShape& shape, std::string& text) {
  std::string required;
  text += "{\"type\":\"object\",\"properties\":{";
  for (const FieldShape& field : shape.fields) {
    if (&field != &shape.fields.front()) text += ',';
    append_quoted(field.name, text);
    text += ':';
    const bool optional = field.value.kind == ValueKind::optional;
    append_value_schema(optional ? *field.value.element : field.value, text);
    if (optional) continue;
    required += required.empty() ? "" : ",";
    append_quoted(field.name, required);
  }
  text += "},\"required\":[" + required + "]}";
}

bool allows(const SchemaValue& property, std::string_view wanted) {
  const SchemaValue* const type = property.find("type");
  if (type == nullptr) return true;
  const auto is = [&](const SchemaValue& each) {
    return each.text == wanted || (wanted == "number" && each.text == "integer");
  };
  if (!type->is(SchemaValue::Kind::list)) return is(*type);
  for (const SchemaValue& each : type->items) {
    if (is(each)) return true;
  }
  return false;
}

// Whether messages of the schema can be records of the shape; why not.
std::string misfit_of(const SchemaValue& schema, const RecordShape& shape) {
  const SchemaValue* const properties = schema.find("properties");
  if (properties == nullptr) return "the schema has no \"properties\"";
  for (const FieldShape& field : shape.fields) {
    const std::string name(field.name);
    const SchemaValue* const property = properties->find(name);
    const bool optional = field.value.kind == ValueKind::optional;
    if (property == nullptr) {
      if (optional) continue;
      return "the schema has no property '" + name + "'";
    }
    const ValueKind kind = optional ? field.value.element->kind : field.value.kind;
    if (!allows(*property, json_type_of(kind))) {
      return "the schema's property '" + name + "' is no " + std::string(json_type_of(kind));
    }
  }
  return {};
}

class RegisteredJsonDecoder final : public Decoder {
 public:
  RegisteredJsonDecoder(const RecordShape& shape, std::unique_ptr<Decoder> decoder,
                        std::shared_ptr<SchemaRegistry> registry)
      : shape_(shape), decoder_(std::move(decoder)), registry_(std::move(registry)) {}

  Status begin(const TextBlock& block, std::size_t& at) override {
    is_file_ = true;
    return decoder_->begin(block, at);
  }
  Outcome decode(std::string_view text, std::size_t& at, Batch& batch, std::size_t limit) override {
    std::size_t inside = at;
    if (!is_file_) {
      Outcome outcome = Outcome::bad_record;
      if (!fits(text, outcome)) return outcome;
      text.remove_prefix(schema_head_bytes);
      inside -= std::min(inside, schema_head_bytes);
    }
    const Outcome outcome = decoder_->decode(text, inside, batch, limit);
    at = inside + (is_file_ ? 0 : schema_head_bytes);
    why_ = decoder_->why();
    return outcome;
  }
  std::size_t end_of_record(std::string_view text, std::size_t at) const override {
    return decoder_->end_of_record(text, at);
  }

 private:
  bool fits(std::string_view text, Outcome& outcome) {
    if (text.size() < schema_head_bytes || text[0] != 0) {
      why_ = "the message does not begin with a byte 0 and the number of its schema";
      return false;
    }
    std::uint32_t id = 0;
    std::memcpy(&id, text.data() + 1, sizeof id);
    id = __builtin_bswap32(id);
    if (good_ && newest_ == id) return true;
    auto known = known_.find(id);
    if (known == known_.end()) {
      const std::string name = "the schema " + std::to_string(id) + ": ";
      const Result<std::string> schema = registry_->schema(id, SchemaRegistry::Language::json);
      std::string why;
      if (!schema.ok()) {
        const ErrorCode code = schema.status().code();
        why = why_ = name + schema.status().message();
        if (code != ErrorCode::not_found && code != ErrorCode::corrupt_record) {
          outcome = Outcome::unavailable;
          return false;
        }
      } else {
        const Result<SchemaValue> value = parse_schema_text(*schema);
        why = value.ok() ? misfit_of(*value, shape_) : value.status().message();
        if (!why.empty()) why = name + why;
      }
      if (known_.size() >= most_known_json) known_.clear();
      known = known_.emplace(id, why).first;
    }
    newest_ = id;
    good_ = known->second.empty();
    why_ = known->second;
    return good_;
  }

  const RecordShape& shape_;
  const std::unique_ptr<Decoder> decoder_;
  const std::shared_ptr<SchemaRegistry> registry_;
  bool is_file_ = false;
  std::unordered_map<std::uint32_t, std::string> known_;  // why not; empty: they fit
  std::uint32_t newest_ = 0;
  bool good_ = false;
};

class RegisteredJsonEncoder final : public Encoder {
 public:
  RegisteredJsonEncoder(const RecordShape& shape, std::unique_ptr<Encoder> encoder,
                        std::shared_ptr<SchemaRegistry> registry, std::string subject)
      : shape_(shape),
        encoder_(std::move(encoder)),
        registry_(std::move(registry)),
        subject_(std::move(subject)) {}

  Status open() override {
    std::string schema;
    append_json_schema(shape_, schema);
    const Result<std::uint32_t> id =
        registry_->add(subject_, SchemaRegistry::Language::json, schema);
    if (!id.ok()) {
      return {id.status().code(), "json, subject '" + subject_ + "': " + id.status().message()};
    }
    head_.assign(1, 0);
    append_bytes(__builtin_bswap32(*id), head_);
    return {};
  }
  void encode(const void* record, std::string& text) override { encoder_->encode(record, text); }
  void encode_message(const void* record, std::string& text) override {
    text.append(head_);
    encoder_->encode_message(record, text);
  }

 private:
  const RecordShape& shape_;
  const std::unique_ptr<Encoder> encoder_;
  const std::shared_ptr<SchemaRegistry> registry_;
  const std::string subject_;
  std::string head_;
};

class RegisteredJson final : public Format {
 public:
  RegisteredJson(std::shared_ptr<SchemaRegistry> registry, std::string subject,
                 const JsonOptions& options)
      : json_(json(options)), registry_(std::move(registry)), subject_(std::move(subject)) {}

  std::string_view name() const override { return "json"; }
  Status check(const RecordShape& shape) const override { return json_->check(shape); }
  Status check_writing(const RecordShape& shape) const override {
    if (!subject_.empty()) return json_->check_writing(shape);
    return {ErrorCode::invalid_argument,
            "the subject says under which name the registry has the schema"};
  }
  bool has_head() const override { return false; }
  std::unique_ptr<Decoder> make_decoder(const RecordShape& shape) const override {
    return std::make_unique<RegisteredJsonDecoder>(shape, json_->make_decoder(shape), registry_);
  }
  std::unique_ptr<Encoder> make_encoder(const RecordShape& shape) const override {
    return std::make_unique<RegisteredJsonEncoder>(shape, json_->make_encoder(shape), registry_,
                                                   subject_);
  }
  std::string head(const RecordShape&) const override { return {}; }
  CapturedValues captured() const override {
    return json_->captured().and_also(encoded_values(subject_, registry_->captured()));
  }

 private:
  const std::shared_ptr<const Format> json_;
  const std::shared_ptr<SchemaRegistry> registry_;
  const std::string subject_;
};

}  // namespace

std::shared_ptr<const Format> registered_json(std::shared_ptr<SchemaRegistry> registry,
                                              std::string subject, JsonOptions options) {
  return std::make_shared<RegisteredJson>(std::move(registry), std::move(subject), options);
}

}  // namespace hummer::formats
