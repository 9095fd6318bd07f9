// Any bytes as Protobuf: as a message by fields' numbers, whose record is written and read again to
// the same; as a file of messages; as a descriptor, by whose first message the rest is read, also
// to JSON and into C++; and as JSON, by a message of all that there is.
#include <optional>

#include <hummer/formats/infer.hpp>

#include "base64.hpp"
#include "protobuf_decoder.hpp"
#include "protobuf_descriptors.hpp"
#include "protobuf_json.hpp"
#include "protobuf_writer.hpp"
#include "schema_text.hpp"

namespace {

using namespace hummer::formats;

struct Inner {
  std::string_view venue;
  std::vector<std::int64_t> lots;
};
struct Fields {
  std::int32_t size = 3;
  std::string_view name;
  std::optional<double> price;
  std::int8_t small = 0;
  std::vector<Inner> list;
  std::optional<Inner> inner;
  std::string text;
  bool flag = false;
  std::vector<float> reals;
};

std::optional<std::string> read_and_write(const std::shared_ptr<const ProtobufPlan>& plan,
                                          std::string_view text) {
  const auto copy = std::make_unique<char[]>(text.size());
  std::copy(text.begin(), text.end(), copy.get());
  ProtobufDecoder decoder(shape_of<Fields>(), plan, nullptr);
  hummer::Batch batch(hummer::type_of<Fields>(), 1);
  std::size_t at = 0;
  if (decoder.decode({copy.get(), text.size()}, at, batch, 1) != Decoder::Outcome::done) {
    if (decoder.why().empty()) __builtin_trap();
    return {};
  }
  std::string written;
  write_protobuf_message(*plan, batch.values<Fields>().data(), written);
  return written;
}

void show(const ProtoSchema& schema, const ProtoMessage& message, std::string_view bytes) {
  constexpr std::size_t most_bytes = 1 << 14;
  ProtobufJson json(schema, message, most_bytes);
  if (!json.check().ok()) return;
  const auto copy = std::make_unique<char[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.get());
  std::string text;
  if (!json.append({copy.get(), bytes.size()}, text)) {
    if (json.why().empty()) __builtin_trap();
    return;
  }
  const auto value = parse_schema_text(text);
  if (!value.ok() && value.status().code() == hummer::ErrorCode::corrupt_record) __builtin_trap();
}

// A message of all types, alone, repeated and in a oneof; of a map, a group, itself and those of
// Protobuf's own.
ProtoSchema all_there_is() {
  ProtoSchema schema;
  schema.enumerations["Kind"] = {{"NONE", 0}, {"SOME", -1}};
  schema.messages["Entry"] = {
      .name = "Entry",
      .members = {{.name = "key", .number = 1, .type = ProtoType::sint32},
                  {.name = "value", .number = 2, .type = ProtoType::message, .type_name = "All"}},
      .map_entry = true};
  ProtoMessage all{.name = "All", .members = {}};
  const auto add = [&](ProtoType type, const char* type_name) -> ProtoMember& {
    const auto number = static_cast<std::uint32_t>(all.members.size() + 1);
    return all.members.emplace_back(ProtoMember{.name = "f" + std::to_string(number),
                                                .number = number,
                                                .type = type,
                                                .type_name = type_name});
  };
  for (int type = 1; type <= static_cast<int>(ProtoType::sint64); ++type) {
    const auto each = static_cast<ProtoType>(type);
    const bool holds = each == ProtoType::message || each == ProtoType::group;
    const char* const name = holds ? "All" : "Kind";
    add(each, name).explicit_presence = holds;
    add(each, name).repeated = true;
    ProtoMember& chosen = add(each, name);
    chosen.choice = 0;
    chosen.explicit_presence = true;
  }
  add(ProtoType::message, "Entry").repeated = true;
  for (const char* name : {"google.protobuf.Timestamp", "google.protobuf.Duration",
                           "google.protobuf.StringValue", "google.protobuf.Int64Value"}) {
    add(ProtoType::message, name).repeated = true;
  }
  schema.messages["All"] = std::move(all);
  return schema;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  static const std::shared_ptr<const ProtobufPlan> plan =
      std::move(*ProtobufPlan::of_shape(shape_of<Fields>()));
  if ((data[0] & 3) == 0) {
    const auto schema = read_descriptor_set(text);
    if (!schema.ok() || schema->messages.empty()) return 0;
    const auto& name = schema->messages.begin()->first;
    auto other = ProtobufPlan::of_message(*schema, name, shape_of<Fields>());
    std::string place;
    (void)descriptor_of(text, name, place);
    show(*schema, schema->messages.begin()->second, text);
    (void)infer_protobuf(text, name, "Record", "x.desc", "");
    if (!other.ok()) return 0;
    (void)read_and_write(std::move(*other), text);
  } else if ((data[0] & 3) == 1) {
    ProtobufDecoder decoder(shape_of<Fields>(), plan, nullptr);
    const hummer::TextBlock block{text.data(), text.size(), 0, nullptr};
    hummer::Batch batch(hummer::type_of<Fields>(), 16);
    std::size_t at = 0;
    if (!decoder.begin(block, at).ok()) __builtin_trap();
    auto outcome = Decoder::Outcome::full;
    while (outcome == Decoder::Outcome::full || outcome == Decoder::Outcome::bad_record) {
      batch.clear();
      const std::size_t before = at;
      outcome = decoder.decode(text, at, batch, (data[0] >> 2) + 1U);
      if (outcome == Decoder::Outcome::bad_record) {
        (void)decoder.skip_record(text, at);
        if (at <= before && batch.empty()) __builtin_trap();
      }
    }
  } else if ((data[0] & 3) == 3) {
    static const ProtoSchema schema = all_there_is();
    show(schema, *schema.find("All"), text);
  } else {
    const auto written = read_and_write(plan, text);
    if (!written) return 0;
    if (read_and_write(plan, *written) != written) __builtin_trap();
    if (from_base64(to_base64(*written)) != written) __builtin_trap();
  }
  return 0;
}
