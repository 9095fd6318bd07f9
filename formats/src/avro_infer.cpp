#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <hummer/formats/infer.hpp>

#include "avro_container.hpp"
#include "avro_schema.hpp"
#include "cpp_names.hpp"

namespace hummer::formats {
namespace {

// Structs for the records of a schema, those of fields ahead of the ones that hold them.
class AvroStructs {
 public:
  std::string write(const AvroType& root, const std::string& name) {
    taken_.insert(name);
    take_names(root);
    write_struct(root, name, "");
    return std::move(text_);
  }
  const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  struct Type {
    std::string text;  // empty: there is none
    std::string first_value;
  };

  // No struct is called as a field: in the struct that has both that would be an error.
  void take_names(const AvroType& type) {
    if (!seen_.insert(&type).second) return;
    if (type.kind == AvroKind::record) taken_.insert(type.names.begin(), type.names.end());
    for (const AvroType* part : type.parts) take_names(*part);
    if (type.element != nullptr) take_names(*type.element);
  }

  void write_struct(const AvroType& record, const std::string& name, const std::string& path) {
    within_.insert(&record);
    std::vector<CppField> fields;
    std::set<std::string> names;
    for (std::size_t i = 0; i < record.parts.size(); ++i) {
      const std::string& named = record.names[i];
      Type type = type_of(*record.parts[i], camel_case(named), path + named);
      if (type.text.empty()) continue;
      std::string field = cpp_name(named, "field" + std::to_string(i + 1), names);
      fields.push_back(
          {std::move(type.text), std::move(field), std::move(type.first_value), named});
    }
    within_.erase(&record);
    text_ += cpp_struct(name, fields);
  }

  Type type_of(const AvroType& type, const std::string& wanted, const std::string& place) {
    switch (type.kind) {
      case AvroKind::boolean: return {"bool", "false"};
      case AvroKind::int32: return {"std::int32_t", "0"};
      case AvroKind::int64: return {"std::int64_t", "0"};
      case AvroKind::float32: return {"float", "0"};
      case AvroKind::float64: return {"double", "0"};
      case AvroKind::bytes:
      case AvroKind::string:
      case AvroKind::fixed:
      case AvroKind::enumeration: return {"std::string", ""};
      case AvroKind::null: return cannot_say(place, "it is always null");
      case AvroKind::list: return list_of(*type.element, wanted, place);
      case AvroKind::map: return map_of(*type.element, wanted, place);
      case AvroKind::choice: return choice_of(type, wanted, place);
      case AvroKind::record: break;
    }
    if (within_.contains(&type)) return cannot_say(place, "it is a record within itself");
    std::string& name = written_[&type];
    if (name.empty()) {
      const std::string own = type.name.substr(type.name.rfind('.') + 1);
      name = cpp_name(camel_case(own), "Part", taken_);
      write_struct(type, name, place + ".");
    }
    return {name, ""};
  }

  Type list_of(const AvroType& element, const std::string& wanted, const std::string& place) {
    const Type type = type_of(element, wanted, place + "[]");
    if (type.text.empty()) return {};
    if (type.text == "bool") return cannot_say(place, "a std::vector of bool is none of records");
    return {"std::vector<" + type.text + ">", ""};
  }

  Type map_of(const AvroType& element, const std::string& wanted, const std::string& place) {
    Type value = type_of(element, wanted + "Value", place + "{}");
    if (value.text.empty()) return {};
    const std::string name = cpp_name(wanted, "Entry", taken_);
    text_ += cpp_struct(name, {{"std::string", "key", "", "key"},
                               {std::move(value.text), "value", value.first_value, "value"}});
    return {"std::vector<" + name + ">", ""};
  }

  Type choice_of(const AvroType& type, const std::string& wanted, const std::string& place) {
    const AvroType* only = nullptr;
    bool null = false;
    for (const AvroType* branch : type.parts) {
      if (branch->kind == AvroKind::null) {
        null = true;
      } else if (only == nullptr) {
        only = branch;
      } else {
        return cannot_say(place, "it is a union of several types");
      }
    }
    if (only == nullptr) return cannot_say(place, "it is always null");
    Type value = type_of(*only, wanted, place);
    if (value.text.empty() || !null) return value;
    return {"std::optional<" + value.text + ">", ""};
  }

  Type cannot_say(const std::string& place, const std::string& why) {
    unknown_.push_back(quoted_in_cpp(place) + " is left out: " + why);
    return {};
  }

  std::string text_;
  std::set<std::string> taken_;
  std::set<const AvroType*> seen_;
  std::set<const AvroType*> within_;
  std::map<const AvroType*, std::string> written_;  // records, and their structs
  std::vector<std::string> unknown_;
};

}  // namespace

bool is_avro(std::string_view text) { return text.starts_with(avro_magic); }

Result<std::string> infer_avro(std::string_view text, std::string_view record,
                               std::string_view path) {
  const Result<AvroHead> head = read_avro_head(text);
  if (!head.ok()) return head.status();
  if (head->size == RecordFraming::unknown) {
    return Status(ErrorCode::corrupt_file, "the head of the file is cut short");
  }
  const Result<AvroSchema> schema = AvroSchema::parse(head->schema);
  if (!schema.ok()) return schema.status();
  if (schema->root().kind != AvroKind::record) {
    return Status(ErrorCode::invalid_argument,
                  "its schema is " + describe(schema->root()) + ", and no record");
  }
  AvroStructs structs;
  const std::string written = structs.write(schema->root(), std::string(record));
  std::string result = "// By the schema of " + std::string(path) + ".\n";
  for (const std::string& unknown : structs.unknown()) result += "// " + unknown + ".\n";
  return result + written + "// hummer::formats::from_avro<" + std::string(record) + ">(env, " +
         quoted_in_cpp(path) + ");\n";
}

}  // namespace hummer::formats
