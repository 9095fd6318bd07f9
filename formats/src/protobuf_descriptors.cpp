#include "protobuf_descriptors.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include <hummer/detail/record_type.hpp>
#include <hummer/formats/protobuf.hpp>

#include "protobuf_plan.hpp"
#include "protobuf_reader.hpp"
#include "protobuf_writer.hpp"

namespace hummer::formats {
namespace {

// Of Protobuf's own descriptors: what is needed. Messages in messages are bytes, for no type holds
// itself.
struct FieldFlags {
  std::optional<bool> packed = {};
};
struct FieldDescriptor {
  std::string_view name;
  std::int32_t number = 0;
  std::int32_t label = 0;
  std::int32_t type = 0;
  std::optional<std::string_view> type_name = {};
  std::optional<std::string_view> default_value = {};
  std::optional<FieldFlags> options = {};
  std::optional<std::int32_t> oneof_index = {};
  std::optional<bool> proto3_optional = {};
};
struct EnumValueDescriptor {
  std::string_view name;
  std::int32_t number = 0;
};
struct EnumDescriptor {
  std::string_view name;
  std::vector<EnumValueDescriptor> values = {};
};
struct MessageFlags {
  std::optional<bool> map_entry = {};
};
struct MessageDescriptor {
  std::string_view name;
  std::vector<FieldDescriptor> fields = {};
  std::vector<std::string_view> nested = {};
  std::vector<EnumDescriptor> enumerations = {};
  std::optional<MessageFlags> options = {};
};
struct FileDescriptor {
  std::string_view name;
  std::optional<std::string_view> package = {};
  std::vector<std::string_view> imports = {};
  std::vector<std::string_view> messages = {};
  std::vector<EnumDescriptor> enumerations = {};
  std::optional<std::string_view> syntax = {};
};
struct FileDescriptors {
  std::vector<std::string_view> files = {};
};

constexpr std::int32_t label_required = 2;
constexpr std::int32_t label_repeated = 3;

}  // namespace

template <>
inline constexpr auto field_numbers<FieldFlags> = numbered(2);
template <>
inline constexpr auto field_numbers<FieldDescriptor> = numbered(1, 3, 4, 5, 6, 7, 8, 9, 17);
template <>
inline constexpr auto field_numbers<MessageFlags> = numbered(7);
template <>
inline constexpr auto field_numbers<MessageDescriptor> = numbered(1, 2, 3, 4, 7);
template <>
inline constexpr auto field_numbers<FileDescriptor> = numbered(1, 2, 3, 4, 5, 12);

namespace {

// REQUIRES: the text lives as long as the descriptor.
template <typename T>
Status read_as(std::string_view bytes, const char* what, T& descriptor) {
  static const auto plan = [] {
    auto made = ProtobufPlan::of_shape(shape_of<T>());
    (*made)->checks_utf8 = false;
    return std::move(*made);
  }();
  Batch batch;
  ProtobufReader reader;
  reader.begin(*plan, batch);
  if (reader.read(bytes, reinterpret_cast<char*>(&descriptor))) return {};
  return {ErrorCode::corrupt_record, std::string("this is no ") + what + ": " + reader.why()};
}

class DescriptorReading {
 public:
  ProtoSchema schema;

  Status add_file(std::string_view bytes) {
    FileDescriptor file;
    HUMMER_TRY(read_as(bytes, "file descriptor", file));
    if (file.syntax.value_or("proto2") == "editions") {
      return {ErrorCode::corrupt_record,
              std::string(file.name) + ": the syntax is an edition, which is not read yet"};
    }
    proto3_ = file.syntax.value_or("proto2") == "proto3";
    const std::string space(file.package.value_or(""));
    for (const EnumDescriptor& each : file.enumerations) add_enumeration(each, space);
    schema.places.clear();
    for (std::size_t i = 0; i < file.messages.size(); ++i) {
      HUMMER_TRY(add_message(file.messages[i], space, std::to_string(i), 0));
    }
    return {};
  }

 private:
  static std::string in_space(const std::string& space, std::string_view name) {
    return (space.empty() ? "" : space + ".") + std::string(name);
  }

  void add_enumeration(const EnumDescriptor& each, const std::string& space) {
    auto& values = schema.enumerations[in_space(space, each.name)];
    for (const EnumValueDescriptor& value : each.values) {
      values.emplace_back(value.name, value.number);
    }
  }

  Status add_message(std::string_view bytes, const std::string& space, const std::string& place,
                     int depth) {
    constexpr int deepest = 64;
    if (depth == deepest) return {ErrorCode::limit_exceeded, "messages are nested too deeply"};
    MessageDescriptor descriptor;
    HUMMER_TRY(read_as(bytes, "message descriptor", descriptor));
    ProtoMessage message{.name = in_space(space, descriptor.name), .members = {}};
    if (descriptor.options) message.map_entry = descriptor.options->map_entry.value_or(false);
    for (const FieldDescriptor& field : descriptor.fields) {
      if (field.type < 1 || field.type > static_cast<std::int32_t>(ProtoType::sint64) ||
          field.number < 1) {
        return {ErrorCode::corrupt_record,
                message.name + "." + std::string(field.name) + " is of no type, or has no number"};
      }
      ProtoMember member{.name = std::string(field.name),
                         .number = static_cast<std::uint32_t>(field.number),
                         .type = static_cast<ProtoType>(field.type)};
      member.type_name = field.type_name.value_or("");
      if (member.type_name.starts_with('.')) member.type_name.erase(0, 1);
      member.repeated = field.label == label_repeated;
      member.required = field.label == label_required;
      const bool may_be_packed = member.repeated && wire_of(member.type) != ProtoWire::sized;
      const std::optional<bool> packed =
          field.options ? field.options->packed : std::optional<bool>();
      member.packed = may_be_packed && packed.value_or(proto3_);
      const bool chosen = field.oneof_index && !field.proto3_optional.value_or(false);
      if (chosen) member.choice = field.oneof_index;
      member.explicit_presence = !proto3_ || field.oneof_index || member.type == ProtoType::message;
      if (field.default_value) member.default_value = std::string(*field.default_value);
      message.members.push_back(std::move(member));
    }
    for (const EnumDescriptor& each : descriptor.enumerations) {
      add_enumeration(each, message.name);
    }
    schema.places.emplace(place, message.name);
    for (std::size_t i = 0; i < descriptor.nested.size(); ++i) {
      HUMMER_TRY(add_message(descriptor.nested[i], message.name, place + "." + std::to_string(i),
                             depth + 1));
    }
    schema.messages[message.name] = std::move(message);
    return {};
  }

  bool proto3_ = false;
};

// A message as its descriptor, and back to bytes.
template <typename T>
std::string bytes_of(const T& descriptor) {
  static const auto plan = [] {
    auto made = ProtobufPlan::of_shape(shape_of<T>());
    (*made)->checks_utf8 = false;
    return std::move(*made);
  }();
  std::string bytes;
  write_protobuf_message(*plan, &descriptor, bytes);
  return bytes;
}

}  // namespace

std::string_view describe(ProtoType type) {
  static constexpr std::array<std::string_view, 19> names{
      "",        "double",   "float",    "int64",  "uint64",  "int32", "fixed64",
      "fixed32", "bool",     "string",   "group",  "message", "bytes", "uint32",
      "an enum", "sfixed32", "sfixed64", "sint32", "sint64"};
  return names[static_cast<std::size_t>(type)];
}

Result<ProtoSchema> read_descriptor(std::string_view bytes) {
  DescriptorReading reading;
  if (const Status status = reading.add_file(bytes); !status.ok()) return status;
  return std::move(reading.schema);
}

Result<ProtoSchema> read_descriptor_set(std::string_view bytes) {
  FileDescriptors set;
  if (const Status status = read_as(bytes, "descriptor set", set); !status.ok()) return status;
  DescriptorReading reading;
  for (const std::string_view file : set.files) {
    if (const Status status = reading.add_file(file); !status.ok()) return status;
  }
  return std::move(reading.schema);
}

Result<ProtoSchema> find_message(std::string_view set, const std::string& message) {
  Result<ProtoSchema> schema = read_descriptor_set(set);
  if (!schema.ok() || schema->find(message) != nullptr) return schema;
  constexpr int most_listed = 20;
  std::string names;
  int listed = 0;
  for (const auto& [name, each] : schema->messages) {
    if (each.map_entry) continue;
    if (listed++ < most_listed) names += (names.empty() ? "" : ", ") + name;
  }
  if (listed > most_listed) names += ", and " + std::to_string(listed - most_listed) + " more";
  return Status(ErrorCode::invalid_argument,
                (message.empty() ? std::string("no message is named")
                                 : "the descriptors have no message '" + message + "'") +
                    "; they have " + (names.empty() ? "none" : names));
}

Result<std::string> descriptor_of(std::string_view bytes, const std::string& message,
                                  std::string& place) {
  FileDescriptors set;
  if (const Status status = read_as(bytes, "descriptor set", set); !status.ok()) return status;
  for (const std::string_view file : set.files) {
    Result<ProtoSchema> schema = read_descriptor(file);
    if (!schema.ok()) return schema.status();
    const auto found = std::find_if(schema->places.begin(), schema->places.end(),
                                    [&](const auto& each) { return each.second == message; });
    if (found == schema->places.end()) continue;
    FileDescriptor descriptor;
    HUMMER_TRY(read_as(file, "file descriptor", descriptor));
    if (!descriptor.imports.empty()) {
      return Status(ErrorCode::invalid_argument,
                    std::string(descriptor.name) +
                        " imports other files, which is not registered: put all into one file");
    }
    place = found->first;
    return std::string(file);
  }
  return Status(ErrorCode::not_found, "the descriptors have no message " + message);
}

std::string write_descriptor(const ProtoSchema& schema, const std::string& message) {
  std::vector<std::string> parts;
  for (const auto& [place, name] : schema.places) {
    const ProtoMessage& each = schema.messages.at(name);
    MessageDescriptor descriptor{.name = each.name};
    std::vector<std::string> type_names(each.members.size());
    for (std::size_t i = 0; i < each.members.size(); ++i) {
      const ProtoMember& member = each.members[i];
      FieldDescriptor field{.name = member.name,
                            .number = static_cast<std::int32_t>(member.number),
                            .label = member.repeated ? label_repeated : 1,
                            .type = static_cast<std::int32_t>(member.type)};
      if (!member.type_name.empty()) {
        type_names[i] = "." + member.type_name;
        field.type_name = type_names[i];
      }
      descriptor.fields.push_back(field);
    }
    parts.push_back(bytes_of(descriptor));
  }
  const std::string name = message + ".proto";
  FileDescriptor file{.name = name, .syntax = "proto3"};
  file.messages.assign(parts.begin(), parts.end());
  return bytes_of(file);
}

}  // namespace hummer::formats
