#include "avro_schema.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

namespace hummer::formats {
namespace {

struct PrimitiveName {
  std::string_view name;
  AvroKind kind;
  std::size_t least_bytes;
};
struct LogicalName {
  std::string_view name;
  AvroKind kind;
  AvroLogical logical;
  std::size_t scale;
};
constexpr std::array<LogicalName, 9> logical_names{
    {{"date", AvroKind::int32, AvroLogical::date, 0},
     {"time-millis", AvroKind::int32, AvroLogical::time, 3},
     {"time-micros", AvroKind::int64, AvroLogical::time, 6},
     {"timestamp-millis", AvroKind::int64, AvroLogical::timestamp, 3},
     {"timestamp-micros", AvroKind::int64, AvroLogical::timestamp, 6},
     {"timestamp-nanos", AvroKind::int64, AvroLogical::timestamp, 9},
     {"local-timestamp-millis", AvroKind::int64, AvroLogical::local_timestamp, 3},
     {"local-timestamp-micros", AvroKind::int64, AvroLogical::local_timestamp, 6},
     {"local-timestamp-nanos", AvroKind::int64, AvroLogical::local_timestamp, 9}}};

constexpr std::array<PrimitiveName, 8> primitive_names{{{"null", AvroKind::null, 0},
                                                        {"boolean", AvroKind::boolean, 1},
                                                        {"int", AvroKind::int32, 1},
                                                        {"long", AvroKind::int64, 1},
                                                        {"float", AvroKind::float32, 4},
                                                        {"double", AvroKind::float64, 8},
                                                        {"bytes", AvroKind::bytes, 1},
                                                        {"string", AvroKind::string, 1}}};

bool is_avro_name(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9');
  });
}

std::uint64_t crc64_of(std::string_view text) {
  constexpr std::uint64_t empty = 0xC15D213AA4D7A795;
  std::uint64_t crc = empty;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (empty & -(crc & 1));
  }
  return crc;
}

}  // namespace

class AvroSchemaParser {
 public:
  Status parse(const SchemaValue& value) {
    HUMMER_TRY(take(value, "", schema_.root_));
    // A record takes what its fields take, which may be records of later ones; one that holds
    // itself and nothing else has no value.
    bool changed = true;
    while (std::exchange(changed, false)) {
      for (const auto& type : schema_.types_) {
        const std::size_t least = least_bytes_of(*type);
        changed = changed || least != type->least_bytes;
        type->least_bytes = least;
      }
    }
    return {};
  }
  AvroSchema take_schema() { return std::move(schema_); }

 private:
  using Kind = SchemaValue::Kind;
  static constexpr std::size_t most_types = 1 << 14;

  static Status wrong(const std::string& what) { return {ErrorCode::corrupt_record, what}; }

  AvroType& add(AvroKind kind) {
    schema_.types_.push_back(std::make_unique<AvroType>());
    schema_.types_.back()->kind = kind;
    return *schema_.types_.back();
  }

  static std::size_t least_bytes_of(const AvroType& type) {
    // Enough to know: as much as a byte for each that is not nothing.
    constexpr std::size_t most = 1 << 16;
    std::size_t least = type.least_bytes;
    if (type.kind == AvroKind::record) {
      least = 0;
      for (const AvroType* part : type.parts) least = std::min(least + part->least_bytes, most);
    }
    return least;
  }

  Status take(const SchemaValue& value, const std::string& space, const AvroType*& type) {
    if (schema_.types_.size() > most_types) {
      return {ErrorCode::limit_exceeded, "more than " + std::to_string(most_types) + " types"};
    }
    if (value.is(Kind::text)) return take_name(value.text, space, type);
    if (value.is(Kind::list)) return take_choice(value, space, type);
    if (!value.is(Kind::object)) return wrong("a type is neither a name, a list nor an object");
    const SchemaValue* const kind = value.find("type");
    if (kind == nullptr) return wrong("an object without \"type\"");
    if (!kind->is(Kind::text)) return take(*kind, space, type);
    if (kind->text == "record" || kind->text == "error") return take_record(value, space, type);
    if (kind->text == "enum") return take_enumeration(value, space, type);
    if (kind->text == "fixed") return take_fixed(value, space, type);
    if (kind->text == "array" || kind->text == "map") {
      const bool list = kind->text == "array";
      AvroType& made = add(list ? AvroKind::list : AvroKind::map);
      made.least_bytes = 1;
      type = &made;
      const SchemaValue* const element = value.find(list ? "items" : "values");
      if (element == nullptr) {
        return wrong(list ? "an array without \"items\"" : "a map without \"values\"");
      }
      return take(*element, space, made.element);
    }
    const std::size_t known = schema_.types_.size();
    HUMMER_TRY(take_name(kind->text, space, type));
    if (schema_.types_.size() > known) take_logical(value, *schema_.types_.back());
    return {};
  }

  // Of a type that was just made. One that does not fit it is none, as Avro has it.
  static void take_logical(const SchemaValue& value, AvroType& made) {
    const std::string_view name = value.text_of("logicalType");
    for (const LogicalName& each : logical_names) {
      if (each.name != name || each.kind != made.kind) continue;
      made.logical = each.logical;
      made.scale = each.scale;
    }
    const bool fixed = made.kind == AvroKind::fixed;
    if (name == "uuid" && fixed && made.size == 16) made.logical = AvroLogical::uuid;
    if (name == "duration" && fixed && made.size == 12) made.logical = AvroLogical::duration;
    if (name != "decimal" || (made.kind != AvroKind::bytes && !fixed)) return;
    constexpr std::size_t largest_scale = 1000;
    const SchemaValue* const scale = value.find("scale");
    const std::string text = scale == nullptr ? "0" : scale->text;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), made.scale);
    const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
    if (whole && made.scale <= largest_scale) made.logical = AvroLogical::decimal;
  }

  Status take_name(const std::string& name, const std::string& space, const AvroType*& type) {
    for (const PrimitiveName& each : primitive_names) {
      if (each.name != name) continue;
      AvroType& made = add(each.kind);
      made.least_bytes = each.least_bytes;
      type = &made;
      return {};
    }
    auto found = named_.find(full_name(name, space));
    if (found == named_.end()) found = named_.find(name);
    if (found == named_.end()) return wrong("the type '" + name + "' is not known");
    type = found->second;
    return {};
  }

  static std::string full_name(const std::string& name, const std::string& space) {
    return name.find('.') != std::string::npos || space.empty() ? name : space + "." + name;
  }

  // Of what is named: its type, and the space that names in it stand in.
  Status declare(const SchemaValue& value, AvroKind kind, std::string& space, AvroType*& type) {
    const std::string name(value.text_of("name"));
    if (value.find("namespace") != nullptr) space = value.text_of("namespace");
    const std::string full = full_name(name, space);
    for (std::size_t from = 0; from <= full.size();) {
      const std::size_t end = std::min(full.find('.', from), full.size());
      if (!is_avro_name(full.substr(from, end - from))) return wrong("'" + full + "' is no name");
      from = end + 1;
    }
    type = &add(kind);
    type->name = full;
    const std::size_t dot = full.rfind('.');
    space = dot == std::string::npos ? "" : full.substr(0, dot);
    if (!named_.emplace(full, type).second) return wrong("'" + full + "' is there twice");
    return {};
  }

  Status take_record(const SchemaValue& value, std::string space, const AvroType*& type) {
    AvroType* made = nullptr;
    HUMMER_TRY(declare(value, AvroKind::record, space, made));
    type = made;
    const SchemaValue* const fields = value.find("fields");
    if (fields == nullptr || !fields->is(Kind::list)) {
      return wrong("the record '" + made->name + "' has no list \"fields\"");
    }
    for (const SchemaValue& field : fields->items) {
      const std::string name(field.text_of("name"));
      const SchemaValue* const of = field.find("type");
      if (!is_avro_name(name) || of == nullptr) {
        return wrong("a field of '" + made->name + "' has no name that Avro allows, or no type");
      }
      if (std::find(made->names.begin(), made->names.end(), name) != made->names.end()) {
        return wrong("'" + made->name + "' has two fields '" + name + "'");
      }
      made->names.push_back(name);
      const AvroType* part = nullptr;
      HUMMER_TRY(take(*of, space, part));
      made->parts.push_back(part);
    }
    return {};
  }

  Status take_enumeration(const SchemaValue& value, std::string space, const AvroType*& type) {
    AvroType* made = nullptr;
    HUMMER_TRY(declare(value, AvroKind::enumeration, space, made));
    type = made;
    made->least_bytes = 1;
    const SchemaValue* const symbols = value.find("symbols");
    if (symbols == nullptr || !symbols->is(Kind::list) || symbols->items.empty()) {
      return wrong("the enum '" + made->name + "' has no \"symbols\"");
    }
    for (const SchemaValue& symbol : symbols->items) {
      if (!symbol.is(Kind::text)) return wrong("a symbol of '" + made->name + "' is no text");
      made->names.push_back(symbol.text);
    }
    return {};
  }

  Status take_fixed(const SchemaValue& value, std::string space, const AvroType*& type) {
    AvroType* made = nullptr;
    HUMMER_TRY(declare(value, AvroKind::fixed, space, made));
    type = made;
    const SchemaValue* const size = value.find("size");
    const std::string text = size == nullptr ? std::string() : size->text;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), made->size);
    if (text.empty() || read.ptr != text.data() + text.size() || read.ec != std::errc() ||
        made->size > UINT32_MAX) {
      return wrong("the fixed '" + made->name + "' has no \"size\" that can be");
    }
    made->least_bytes = made->size;
    take_logical(value, *made);
    return {};
  }

  Status take_choice(const SchemaValue& value, const std::string& space, const AvroType*& type) {
    AvroType& made = add(AvroKind::choice);
    made.least_bytes = 1;
    type = &made;
    if (value.items.empty()) return wrong("a union without branches");
    for (const SchemaValue& item : value.items) {
      const AvroType* branch = nullptr;
      HUMMER_TRY(take(item, space, branch));
      if (branch->kind == AvroKind::choice) return wrong("a union inside of a union");
      made.parts.push_back(branch);
    }
    return {};
  }

  AvroSchema schema_;
  std::map<std::string, const AvroType*> named_;
};

Result<AvroSchema> AvroSchema::parse(std::string_view text) {
  const Result<SchemaValue> value = parse_schema_text(text);
  if (!value.ok()) {
    return Status(value.status().code(), "the Avro schema is " + value.status().message());
  }
  AvroSchemaParser parser;
  if (const Status status = parser.parse(*value); !status.ok()) {
    return Status(status.code(), "the Avro schema: " + status.message());
  }
  return parser.take_schema();
}

namespace {

class CanonicalForm {
 public:
  std::string text;

  void append(const AvroType& type) {
    switch (type.kind) {
      case AvroKind::record:
      case AvroKind::enumeration:
      case AvroKind::fixed: return append_named(type);
      case AvroKind::list:
      case AvroKind::map:
        text += type.kind == AvroKind::list ? "{\"type\":\"array\",\"items\":"
                                            : "{\"type\":\"map\",\"values\":";
        append(*type.element);
        text += '}';
        return;
      case AvroKind::choice:
        text += '[';
        for (const AvroType* part : type.parts) {
          if (part != type.parts.front()) text += ',';
          append(*part);
        }
        text += ']';
        return;
      default: append_quoted(primitive_names[static_cast<std::size_t>(type.kind)].name, text);
    }
  }

 private:
  void append_named(const AvroType& type) {
    if (std::find(done_.begin(), done_.end(), &type) != done_.end()) {
      return append_quoted(type.name, text);
    }
    done_.push_back(&type);
    text += "{\"name\":";
    append_quoted(type.name, text);
    if (type.kind == AvroKind::record) {
      text += ",\"type\":\"record\",\"fields\":[";
      for (std::size_t i = 0; i < type.parts.size(); ++i) {
        text += i == 0 ? "{\"name\":" : ",{\"name\":";
        append_quoted(type.names[i], text);
        text += ",\"type\":";
        append(*type.parts[i]);
        text += '}';
      }
      text += "]}";
    } else if (type.kind == AvroKind::enumeration) {
      text += ",\"type\":\"enum\",\"symbols\":[";
      for (std::size_t i = 0; i < type.names.size(); ++i) {
        if (i > 0) text += ',';
        append_quoted(type.names[i], text);
      }
      text += "]}";
    } else {
      text += ",\"type\":\"fixed\",\"size\":" + std::to_string(type.size) + "}";
    }
  }

  std::vector<const AvroType*> done_;
};

}  // namespace

std::string AvroSchema::canonical_form() const {
  CanonicalForm form;
  form.append(*root_);
  return std::move(form.text);
}
std::uint64_t AvroSchema::fingerprint() const { return crc64_of(canonical_form()); }

std::string describe(const AvroType& type) {
  switch (type.kind) {
    case AvroKind::record: return "the record " + type.name;
    case AvroKind::enumeration: return "the enum " + type.name;
    case AvroKind::fixed: return "the fixed " + type.name;
    case AvroKind::list: return "an array";
    case AvroKind::map: return "a map";
    case AvroKind::choice: {
      std::string text = "a union of ";
      for (const AvroType* part : type.parts) {
        if (part != type.parts.front()) text += ", ";
        text += describe(*part);
      }
      return text;
    }
    default: return std::string(primitive_names[static_cast<std::size_t>(type.kind)].name);
  }
}

namespace {

// Types of one name are told apart by a number behind it.
class AvroSchemaText {
 public:
  std::string text;

  void append_record(const RecordShape& shape, std::string_view name) {
    const auto known = names_.find(&shape);
    if (known != names_.end()) return append_quoted(known->second, text);
    std::string own = name.empty() ? plain_name(shape.name) : std::string(name);
    const auto is_used = [&](const std::string& other) {
      return std::any_of(names_.begin(), names_.end(),
                         [&](const auto& each) { return each.second == other; });
    };
    for (int number = 2; is_used(own); ++number) {
      own = plain_name(shape.name) + "_" + std::to_string(number);
    }
    names_.emplace(&shape, own);
    text += "{\"type\":\"record\",\"name\":";
    append_quoted(own, text);
    text += ",\"fields\":[";
    for (const FieldShape& field : shape.fields) {
      text += &field == &shape.fields.front() ? "{\"name\":" : ",{\"name\":";
      append_quoted(field.name, text);
      text += ",\"type\":";
      append_value(field.value, field.name);
      text += field.value.kind == ValueKind::optional ? ",\"default\":null}" : "}";
    }
    text += "]}";
  }

 private:
  // "(anonymous namespace)::Trade" and "Outer<int>" have parts that no name has.
  static std::string plain_name(std::string_view name) {
    std::string plain(name.substr(0, name.find('<')));
    plain = plain.substr(plain.find_last_of(": ") + 1);
    std::replace_if(
        plain.begin(), plain.end(), [](char c) { return !is_avro_name(std::string("_") + c); },
        '_');
    return is_avro_name(plain) ? plain : "Record_" + plain;
  }

  void append_value(const ValueShape& shape, std::string_view field) {
    switch (shape.kind) {
      case ValueKind::optional:
        text += "[\"null\",";
        append_value(*shape.element, field);
        text += ']';
        return;
      case ValueKind::list:
        text += "{\"type\":\"array\",\"items\":";
        append_value(*shape.element, field);
        text += '}';
        return;
      case ValueKind::record: return append_record(*shape.record, {});
      default: break;
    }
    if (shape.symbols.empty()) return append_quoted(primitive_of(shape.kind), text);
    // An enumeration is known by its symbols.
    for (const auto& [symbols, name] : enumerations_) {
      if (symbols == shape.symbols.data()) return append_quoted(name, text);
    }
    std::string name = std::string(field) + "_symbols";
    const auto is_used = [&] {
      return std::any_of(enumerations_.begin(), enumerations_.end(),
                         [&](const auto& each) { return each.second == name; });
    };
    while (is_used()) name += "_2";
    enumerations_.emplace_back(shape.symbols.data(), name);
    text += "{\"type\":\"enum\",\"name\":\"" + name + "\",\"symbols\":[";
    for (const std::string_view& symbol : shape.symbols) {
      if (&symbol != &shape.symbols.front()) text += ',';
      append_quoted(symbol, text);
    }
    text += "]}";
  }

  static std::string_view primitive_of(ValueKind kind) {
    switch (kind) {
      case ValueKind::boolean: return "boolean";
      case ValueKind::u32:
      case ValueKind::i64:
      case ValueKind::u64: return "long";
      case ValueKind::f32: return "float";
      case ValueKind::f64: return "double";
      case ValueKind::view:
      case ValueKind::string: return "string";
      default: return "int";
    }
  }

  std::map<const RecordShape*, std::string> names_;
  std::vector<std::pair<const std::string_view*, std::string>> enumerations_;
};

}  // namespace

std::string avro_schema_of(const RecordShape& shape, std::string_view name) {
  AvroSchemaText made;
  made.append_record(shape, name);
  return std::move(made.text);
}

Status check_avro_names(const RecordShape& shape) {
  const auto refused = [](std::string_view name, const char* why) {
    return Status(ErrorCode::invalid_argument, "the field '" + std::string(name) + "' " + why);
  };
  for (const FieldShape& field : shape.fields) {
    if (!is_avro_name(field.name)) {
      return refused(field.name,
                     "has a name that Avro does not allow (letters, digits and '_'): name it by "
                     "hummer::formats::field_names");
    }
    const ValueShape* value = &field.value;
    for (; value->element != nullptr; value = value->element) {
      if (value->kind == ValueKind::optional && value->element->kind == ValueKind::optional) {
        return refused(field.name, "is an optional of an optional, which Avro does not have");
      }
    }
    if (value->record != nullptr) HUMMER_TRY(check_avro_names(*value->record));
  }
  return {};
}

}  // namespace hummer::formats
