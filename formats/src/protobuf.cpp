#include <hummer/formats/protobuf.hpp>

#include <fstream>
#include <sstream>
#include <utility>

#include "base64.hpp"
#include "protobuf_decoder.hpp"
#include "protobuf_descriptors.hpp"
#include "protobuf_plan.hpp"
#include "protobuf_writer.hpp"
#include "varint.hpp"

namespace hummer::formats {
namespace {

class ProtobufEncoder final : public Encoder {
 public:
  // `registered`: what the registry is told; empty: messages do not name their schema.
  ProtobufEncoder(std::shared_ptr<const ProtobufPlan> plan, ProtobufOptions options,
                  Result<std::string> registered, std::string place)
      : plan_(std::move(plan)),
        options_(std::move(options)),
        registered_(std::move(registered)),
        place_(std::move(place)) {}

  Status open() override {
    if (!registered_.ok()) return registered_.status();
    if (options_.registry == nullptr) return {};
    const Result<std::uint32_t> id = options_.registry->add(
        options_.subject, SchemaRegistry::Language::protobuf, to_base64(*registered_));
    if (!id.ok()) {
      return {id.status().code(),
              "protobuf, subject '" + options_.subject + "': " + id.status().message()};
    }
    message_head_.assign(1, 0);
    append_bytes(__builtin_bswap32(*id), message_head_);
    append_place();
    return {};
  }
  void encode(const void* record, std::string& text) override {
    write_protobuf_delimited(*plan_, record, text);
  }
  void encode_message(const void* record, std::string& text) override {
    text.append(message_head_);
    write_protobuf_message(*plan_, record, text);
  }
  bool has_lines() const override { return false; }

 private:
  void append_place() {
    if (place_ == "0") {
      message_head_.push_back(0);
      return;
    }
    std::istringstream parts(place_);
    std::vector<std::int64_t> indexes;
    for (std::string part; std::getline(parts, part, '.');) indexes.push_back(std::stoll(part));
    append_varint(folded(static_cast<std::int64_t>(indexes.size())), message_head_);
    for (const std::int64_t index : indexes) append_varint(folded(index), message_head_);
  }

  const std::shared_ptr<const ProtobufPlan> plan_;
  const ProtobufOptions options_;
  const Result<std::string> registered_;
  const std::string place_;
  std::string message_head_;
};

class Protobuf final : public Format {
 public:
  explicit Protobuf(ProtobufOptions options) : options_(std::move(options)) {
    if (options_.descriptor_file.empty()) return;
    std::ifstream file(options_.descriptor_file, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    has_file_ = file.good() || file.eof();
    descriptors_ = std::move(text).str();
  }

  std::string_view name() const override { return "protobuf"; }

  Status check(const RecordShape& shape) const override { return make_plan(shape).status(); }
  Status check_writing(const RecordShape& shape) const override {
    const auto plan = make_plan(shape);
    if (!plan.ok()) return plan.status();
    for (const ProtobufMessagePlan& message : (*plan)->messages) {
      if (message.unwritten.empty()) continue;
      return {ErrorCode::invalid_argument,
              "the message has no field for '" + message.unwritten +
                  "', which would not be written: leave it out of the struct"};
    }
    if (options_.registry != nullptr && options_.subject.empty()) {
      return {ErrorCode::invalid_argument,
              "the option subject says under which name the registry has the schema"};
    }
    std::string place;
    return registered(shape, place).status();
  }
  bool has_head() const override { return false; }
  std::unique_ptr<Decoder> make_decoder(const RecordShape& shape) const override {
    return std::make_unique<ProtobufDecoder>(
        shape, options_.registry != nullptr ? nullptr : plan_or_none(shape), options_.registry);
  }
  std::unique_ptr<Encoder> make_encoder(const RecordShape& shape) const override {
    std::string place;
    Result<std::string> schema = registered(shape, place);
    return std::make_unique<ProtobufEncoder>(plan_or_none(shape), options_, std::move(schema),
                                             place);
  }
  std::string head(const RecordShape&) const override { return {}; }
  CapturedValues captured() const override {
    return encoded_values(descriptors_, options_.message, options_.subject,
                          std::string(options_.registry ? options_.registry->captured() : ""));
  }

 private:
  // What can't be planned is refused by check(), and never decodes or encodes.
  std::shared_ptr<const ProtobufPlan> plan_or_none(const RecordShape& shape) const {
    auto plan = make_plan(shape);
    return plan.ok() ? std::shared_ptr<const ProtobufPlan>(std::move(*plan)) : nullptr;
  }
  Result<std::unique_ptr<ProtobufPlan>> make_plan(const RecordShape& shape) const {
    if (options_.descriptor_file.empty()) {
      if (options_.message.empty()) return ProtobufPlan::of_shape(shape);
      return Status(ErrorCode::invalid_argument,
                    "the option message is the name of one in a descriptor_file, which is missing");
    }
    if (!has_file_) {
      return Status(ErrorCode::not_found,
                    "the descriptor_file '" + options_.descriptor_file + "' can't be read");
    }
    const Result<ProtoSchema> schema = read_descriptor_set(descriptors_);
    if (!schema.ok()) {
      return Status(schema.status().code(),
                    "'" + options_.descriptor_file + "': " + schema.status().message());
    }
    return ProtobufPlan::of_message(*schema, options_.message, shape);
  }

  // What a registry is told, and the message's place in it.
  Result<std::string> registered(const RecordShape& shape, std::string& place) const {
    if (options_.registry == nullptr) return std::string();
    if (!options_.descriptor_file.empty()) {
      return descriptor_of(descriptors_, options_.message, place);
    }
    place = "0";
    std::string message;
    const Result<ProtoSchema> schema = schema_of_shape(shape, message);
    if (!schema.ok()) return schema.status();
    return write_descriptor(*schema, message);
  }

  const ProtobufOptions options_;
  bool has_file_ = false;
  std::string descriptors_;
};

}  // namespace

std::shared_ptr<const Format> protobuf(ProtobufOptions options) {
  return std::make_shared<Protobuf>(std::move(options));
}

FileSourceOptions protobuf_file(FileSourceOptions file) {
  file.framing = &protobuf_framing();
  return file;
}

}  // namespace hummer::formats
