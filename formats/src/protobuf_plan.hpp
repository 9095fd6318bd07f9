// ProtobufPlan: which member of a struct each field of a message is for, found out once.
//
//   auto plan = ProtobufPlan::of_shape(shape_of<Trade>());                 // fields by number
//   auto plan = ProtobufPlan::of_message(schema, "acme.Trade", shape_of<Trade>());
//
// Plans of messages in messages stand beside the first one, and refer to each other by their
// places.
//
// Errors: invalid_argument, with the field's path. Thread: immutable.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/formats/record_shape.hpp>

#include "protobuf_descriptors.hpp"

namespace hummer::formats {

enum class ProtoWire : std::uint8_t {
  varint = 0,
  fixed64 = 1,
  sized = 2,
  group = 3,
  end = 4,
  fixed32 = 5
};

ProtoWire wire_of(ProtoType type);

// The ways of a value into a member that is neither optional nor a list, where nothing is to be
// looked at but the value: those of most fields.
enum class ProtobufShortcut : std::uint8_t { none, varint64, varint32, fixed64, fixed32, text };

struct ProtobufField {
  std::uint32_t tag = 0;  // number and wire type of one value
  ProtoType type = ProtoType::int32;
  ValueKind kind = ValueKind::record;  // of one value in the struct
  ProtobufShortcut shortcut = ProtobufShortcut::none;
  bool direct = false;  // as read, it is what the member holds
  bool repeated = false;
  bool optional = false;  // a std::optional
  bool packed = false;    // as it is written
  bool explicit_presence = false;
  std::uint8_t required_bit = 0;  // 0: it is not; else 1 + which one
  std::uint32_t offset = 0;
  std::uint32_t message = 0;          // in ProtobufPlan::messages
  const ValueShape* shape = nullptr;  // of the member
  const FieldShape* field = nullptr;
  std::vector<std::uint32_t> rivals = {};  // of a oneof: the fields that it empties

  std::uint32_t number() const { return tag >> 3; }
};

// What a member is where the message does not have it, and its initialiser is another value.
struct ProtobufDefault {
  ValueKind kind = ValueKind::record;
  std::uint32_t offset = 0;
  std::uint64_t bits = 0;
  std::string text = {};
  const ValueShape* shape = nullptr;  // of optional and list: to be emptied
};

struct ProtobufMessagePlan {
  static constexpr std::uint32_t unknown = UINT32_MAX;

  std::vector<ProtobufField> fields;         // by their numbers
  std::array<std::uint8_t, 64> by_number{};  // of fields with small numbers: 1 + which one, 0: none
  std::uint64_t required = 0;                // the bits of those
  std::vector<ProtobufDefault> defaults;
  std::string unwritten;  // the path of a member that the message has no field for; empty: none

  std::uint32_t find(std::uint32_t number) const;
};

struct ProtobufPlan {
  std::vector<ProtobufMessagePlan> messages;  // the first is that of the record
  bool checks_utf8 = true;

  static Result<std::unique_ptr<ProtobufPlan>> of_shape(const RecordShape& shape);
  static Result<std::unique_ptr<ProtobufPlan>> of_message(const ProtoSchema& schema,
                                                          const std::string& message,
                                                          const RecordShape& shape);
};

// The messages that a struct's fields are by their numbers; the first is `name`.
Result<ProtoSchema> schema_of_shape(const RecordShape& shape, std::string& name);

}  // namespace hummer::formats
