// ProtobufJson: messages of Protobuf as JSON text, by their descriptors alone: for people who look
// at a file (hummer/formats/look.hpp, which says what is written how).
//
//   ProtobufJson json(schema, *schema.find("acme.Trade"));
//   if (Status status = json.check(); …)                       // what is in it is there, too
//   if (!json.append(bytes, text)) …                           // json.why()
//
// As Protobuf has it, fields may come in any order and again: the last value of one counts, of a
// oneof that of its last member, and a message that comes again is merged with what was there. What
// the descriptors do not know is passed over. Members are written in the order of the .proto file.
//
// Nothing recurses deeper than deepest_shown_value, or makes much more than `most` bytes.
//
// Thread: one at a time. The schema must live as long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "protobuf_descriptors.hpp"
#include "shown_json.hpp"

namespace hummer::formats {

class ProtobufJson {
 public:
  ProtobufJson(const ProtoSchema& schema, const ProtoMessage& message,
               std::size_t most = largest_shown_record)
      : schema_(schema), message_(message), most_(most) {}

  // invalid_argument: messages that it holds are not in the descriptors.
  Status check() const;
  // Appends one message. REQUIRES: check() was ok.
  bool append(std::string_view bytes, std::string& text);
  std::string why() const;

 private:
  // One value as it was written: a number, or bytes.
  struct Value {
    std::uint64_t bits = 0;
    std::string_view bytes = {};
  };
  using Values = std::vector<std::vector<Value>>;  // of each member

  bool append_message(const ProtoMessage& message, std::string_view bytes, int depth);
  // What is there of each member.
  bool gather(const ProtoMessage& message, std::string_view bytes, Values& values);
  const char* gather_one(const ProtoMember& member, std::uint32_t tag, const char* at,
                         const char* end, std::vector<Value>& values);
  bool append_members(const ProtoMessage& message, const Values& values, int depth);
  bool append_member(const ProtoMember& member, const std::vector<Value>& values, int depth);
  bool append_map(const ProtoMessage& entry, const std::vector<Value>& values, int depth);
  // `value` null: the member's default.
  bool append_value(const ProtoMember& member, const Value* value, int depth);
  void append_default(const ProtoMember& member);
  void append_number_of(const ProtoMember& member, std::uint64_t bits);
  bool append_nested(const ProtoMember& member, std::string_view bytes, int depth);
  bool append_known(const std::string& name, std::string_view bytes, bool& known);
  const char* skip(std::uint32_t tag, const char* at, const char* end);
  bool wrong(const char* what);

  const ProtoSchema& schema_;
  const ProtoMessage& message_;
  const std::size_t most_;
  std::string* text_ = nullptr;
  std::size_t first_ = 0;  // where the message begins in it
  std::string what_;
  std::string place_;  // the path of the field
};

}  // namespace hummer::formats
