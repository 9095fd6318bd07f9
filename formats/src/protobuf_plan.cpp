#include "protobuf_plan.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <map>
#include <new>

namespace hummer::formats {
namespace {

bool is_proto_text(ValueKind kind) { return kind == ValueKind::view || kind == ValueKind::string; }
bool is_proto_integer(ValueKind kind) { return kind >= ValueKind::i8 && kind <= ValueKind::u64; }

Status refused_member(const std::string& path, const std::string& what) {
  return {ErrorCode::invalid_argument, "'" + path + "' " + what};
}

// A record as its initialisers have it.
class ExampleRecord {
 public:
  explicit ExampleRecord(const RecordShape& shape)
      : shape_(shape), record_(::operator new(shape.size_bytes, alignment)) {
    shape_.construct(record_, 1);
  }
  ~ExampleRecord() {
    shape_.destroy(record_, 1);
    ::operator delete(record_, alignment);
  }
  ExampleRecord(const ExampleRecord&) = delete;
  ExampleRecord& operator=(const ExampleRecord&) = delete;
  const char* at(std::size_t offset) const { return static_cast<const char*>(record_) + offset; }

 private:
  static constexpr std::align_val_t alignment{64};
  const RecordShape& shape_;
  void* record_;
};

std::size_t size_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::boolean:
    case ValueKind::i8:
    case ValueKind::u8: return 1;
    case ValueKind::i16:
    case ValueKind::u16: return 2;
    case ValueKind::i32:
    case ValueKind::u32:
    case ValueKind::f32: return 4;
    default: return 8;
  }
}

class ProtobufPlanning {
 public:
  ProtobufPlanning(ProtobufPlan& plan, const ProtoSchema& schema) : plan_(plan), schema_(schema) {}

  Status plan(const std::string& message, const RecordShape& shape, const std::string& path,
              std::uint32_t& number) {
    const ProtoMessage* const found = schema_.find(message);
    if (found == nullptr) {
      return refused_member(message,
                            "is no message of the descriptors (protoc needs "
                            "--include_imports for those of other files)");
    }
    const auto key = std::make_pair(message, &shape);
    if (const auto known = known_.find(key); known != known_.end()) {
      number = known->second;
      return {};
    }
    number = static_cast<std::uint32_t>(plan_.messages.size());
    known_.emplace(key, number);
    plan_.messages.emplace_back();
    ProtobufMessagePlan own;
    const ExampleRecord example(shape);
    // Bits are counted through all that is inside.
    HUMMER_TRY(add_members(*found, shape, path, example, own));
    std::sort(own.fields.begin(), own.fields.end(),
              [](const auto& a, const auto& b) { return a.number() < b.number(); });
    for (std::size_t i = 0; i < own.fields.size() && i < UINT8_MAX; ++i) {
      const std::uint32_t field = own.fields[i].number();
      if (field < own.by_number.size()) own.by_number[field] = static_cast<std::uint8_t>(i + 1);
    }
    HUMMER_TRY(set_rivals(*found, path, own));
    plan_.messages[number] = std::move(own);
    return {};
  }

 private:
  Status add_members(const ProtoMessage& message, const RecordShape& shape, const std::string& path,
                     const ExampleRecord& example, ProtobufMessagePlan& own) {
    for (const FieldShape& field : shape.fields) {
      const std::string name = (path.empty() ? "" : path + ".") + std::string(field.name);
      const auto member =
          std::find_if(message.members.begin(), message.members.end(),
                       [&](const ProtoMember& each) { return each.name == field.name; });
      if (member == message.members.end()) {
        if (field.value.may_be_missing()) {
          own.unwritten = name;
          continue;
        }
        return refused_member(name, "is no field of the message " + message.name +
                                        ": make it a std::optional, or name it by "
                                        "hummer::formats::field_names");
      }
      HUMMER_TRY(add(*member, field, name, example, own));
    }
    std::uint8_t bit = 0;
    for (const ProtoMember& member : message.members) {
      if (!member.required) continue;
      for (ProtobufField& field : own.fields) {
        if (field.number() != member.number) continue;
        if (bit == 64) return refused_member(path, "has more than 64 required fields");
        field.required_bit = ++bit;
        own.required |= std::uint64_t{1} << (bit - 1);
      }
    }
    return {};
  }

  Status add(const ProtoMember& member, const FieldShape& field, const std::string& path,
             const ExampleRecord& example, ProtobufMessagePlan& own) {
    ProtobufField made{.tag = member.number << 3 | static_cast<std::uint32_t>(wire_of(member.type)),
                       .type = member.type,
                       .repeated = member.repeated,
                       .packed = member.packed,
                       .explicit_presence = member.explicit_presence,
                       .offset = static_cast<std::uint32_t>(field.offset),
                       .shape = &field.value,
                       .field = &field};
    const ValueShape* value = &field.value;
    const bool list = value->kind == ValueKind::list;
    if (list != member.repeated) {
      return refused_member(path, list ? "is a list, and the message's field is not repeated"
                                       : "is repeated in the message: make it a std::vector");
    }
    if (list) {
      value = value->element;
    } else if (value->kind == ValueKind::optional) {
      made.optional = true;
      value = value->element;
    }
    made.kind = value->kind;
    if (member.type == ProtoType::group)
      return refused_member(path, "is a group, which is not read");
    if (member.type == ProtoType::message) {
      if (value->record == nullptr) {
        return refused_member(path, "is a message of " + member.type_name +
                                        ", and the struct has " +
                                        std::string(describe(value->kind)) + " there");
      }
      HUMMER_TRY(plan(member.type_name, *value->record, path, made.message));
    } else if (!set_scalar(member, value->kind, made)) {
      return refused_member(path, "is of type " + std::string(describe(member.type)) +
                                      ", and the struct has " + std::string(describe(value->kind)) +
                                      " there");
    }
    made.shortcut = shortcut_of(made);
    HUMMER_TRY(add_default(member, made, path, example, own));
    own.fields.push_back(std::move(made));
    return {};
  }

  static ProtobufShortcut shortcut_of(const ProtobufField& made) {
    if (made.repeated || made.optional || !made.direct) return ProtobufShortcut::none;
    switch (made.type) {
      case ProtoType::int64:
      case ProtoType::uint64: return ProtobufShortcut::varint64;
      case ProtoType::int32:
      case ProtoType::uint32:
      case ProtoType::enumeration: return ProtobufShortcut::varint32;
      case ProtoType::float64:
      case ProtoType::fixed64:
      case ProtoType::sfixed64: return ProtobufShortcut::fixed64;
      case ProtoType::float32:
      case ProtoType::fixed32:
      case ProtoType::sfixed32: return ProtobufShortcut::fixed32;
      case ProtoType::string:
      case ProtoType::bytes: return ProtobufShortcut::text;
      default: return ProtobufShortcut::none;
    }
  }

  static bool set_scalar(const ProtoMember& member, ValueKind kind, ProtobufField& made) {
    switch (member.type) {
      case ProtoType::boolean: made.direct = true; return kind == ValueKind::boolean;
      case ProtoType::float32:
        made.direct = kind == ValueKind::f32;
        return kind == ValueKind::f32 || kind == ValueKind::f64;
      case ProtoType::float64: made.direct = true; return kind == ValueKind::f64;
      case ProtoType::string:
      case ProtoType::bytes: made.direct = true; return is_proto_text(kind);
      case ProtoType::int32:
      case ProtoType::sint32:
      case ProtoType::sfixed32:
      case ProtoType::enumeration: made.direct = kind == ValueKind::i32; break;
      case ProtoType::uint32:
      case ProtoType::fixed32: made.direct = kind == ValueKind::u32; break;
      case ProtoType::int64:
      case ProtoType::sint64:
      case ProtoType::sfixed64: made.direct = kind == ValueKind::i64; break;
      default: made.direct = kind == ValueKind::u64; break;
    }
    return is_proto_integer(kind);
  }

  // The initialiser counts for nothing: what is not there is the default.
  Status add_default(const ProtoMember& member, const ProtobufField& made, const std::string& path,
                     const ExampleRecord& example, ProtobufMessagePlan& own) {
    const char* const value = example.at(made.offset);
    ProtobufDefault missing{.kind = made.shape->kind, .offset = made.offset, .shape = made.shape};
    if (made.repeated || made.optional) {
      if (made.shape->count(value) > 0) own.defaults.push_back(missing);
      return {};
    }
    if (member.type == ProtoType::message) {
      for (ProtobufDefault inner : plan_.messages[made.message].defaults) {
        inner.offset += made.offset;
        own.defaults.push_back(std::move(inner));
      }
      return {};
    }
    HUMMER_TRY(read_default(member, path, missing));
    bool same = false;
    if (made.kind == ValueKind::view) {
      same = *reinterpret_cast<const std::string_view*>(value) == missing.text;
    } else if (made.kind == ValueKind::string) {
      same = *reinterpret_cast<const std::string*>(value) == missing.text;
    } else {
      same = std::memcmp(value, &missing.bits, size_of(made.kind)) == 0;
    }
    if (!same) own.defaults.push_back(std::move(missing));
    return {};
  }

  Status read_default(const ProtoMember& member, const std::string& path,
                      ProtobufDefault& missing) const {
    const bool real = missing.kind == ValueKind::f32 || missing.kind == ValueKind::f64;
    std::string text = member.default_value.value_or("");
    if (member.type == ProtoType::enumeration) {
      const auto values = schema_.enumerations.find(member.type_name);
      if (values == schema_.enumerations.end() || values->second.empty()) return {};
      // The first one, unless it is said.
      std::int32_t number = values->second.front().second;
      for (const auto& [name, each] : values->second) {
        if (name == text) number = each;
      }
      text = std::to_string(number);
    }
    if (text.empty()) return {};
    if (is_proto_text(missing.kind)) {
      if (member.type == ProtoType::bytes && text.find('\\') != std::string::npos) {
        return refused_member(path, "has a default with escapes, which is not read");
      }
      missing.text = text;
    } else if (missing.kind == ValueKind::boolean) {
      missing.bits = text == "true" ? 1 : 0;
    } else if (real) {
      double number = 0;
      std::from_chars(text.data(), text.data() + text.size(), number);
      missing.bits = missing.kind == ValueKind::f64
                         ? std::bit_cast<std::uint64_t>(number)
                         : std::bit_cast<std::uint32_t>(static_cast<float>(number));
    } else if (text.front() == '-') {
      std::int64_t number = 0;
      std::from_chars(text.data(), text.data() + text.size(), number);
      missing.bits = static_cast<std::uint64_t>(number);
    } else {
      std::from_chars(text.data(), text.data() + text.size(), missing.bits);
    }
    return {};
  }

  static Status set_rivals(const ProtoMessage& message, const std::string& path,
                           ProtobufMessagePlan& own) {
    const auto choice_of = [&](const ProtobufField& field) -> std::optional<std::int32_t> {
      for (const ProtoMember& member : message.members) {
        if (member.number == field.number()) return member.choice;
      }
      return {};
    };
    for (ProtobufField& field : own.fields) {
      const auto choice = choice_of(field);
      if (!choice) continue;
      if (!field.optional) {
        return refused_member((path.empty() ? "" : path + ".") + std::string(field.field->name),
                              "is a member of a oneof: make it a std::optional");
      }
      for (std::uint32_t other = 0; other < own.fields.size(); ++other) {
        if (&own.fields[other] != &field && choice_of(own.fields[other]) == choice) {
          field.rivals.push_back(other);
        }
      }
    }
    return {};
  }

  ProtobufPlan& plan_;
  const ProtoSchema& schema_;
  std::map<std::pair<std::string, const RecordShape*>, std::uint32_t> known_;
};

class ShapeSchema {
 public:
  ProtoSchema schema;

  Status add(const RecordShape& shape, std::string& name) {
    const auto known = names_.find(&shape);
    if (known != names_.end()) {
      name = known->second;
      return {};
    }
    name = plain_name(shape.name);
    for (int number = 2; schema.messages.contains(name); ++number) {
      name = plain_name(shape.name) + "_" + std::to_string(number);
    }
    names_.emplace(&shape, name);
    schema.places.emplace(std::to_string(schema.places.size()), name);
    ProtoMessage message{.name = name, .members = {}};
    schema.messages.emplace(name, ProtoMessage());
    for (const FieldShape& field : shape.fields) {
      ProtoMember member{.name = std::string(field.name), .number = field.number};
      const ValueShape* value = &field.value;
      if (value->kind == ValueKind::list) {
        member.repeated = true;
        value = value->element;
      } else if (value->kind == ValueKind::optional) {
        member.explicit_presence = true;
        value = value->element;
      }
      if (value->element != nullptr) {
        return refused_member(member.name, "is " + std::string(describe(value->kind)) +
                                               " in another, which Protobuf does not have: put it "
                                               "into a struct of its own");
      }
      constexpr std::uint32_t largest_number = (1U << 29) - 1;
      if (member.number == 0 || member.number > largest_number) {
        return refused_member(member.name, "has no number from 1 to 536870911");
      }
      member.type = type_of_kind(value->kind);
      member.packed = member.repeated && wire_of(member.type) != ProtoWire::sized;
      if (value->record != nullptr) HUMMER_TRY(add(*value->record, member.type_name));
      for (const ProtoMember& other : message.members) {
        if (other.number == member.number) {
          return refused_member(member.name, "has the number of '" + other.name + "'");
        }
      }
      message.members.push_back(std::move(member));
    }
    schema.messages[name] = std::move(message);
    return {};
  }

 private:
  static std::string plain_name(std::string_view name) {
    std::string plain(name.substr(0, name.find('<')));
    plain = plain.substr(plain.find_last_of(": ") + 1);
    const auto is_letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    std::replace_if(plain.begin(), plain.end(), [&](char c) { return !is_letter(c); }, '_');
    return plain.empty() ? "Record" : plain;
  }

  static ProtoType type_of_kind(ValueKind kind) {
    switch (kind) {
      case ValueKind::boolean: return ProtoType::boolean;
      case ValueKind::i64: return ProtoType::int64;
      case ValueKind::u8:
      case ValueKind::u16:
      case ValueKind::u32: return ProtoType::uint32;
      case ValueKind::u64: return ProtoType::uint64;
      case ValueKind::f32: return ProtoType::float32;
      case ValueKind::f64: return ProtoType::float64;
      case ValueKind::view:
      case ValueKind::string: return ProtoType::string;
      case ValueKind::record: return ProtoType::message;
      default: return ProtoType::int32;
    }
  }

  std::map<const RecordShape*, std::string> names_;
};

}  // namespace

ProtoWire wire_of(ProtoType type) {
  switch (type) {
    case ProtoType::float64:
    case ProtoType::fixed64:
    case ProtoType::sfixed64: return ProtoWire::fixed64;
    case ProtoType::float32:
    case ProtoType::fixed32:
    case ProtoType::sfixed32: return ProtoWire::fixed32;
    case ProtoType::string:
    case ProtoType::bytes:
    case ProtoType::message: return ProtoWire::sized;
    case ProtoType::group: return ProtoWire::group;
    default: return ProtoWire::varint;
  }
}

std::uint32_t ProtobufMessagePlan::find(std::uint32_t number) const {
  if (number < by_number.size() && by_number[number] != 0) return by_number[number] - 1U;
  const auto found = std::lower_bound(
      fields.begin(), fields.end(), number,
      [](const ProtobufField& field, std::uint32_t wanted) { return field.number() < wanted; });
  if (found == fields.end() || found->number() != number) return unknown;
  return static_cast<std::uint32_t>(found - fields.begin());
}

Result<ProtoSchema> schema_of_shape(const RecordShape& shape, std::string& name) {
  ShapeSchema made;
  if (const Status status = made.add(shape, name); !status.ok()) return status;
  return std::move(made.schema);
}

Result<std::unique_ptr<ProtobufPlan>> ProtobufPlan::of_message(const ProtoSchema& schema,
                                                               const std::string& message,
                                                               const RecordShape& shape) {
  auto plan = std::make_unique<ProtobufPlan>();
  std::uint32_t first = 0;
  if (const Status status = ProtobufPlanning(*plan, schema).plan(message, shape, "", first);
      !status.ok()) {
    return status;
  }
  return plan;
}

Result<std::unique_ptr<ProtobufPlan>> ProtobufPlan::of_shape(const RecordShape& shape) {
  std::string name;
  const Result<ProtoSchema> schema = schema_of_shape(shape, name);
  if (!schema.ok()) return schema.status();
  return of_message(*schema, name, shape);
}

}  // namespace hummer::formats
