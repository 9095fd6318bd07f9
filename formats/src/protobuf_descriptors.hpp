// ProtoSchema: the messages of a .proto file, out of its descriptor: what of it reading and writing
// need. The descriptor is itself a message of Protobuf, and is read by our own decoder.
//
//   Result<ProtoSchema> schema = read_descriptor_set(bytes);    // of protoc --descriptor_set_out
//   const ProtoMessage* message = schema->find("acme.Trade");
//
// Errors: corrupt_record for bytes that are no descriptor. Thread: immutable.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hummer/status.hpp>

namespace hummer::formats {

// The numbers are those of descriptors.
enum class ProtoType : std::uint8_t {
  float64 = 1,
  float32 = 2,
  int64 = 3,
  uint64 = 4,
  int32 = 5,
  fixed64 = 6,
  fixed32 = 7,
  boolean = 8,
  string = 9,
  group = 10,
  message = 11,
  bytes = 12,
  uint32 = 13,
  enumeration = 14,
  sfixed32 = 15,
  sfixed64 = 16,
  sint32 = 17,
  sint64 = 18,
};
std::string_view describe(ProtoType type);

struct ProtoMember {
  std::string name;
  std::uint32_t number = 0;
  ProtoType type = ProtoType::int32;
  std::string type_name = {};  // of message and enumeration: the full one, without the dot ahead
  bool repeated = false;
  bool required = false;
  bool packed = false;
  bool explicit_presence = false;           // whether a message knows that it is there
  std::optional<std::int32_t> choice = {};  // the oneof that it is a member of
  std::optional<std::string> default_value = {};
};

struct ProtoMessage {
  std::string name;
  std::vector<ProtoMember> members;
  bool map_entry = false;  // of a key and a value: what repeats it is a map
};

struct ProtoSchema {
  std::map<std::string, ProtoMessage> messages;
  // The names and numbers of an enumeration's values, in order.
  std::map<std::string, std::vector<std::pair<std::string, std::int32_t>>> enumerations;
  // The full names of a file's messages by place: "0" is the first one, "0.2" the third in it.
  std::map<std::string, std::string> places;

  const ProtoMessage* find(const std::string& name) const {
    const auto found = messages.find(name);
    return found == messages.end() ? nullptr : &found->second;
  }
};

// A FileDescriptorSet, and a FileDescriptorProto.
Result<ProtoSchema> read_descriptor_set(std::string_view bytes);
Result<ProtoSchema> read_descriptor(std::string_view bytes);
// Of a descriptor set that must have the message: else invalid_argument, which lists those it has.
Result<ProtoSchema> find_message(std::string_view set, const std::string& message);
// Of a descriptor set: the FileDescriptorProto that has the message; not_found, or invalid_argument
// where it needs other files.
Result<std::string> descriptor_of(std::string_view set, const std::string& message,
                                  std::string& place);

// What a registry is told about records that are numbered by their struct: a FileDescriptorProto
// with `message` and what is in it.
std::string write_descriptor(const ProtoSchema& schema, const std::string& message);

}  // namespace hummer::formats
