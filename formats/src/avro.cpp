#include <hummer/formats/avro.hpp>

#include <utility>

#include "avro_container.hpp"
#include "avro_decoder.hpp"
#include "avro_encoder.hpp"

namespace hummer::formats {
namespace {

class Avro final : public Format {
 public:
  explicit Avro(AvroOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return "avro"; }

  Status check(const RecordShape& shape) const override {
    HUMMER_TRY(check_avro_names(shape));
    const auto refused = [](const std::string& why) {
      return Status(ErrorCode::invalid_argument, why);
    };
    if (options_.form == AvroOptions::Form::registry && options_.registry == nullptr) {
      return refused("messages that name their schema by number need the option registry");
    }
    const Result<AvroOptions::Codec> codec = avro_codec_of(avro_codec_name(options_.codec));
    if (!codec.ok()) return refused(codec.status().message());
    for (const std::string& text : options_.other_schemas) {
      const Result<AvroSchema> other = AvroSchema::parse(text);
      if (!other.ok()) return refused("other_schemas: " + other.status().message());
    }
    const Result<AvroSchema> schema = AvroSchema::parse(schema_text(shape));
    if (!schema.ok()) return refused(schema.status().message());
    return {};
  }

  bool has_head() const override { return false; }
  std::unique_ptr<Decoder> make_decoder(const RecordShape& shape) const override {
    return std::make_unique<AvroDecoder>(shape, options_);
  }
  Status check_writing(const RecordShape& shape) const override {
    HUMMER_TRY(check(shape));
    if (options_.form == AvroOptions::Form::registry && options_.subject.empty()) {
      return {ErrorCode::invalid_argument,
              "the option subject says under which name the registry has the schema"};
    }
    return make_writer(shape).status();
  }
  std::unique_ptr<Encoder> make_encoder(const RecordShape& shape) const override {
    return std::make_unique<AvroEncoder>(make_writer(shape), schema_text(shape), options_);
  }
  std::string head(const RecordShape& shape) const override {
    return make_avro_head(schema_text(shape), options_.codec);
  }
  CapturedValues captured() const override {
    return encoded_values(options_.schema, options_.name, options_.codec, options_.form,
                          options_.other_schemas, options_.subject, options_.refuse_missing_fields,
                          options_.aliases, options_.max_block_bytes,
                          std::string(options_.registry ? options_.registry->captured() : ""));
  }

 private:
  std::string schema_text(const RecordShape& shape) const {
    return options_.schema.empty() ? avro_schema_of(shape, options_.name) : options_.schema;
  }
  Result<AvroRecordWriter> make_writer(const RecordShape& shape) const {
    Result<AvroSchema> schema = AvroSchema::parse(schema_text(shape));
    if (!schema.ok()) return schema.status();
    return AvroRecordWriter::make(std::move(*schema), shape);
  }

  const AvroOptions options_;
};

}  // namespace

std::shared_ptr<const Format> avro(AvroOptions options) {
  return std::make_shared<Avro>(std::move(options));
}

FileSourceOptions avro_file(FileSourceOptions file) {
  file.framing = &avro_framing();
  return file;
}

}  // namespace hummer::formats
