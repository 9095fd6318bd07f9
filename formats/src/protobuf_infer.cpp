#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <hummer/formats/infer.hpp>

#include "cpp_names.hpp"
#include "protobuf_descriptors.hpp"

namespace hummer::formats {
namespace {

std::string last_name(const std::string& full) { return full.substr(full.rfind('.') + 1); }

// Structs and enumerations for a message and what it holds, those of fields ahead of what has them.
class ProtobufStructs {
 public:
  explicit ProtobufStructs(const ProtoSchema& schema) : schema_(schema) {}

  // Empty: nothing of the message can be in a struct.
  std::string write(const ProtoMessage& root, const std::string& name) {
    taken_.insert(name);
    take_names(root);
    return write_struct(root, name, "") ? std::move(text_) : std::string();
  }
  const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  struct Type {
    std::string text;  // empty: there is none
    std::string first_value;
  };

  // No type is called as a field: in the struct that has both that would be an error.
  void take_names(const ProtoMessage& message) {
    if (!seen_.insert(&message).second) return;
    for (const ProtoMember& member : message.members) {
      taken_.insert(member.name);
      const ProtoMessage* const part = schema_.find(member.type_name);
      if (member.type == ProtoType::message && part != nullptr) take_names(*part);
    }
  }

  // Whether it has any field: a struct without one is no record.
  bool write_struct(const ProtoMessage& message, const std::string& name, const std::string& path) {
    within_.insert(&message);
    std::vector<CppField> fields;
    std::set<std::string> names;
    for (const ProtoMember& member : message.members) {
      Type type = type_of(message, member, path + member.name);
      if (type.text.empty()) continue;
      std::string field = cpp_name(member.name, "field" + std::to_string(member.number), names);
      fields.push_back(
          {std::move(type.text), std::move(field), std::move(type.first_value), member.name});
    }
    within_.erase(&message);
    if (fields.empty()) return false;
    text_ += cpp_struct(name, fields);
    return true;
  }

  Type type_of(const ProtoMessage& message, const ProtoMember& member, const std::string& place) {
    Type type = value_of(member, place);
    if (type.text.empty()) return type;
    if (member.repeated) {
      if (type.text == "bool") {
        return cannot_say(place, "a std::vector of bool is none of records");
      }
      return {"std::vector<" + type.text + ">", ""};
    }
    // What has a default is that where it is missing, and keys and values of maps always are there.
    const bool always =
        message.map_entry || member.required || member.default_value || !member.explicit_presence;
    if (member.choice || !always) return {"std::optional<" + type.text + ">", ""};
    return type;
  }

  Type value_of(const ProtoMember& member, const std::string& place) {
    switch (member.type) {
      case ProtoType::boolean: return {"bool", "false"};
      case ProtoType::int32:
      case ProtoType::sint32:
      case ProtoType::sfixed32: return {"std::int32_t", "0"};
      case ProtoType::uint32:
      case ProtoType::fixed32: return {"std::uint32_t", "0"};
      case ProtoType::int64:
      case ProtoType::sint64:
      case ProtoType::sfixed64: return {"std::int64_t", "0"};
      case ProtoType::uint64:
      case ProtoType::fixed64: return {"std::uint64_t", "0"};
      case ProtoType::float32: return {"float", "0"};
      case ProtoType::float64: return {"double", "0"};
      case ProtoType::string:
      case ProtoType::bytes: return {"std::string", ""};
      case ProtoType::enumeration: return enumeration_of(member);
      case ProtoType::group: return cannot_say(place, "it is a group, which is not read");
      case ProtoType::message: break;
    }
    const ProtoMessage* const part = schema_.find(member.type_name);
    if (part == nullptr) {
      return cannot_say(place, "its message " + member.type_name +
                                   " is not in the descriptors (protoc --include_imports)");
    }
    if (within_.contains(part)) return cannot_say(place, "it is a message within itself");
    std::string& name = written_[part->name];
    if (name.empty()) {
      name = cpp_name(camel_case(last_name(part->name)), "Part", taken_);
      if (!write_struct(*part, name, place + ".")) empty_.insert(part);
    }
    if (empty_.contains(part)) return cannot_say(place, "its message has no field that is read");
    return {name, ""};
  }

  Type enumeration_of(const ProtoMember& member) {
    const auto found = schema_.enumerations.find(member.type_name);
    if (found == schema_.enumerations.end() || found->second.empty()) return {"std::int32_t", "0"};
    std::string& name = written_[member.type_name];
    if (name.empty()) {
      name = cpp_name(camel_case(last_name(member.type_name)), "Kind", taken_);
      text_ += "enum class " + name + " : std::int32_t {";
      std::set<std::string> names;
      for (const auto& [value, number] : found->second) {
        text_ += names.empty() ? " " : ", ";
        text_ += cpp_name(value, "value", names) + " = " + std::to_string(number);
      }
      text_ += " };\n";
    }
    return {name, "{}"};
  }

  Type cannot_say(const std::string& place, const std::string& why) {
    unknown_.push_back(quoted_in_cpp(place) + " is left out: " + why);
    return {};
  }

  const ProtoSchema& schema_;
  std::string text_;
  std::set<std::string> taken_;
  std::set<const ProtoMessage*> seen_;
  std::set<const ProtoMessage*> within_;
  std::set<const ProtoMessage*> empty_;
  std::map<std::string, std::string> written_;  // messages and enumerations, and their types
  std::vector<std::string> unknown_;
};

}  // namespace

Result<std::string> infer_protobuf(std::string_view descriptors, const std::string& message,
                                   std::string_view record, std::string_view descriptor_path,
                                   std::string_view path) {
  const Result<ProtoSchema> schema = find_message(descriptors, message);
  if (!schema.ok()) return schema.status();
  ProtobufStructs structs(*schema);
  const std::string written = structs.write(*schema->find(message), std::string(record));
  if (written.empty()) {
    return Status(ErrorCode::invalid_argument,
                  "the message " + message + " has no field that a struct could have" +
                      (structs.unknown().empty() ? "" : ": " + structs.unknown().front()));
  }
  std::string result = "// By " + message + " of " + std::string(descriptor_path) + ".\n";
  for (const std::string& unknown : structs.unknown()) result += "// " + unknown + ".\n";
  return result + written + "// hummer::formats::from_protobuf<" + std::string(record) + ">(env, " +
         (path.empty() ? "path" : quoted_in_cpp(path)) +
         ", {.descriptor_file = " + quoted_in_cpp(descriptor_path) +
         ", .message = " + quoted_in_cpp(message) + "});\n";
}

}  // namespace hummer::formats
