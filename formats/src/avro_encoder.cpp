#include "avro_encoder.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "avro_container.hpp"
#include "utf8.hpp"
#include "varint.hpp"

namespace hummer::formats {
namespace {

template <typename Number>
Number load_as(const void* value) {
  Number number;
  std::memcpy(&number, value, sizeof number);
  return number;
}

bool is_avro_text(ValueKind kind) { return kind == ValueKind::view || kind == ValueKind::string; }

[[noreturn]] void refuse_value(const FieldShape& field, const std::string& what) {
  throw std::invalid_argument("avro: '" + std::string(field.name) + "' " + what);
}

void append_number_folded(std::int64_t value, std::string& text) {
  append_varint(folded(value), text);
}

}  // namespace

Result<AvroRecordWriter> AvroRecordWriter::make(AvroSchema schema, const RecordShape& shape) {
  AvroRecordWriter writer;
  writer.schema_ = std::move(schema);
  const AvroType& root = writer.schema_.root();
  if (root.kind != AvroKind::record) {
    return Status(ErrorCode::invalid_argument,
                  "the option schema is " + describe(root) + " and not a record");
  }
  if (const Status status = plan_record(root, shape, 0, "", writer.parts_); !status.ok()) {
    return status;
  }
  return writer;
}

Status AvroRecordWriter::plan_record(const AvroType& type, const RecordShape& shape,
                                     std::size_t offset, const std::string& path,
                                     std::vector<Part>& parts) {
  // What the schema does not have would be lost without a word.
  for (const FieldShape& field : shape.fields) {
    const auto& names = type.names;
    if (std::find(names.begin(), names.end(), field.name) != names.end()) continue;
    return {ErrorCode::invalid_argument, "the schema has no field for '" + path +
                                             std::string(field.name) +
                                             "', which would not be written: leave it out of the "
                                             "struct"};
  }
  for (std::size_t i = 0; i < type.parts.size(); ++i) {
    const AvroType& wanted = *type.parts[i];
    const std::string own = path + type.names[i];
    const std::size_t found = shape.find(type.names[i]);
    Part& part = parts.emplace_back();
    if (found < shape.fields.size()) {
      const FieldShape& field = shape.fields[found];
      HUMMER_TRY(plan(wanted, field, field.value, offset + field.offset, own, part));
      continue;
    }
    part.type = &wanted;
    const auto null_at =
        std::find_if(wanted.parts.begin(), wanted.parts.end(),
                     [](const AvroType* each) { return each->kind == AvroKind::null; });
    if (wanted.kind == AvroKind::choice && null_at != wanted.parts.end()) {
      part.branch = static_cast<std::uint32_t>(null_at - wanted.parts.begin());
    } else if (wanted.kind != AvroKind::null) {
      return {ErrorCode::invalid_argument,
              "the schema has a field '" + own + "', which the record has not"};
    }
  }
  return {};
}

bool AvroRecordWriter::fits(const AvroType& type, const ValueShape& shape) {
  const ValueKind kind = shape.kind;
  const bool integer = kind >= ValueKind::i8 && kind <= ValueKind::u64;
  const bool wide = kind == ValueKind::i64 || kind == ValueKind::u64 || kind == ValueKind::u32;
  switch (type.kind) {
    case AvroKind::boolean: return kind == ValueKind::boolean;
    case AvroKind::int32: return integer && !wide && shape.symbols.empty();
    case AvroKind::int64: return integer && shape.symbols.empty();
    case AvroKind::float32: return kind == ValueKind::f32;
    case AvroKind::float64: return kind == ValueKind::f32 || kind == ValueKind::f64;
    case AvroKind::bytes:
    case AvroKind::string:
    case AvroKind::fixed: return is_avro_text(kind);
    case AvroKind::enumeration: return is_avro_text(kind) || (integer && !shape.symbols.empty());
    case AvroKind::list: return kind == ValueKind::list;
    case AvroKind::map:
      return kind == ValueKind::list && shape.element->kind == ValueKind::record &&
             shape.element->record->fields.size() == 2 &&
             is_avro_text(shape.element->record->fields[0].value.kind);
    case AvroKind::record: return kind == ValueKind::record;
    default: return false;
  }
}

Status AvroRecordWriter::plan(const AvroType& type, const FieldShape& field,
                              const ValueShape& shape, std::size_t offset, const std::string& path,
                              Part& part) {
  part.type = &type;
  part.field = &field;
  part.shape = &shape;
  part.offset = offset;
  if (type.kind == AvroKind::choice) return plan_choice(type, field, shape, path, part);
  if (!fits(type, shape)) {
    return {ErrorCode::invalid_argument, "'" + path + "' is " +
                                             std::string(formats::describe(shape.kind)) +
                                             ", which can't be written as " + describe(type)};
  }
  switch (type.kind) {
    case AvroKind::record: return plan_record(type, *shape.record, 0, path + ".", part.parts);
    case AvroKind::list:
      return plan(*type.element, field, *shape.element, 0, path, part.parts.emplace_back());
    case AvroKind::map: {
      static const AvroType key{.kind = AvroKind::string, .least_bytes = 1};
      const auto& fields = shape.element->record->fields;
      HUMMER_TRY(
          plan(key, fields[0], fields[0].value, fields[0].offset, path, part.parts.emplace_back()));
      return plan(*type.element, fields[1], fields[1].value, fields[1].offset, path,
                  part.parts.emplace_back());
    }
    case AvroKind::enumeration:
      for (const std::string_view symbol : shape.symbols) {
        const auto found = std::find(type.names.begin(), type.names.end(), symbol);
        part.symbols.push_back(found == type.names.end()
                                   ? no_branch
                                   : static_cast<std::uint32_t>(found - type.names.begin()));
      }
      return {};
    default: return {};
  }
}

// The first branch that fits is the value's.
Status AvroRecordWriter::plan_choice(const AvroType& type, const FieldShape& field,
                                     const ValueShape& shape, const std::string& path, Part& part) {
  const bool optional = shape.kind == ValueKind::optional;
  const ValueShape& value = optional ? *shape.element : shape;
  Status refused;
  for (std::uint32_t i = 0; i < type.parts.size(); ++i) {
    if (type.parts[i]->kind == AvroKind::null) {
      part.null_branch = i;
      continue;
    }
    if (part.branch != no_branch) continue;
    Part own;
    // What is in an optional is at the address that it answers.
    const Status status = plan(*type.parts[i], field, value, optional ? 0 : part.offset, path, own);
    if (!status.ok()) {
      refused = status;
      continue;
    }
    part.branch = i;
    part.parts.push_back(std::move(own));
  }
  if (part.branch == no_branch) {
    return refused.ok() ? Status(ErrorCode::invalid_argument,
                                 "'" + path + "' can't be written as " + describe(type))
                        : refused;
  }
  if (optional && part.null_branch == no_branch) {
    return {ErrorCode::invalid_argument,
            "'" + path + "' may be empty, and " + describe(type) + " has no null"};
  }
  return {};
}

void AvroRecordWriter::write_parts(const std::vector<Part>& parts, const char* base,
                                   std::string& text) {
  for (const Part& part : parts) write_part(part, base, text);
}

void AvroRecordWriter::write_part(const Part& part, const char* base, std::string& text) {
  if (part.field == nullptr) {
    if (part.branch != no_branch) append_number_folded(part.branch, text);
    return;
  }
  const void* const value = base + part.offset;
  switch (part.type->kind) {
    case AvroKind::choice: {
      const char* inside = base;
      if (part.shape->kind == ValueKind::optional) {
        if (part.shape->count(value) == 0) return append_number_folded(part.null_branch, text);
        inside = static_cast<const char*>(part.shape->at(value, 0));
      }
      append_number_folded(part.branch, text);
      return write_part(part.parts[0], inside, text);
    }
    case AvroKind::record: return write_parts(part.parts, static_cast<const char*>(value), text);
    case AvroKind::list:
    case AvroKind::map: return write_items(part, value, text);
    case AvroKind::boolean: text.push_back(load_as<bool>(value) ? 1 : 0); return;
    case AvroKind::float32: return append_bytes(load_as<float>(value), text);
    case AvroKind::float64:
      return append_bytes(part.shape->kind == ValueKind::f32
                              ? static_cast<double>(load_as<float>(value))
                              : load_as<double>(value),
                          text);
    default: break;
  }
  switch (part.shape->kind) {
    case ValueKind::view:
      return write_text(part, *static_cast<const std::string_view*>(value), text);
    case ValueKind::string: return write_text(part, *static_cast<const std::string*>(value), text);
    default: return write_number(part, value, text);
  }
}

void AvroRecordWriter::write_items(const Part& part, const void* value, std::string& text) {
  const std::size_t count = part.shape->count(value);
  if (count > 0) {
    append_number_folded(static_cast<std::int64_t>(count), text);
    for (std::size_t i = 0; i < count; ++i) {
      write_parts(part.parts, static_cast<const char*>(part.shape->at(value, i)), text);
    }
  }
  text.push_back(0);
}

void AvroRecordWriter::write_text(const Part& part, std::string_view value, std::string& text) {
  const AvroType& type = *part.type;
  if (type.kind == AvroKind::enumeration) {
    const auto found = std::find(type.names.begin(), type.names.end(), value);
    if (found == type.names.end()) {
      refuse_value(*part.field, "has '" + std::string(value.substr(0, 40)) +
                                    "', which is no symbol of " + describe(type));
    }
    return append_number_folded(found - type.names.begin(), text);
  }
  if (type.kind == AvroKind::fixed) {
    if (value.size() != type.size) {
      refuse_value(*part.field, "has " + std::to_string(value.size()) + " bytes, and " +
                                    describe(type) + " has " + std::to_string(type.size));
    }
    text.append(value);
    return;
  }
  if (type.kind == AvroKind::string && !is_utf8(value)) {
    refuse_value(*part.field, "is no UTF-8: set the option schema to one that has bytes there");
  }
  append_number_folded(static_cast<std::int64_t>(value.size()), text);
  text.append(value);
}

void AvroRecordWriter::write_number(const Part& part, const void* value, std::string& text) {
  std::int64_t number = 0;
  switch (part.shape->kind) {
    case ValueKind::i8: number = load_as<std::int8_t>(value); break;
    case ValueKind::i16: number = load_as<std::int16_t>(value); break;
    case ValueKind::i32: number = load_as<std::int32_t>(value); break;
    case ValueKind::i64: number = load_as<std::int64_t>(value); break;
    case ValueKind::u8: number = load_as<std::uint8_t>(value); break;
    case ValueKind::u16: number = load_as<std::uint16_t>(value); break;
    case ValueKind::u32: number = load_as<std::uint32_t>(value); break;
    default: {
      const auto whole = load_as<std::uint64_t>(value);
      if (!std::in_range<std::int64_t>(whole)) {
        refuse_value(*part.field, "is " + std::to_string(whole) + ", which is no long");
      }
      number = static_cast<std::int64_t>(whole);
    }
  }
  if (part.type->kind == AvroKind::enumeration) {
    const bool known = std::in_range<std::size_t>(number) &&
                       static_cast<std::size_t>(number) < part.symbols.size() &&
                       part.symbols[static_cast<std::size_t>(number)] != no_branch;
    if (!known) {
      refuse_value(*part.field, "is " + std::to_string(number) + ", which is no symbol of " +
                                    describe(*part.type));
    }
    number = part.symbols[static_cast<std::size_t>(number)];
  }
  append_number_folded(number, text);
}

AvroEncoder::AvroEncoder(Result<AvroRecordWriter> writer, std::string schema, AvroOptions options)
    : writer_(std::move(writer)),
      schema_(std::move(schema)),
      options_(std::move(options)),
      codec_(options_.codec) {
  const std::string head = make_avro_head(schema_, options_.codec);
  mark_ = head.substr(head.size() - avro_mark_bytes);
}

Status AvroEncoder::open() {
  if (!writer_.ok()) return writer_.status();
  if (options_.form == AvroOptions::Form::single_object) {
    message_head_ = "\xC3\x01";
    append_bytes(writer_->schema().fingerprint(), message_head_);
  } else if (options_.form == AvroOptions::Form::registry) {
    const Result<std::uint32_t> id =
        options_.registry->add(options_.subject, SchemaRegistry::Language::avro, schema_);
    if (!id.ok()) {
      return {id.status().code(),
              "avro, subject '" + options_.subject + "': " + id.status().message()};
    }
    message_head_.assign(1, 0);
    append_bytes(__builtin_bswap32(*id), message_head_);
  }
  return {};
}

void AvroEncoder::end_block(std::string& text) {
  packed_.clear();
  if (const Status status = codec_.pack(text, packed_); !status.ok()) {
    throw std::runtime_error("avro: " + status.message());
  }
  text.clear();
  append_number_folded(static_cast<std::int64_t>(std::exchange(records_, 0)), text);
  append_number_folded(static_cast<std::int64_t>(packed_.size()), text);
  text.append(packed_);
  text.append(mark_);
}

}  // namespace hummer::formats
