#include <memory>
#include <string>
#include <utility>

#include <hummer/formats/look.hpp>

#include "protobuf_decoder.hpp"
#include "protobuf_descriptors.hpp"
#include "protobuf_json.hpp"
#include "varint.hpp"

namespace hummer::formats {
namespace {

class ProtobufLook final : public RecordLook {
 public:
  ProtobufLook(ProtoSchema schema, const std::string& message)
      : schema_(std::move(schema)), json_(schema_, *schema_.find(message)) {}

  Status check() const { return json_.check(); }
  std::string_view unit_name() const override { return "message"; }
  Result<std::size_t> begin(std::string_view) override { return std::size_t{0}; }
  Result<Unit> unit(std::string_view text) const override {
    const Result<std::size_t> size = protobuf_framing().unit_bytes(text);
    if (!size.ok()) return size.status();
    return Unit{*size, 1};
  }

  Status records(std::string_view unit, const Listener& each) override {
    std::uint64_t size = 0;
    const char* const end = unit.data() + unit.size();
    const char* const at = read_varint(unit.data(), end, size);
    text_.clear();
    if (!json_.append({at, static_cast<std::size_t>(end - at)}, text_)) {
      return {ErrorCode::corrupt_record, json_.why()};
    }
    each(text_);
    return {};
  }

 private:
  const ProtoSchema schema_;
  ProtobufJson json_;
  std::string text_;  // of one message, again and again
};

}  // namespace

Result<std::unique_ptr<RecordLook>> look_at_protobuf(std::string_view descriptors,
                                                     const std::string& message) {
  Result<ProtoSchema> schema = find_message(descriptors, message);
  if (!schema.ok()) return schema.status();
  auto look = std::make_unique<ProtobufLook>(std::move(*schema), message);
  if (const Status status = look->check(); !status.ok()) return status;
  return std::unique_ptr<RecordLook>(std::move(look));
}

}  // namespace hummer::formats
