#include "protobuf_reader.hpp"

#include <cstring>
#include <utility>

#include "protobuf_wire.hpp"
#include "utf8.hpp"
#include "varint.hpp"

namespace hummer::formats {
namespace {

template <typename Number>
void put_as(void* to, Number number) {
  std::memcpy(to, &number, sizeof number);
}

template <typename Number, typename Wide>
bool put_fitting(void* to, Wide value) {
  put_as(to, static_cast<Number>(value));
  return std::in_range<Number>(value);
}

template <typename Wide>
bool put_fitting(ValueKind kind, void* to, Wide value) {
  switch (kind) {
    case ValueKind::i8: return put_fitting<std::int8_t>(to, value);
    case ValueKind::i16: return put_fitting<std::int16_t>(to, value);
    case ValueKind::i32: return put_fitting<std::int32_t>(to, value);
    case ValueKind::u8: return put_fitting<std::uint8_t>(to, value);
    case ValueKind::u16: return put_fitting<std::uint16_t>(to, value);
    case ValueKind::u32: return put_fitting<std::uint32_t>(to, value);
    case ValueKind::u64: return put_fitting<std::uint64_t>(to, value);
    default: return put_fitting<std::int64_t>(to, value);
  }
}

}  // namespace

bool ProtobufReader::wrong(const ProtobufField* field, const char* what) {
  why_ =
      field == nullptr ? std::string(what) : "'" + std::string(field->field->name) + "': " + what;
  return false;
}

void ProtobufReader::set_defaults(const ProtobufMessagePlan& plan, char* base) {
  for (const ProtobufDefault& each : plan.defaults) {
    char* const to = base + each.offset;
    switch (each.kind) {
      case ValueKind::optional:
      case ValueKind::list: each.shape->clear(to); break;
      case ValueKind::view:
        *reinterpret_cast<std::string_view*>(to) =
            each.text.empty() ? std::string_view() : batch_->copy_text(each.text);
        break;
      case ValueKind::string: reinterpret_cast<std::string*>(to)->assign(each.text); break;
      case ValueKind::boolean: put_as(to, each.bits != 0); break;
      case ValueKind::f32: put_as(to, static_cast<std::uint32_t>(each.bits)); break;
      case ValueKind::f64: put_as(to, each.bits); break;
      default: put_fitting(each.kind, to, static_cast<std::int64_t>(each.bits)); break;
    }
  }
}

bool ProtobufReader::read_message(const ProtobufMessagePlan& plan, const char* at, const char* end,
                                  char* base) {
  const ProtobufField* const fields = plan.fields.data();
  const auto count = static_cast<std::uint32_t>(plan.fields.size());
  std::uint32_t next = 0;  // the field that is likely to come
  std::uint64_t seen = 0;
  while (at != end) {
    std::uint64_t tag = static_cast<unsigned char>(*at);
    if (tag < 0x80) {
      ++at;
    } else {
      at = read_varint(at, end, tag);
      if (at == nullptr || tag > UINT32_MAX) return wrong(nullptr, "there is no field's number");
    }
    std::uint32_t found = next;
    if (next >= count || fields[next].tag != tag) [[unlikely]] {
      if (tag >> 3 == 0) return wrong(nullptr, "a field has the number 0");
      found = plan.find(static_cast<std::uint32_t>(tag >> 3));
      if (found == ProtobufMessagePlan::unknown) {
        at = skip(static_cast<std::uint32_t>(tag), at, end);
        if (at == nullptr) return false;
        continue;
      }
    }
    const ProtobufField& field = fields[found];
    next = field.repeated ? found : found + 1;
    if (field.tag == tag) [[likely]] {
      std::uint64_t bits = 0;
      char* const to = base + field.offset;
      switch (field.shortcut) {
        case ProtobufShortcut::varint64:
          at = read_varint(at, end, bits);
          if (at == nullptr) [[unlikely]]
            return wrong(&field, no_proto_number);
          put_as(to, bits);
          break;
        case ProtobufShortcut::varint32:
          at = read_varint(at, end, bits);
          if (at == nullptr) [[unlikely]]
            return wrong(&field, no_proto_number);
          put_as(to, static_cast<std::uint32_t>(bits));
          break;
        case ProtobufShortcut::fixed64:
          if (end - at < 8) [[unlikely]]
            return wrong(&field, message_ends_inside);
          std::memcpy(to, at, 8);
          at += 8;
          break;
        case ProtobufShortcut::fixed32:
          if (end - at < 4) [[unlikely]]
            return wrong(&field, message_ends_inside);
          std::memcpy(to, at, 4);
          at += 4;
          break;
        case ProtobufShortcut::text: at = read_text(field, at, end, to); break;
        case ProtobufShortcut::none: at = read_value(field, at, end, base, plan); break;
      }
    } else if (field.repeated && (tag & 7) == static_cast<unsigned>(ProtoWire::sized) &&
               wire_of(field.type) != ProtoWire::sized) {
      at = read_packed(field, at, end, base);
    } else {
      // Of another type than it has: what does not know the field passes it over.
      at = skip(static_cast<std::uint32_t>(tag), at, end);
      if (at == nullptr) return false;
      continue;
    }
    if (at == nullptr) return false;
    if (field.required_bit != 0) seen |= std::uint64_t{1} << (field.required_bit - 1);
  }
  if ((plan.required & ~seen) != 0) {
    for (const ProtobufField& field : plan.fields) {
      if (field.required_bit != 0 && (seen >> (field.required_bit - 1) & 1) == 0) {
        return wrong(&field, "it is required, and missing");
      }
    }
  }
  return true;
}

const char* ProtobufReader::read_value(const ProtobufField& field, const char* at, const char* end,
                                       char* base, const ProtobufMessagePlan& plan) {
  for (const std::uint32_t rival : field.rivals) {
    plan.fields[rival].shape->clear(base + plan.fields[rival].offset);
  }
  if (field.type == ProtoType::message) return read_nested(field, at, end, base);
  void* to = base + field.offset;
  if (field.optional || field.repeated) to = field.shape->add(to);
  return read_scalar(field, at, end, to);
}

const char* ProtobufReader::read_scalar(const ProtobufField& field, const char* at, const char* end,
                                        void* to) {
  std::uint64_t bits = 0;
  switch (wire_of(field.type)) {
    case ProtoWire::sized: return read_text(field, at, end, to);
    case ProtoWire::varint:
      at = read_varint(at, end, bits);
      if (at == nullptr) [[unlikely]] {
        wrong(&field, no_proto_number);
        return nullptr;
      }
      break;
    default: {
      const std::size_t size = wire_of(field.type) == ProtoWire::fixed64 ? 8 : 4;
      if (static_cast<std::size_t>(end - at) < size) [[unlikely]] {
        wrong(&field, message_ends_inside);
        return nullptr;
      }
      std::memcpy(&bits, at, size);
      at += size;
    }
  }
  // As Protobuf has it: an int32 is what the lower half is, whatever comes with it.
  std::int64_t value = 0;
  bool fits = true;
  switch (field.type) {
    case ProtoType::float64: put_as(to, bits); return at;
    case ProtoType::float32:
      if (field.direct) {
        put_as(to, static_cast<std::uint32_t>(bits));
      } else {
        float narrow = 0;
        std::memcpy(&narrow, &bits, sizeof narrow);
        put_as(to, static_cast<double>(narrow));
      }
      return at;
    case ProtoType::boolean: put_as(to, bits != 0); return at;
    case ProtoType::int64:
    case ProtoType::sfixed64: value = static_cast<std::int64_t>(bits); break;
    case ProtoType::sint64: value = unfolded(bits); break;
    case ProtoType::sint32:
      value = static_cast<std::int32_t>(unfolded(static_cast<std::uint32_t>(bits)));
      break;
    case ProtoType::uint64:
    case ProtoType::fixed64:
      if (field.direct) {
        put_as(to, bits);
        return at;
      }
      fits = put_fitting(field.kind, to, bits);
      value = static_cast<std::int64_t>(bits);
      break;
    case ProtoType::uint32:
    case ProtoType::fixed32: value = static_cast<std::uint32_t>(bits); break;
    default: value = static_cast<std::int32_t>(bits); break;
  }
  if (field.type != ProtoType::uint64 && field.type != ProtoType::fixed64) {
    if (field.kind == ValueKind::i64) {
      put_as(to, value);
    } else if (field.direct) {
      put_as(to, static_cast<std::int32_t>(value));
    } else {
      fits = put_fitting(field.kind, to, value);
    }
  }
  if (fits) [[likely]]
    return at;
  wrong(&field, "the number does not fit");
  return nullptr;
}

const char* ProtobufReader::read_text(const ProtobufField& field, const char* at, const char* end,
                                      void* to) {
  std::uint64_t size = 0;
  at = read_varint(at, end, size);
  if (at == nullptr || size > static_cast<std::size_t>(end - at)) [[unlikely]] {
    wrong(&field, message_ends_inside);
    return nullptr;
  }
  const std::string_view text(at, size);
  if (field.type == ProtoType::string && plan_->checks_utf8 && !is_utf8(text)) [[unlikely]] {
    wrong(&field, "the string is no UTF-8");
    return nullptr;
  }
  if (field.kind == ValueKind::view) {
    *static_cast<std::string_view*>(to) = text;
  } else {
    static_cast<std::string*>(to)->assign(text);
  }
  return at + size;
}

// A message that comes again goes on with what is there.
const char* ProtobufReader::read_nested(const ProtobufField& field, const char* at, const char* end,
                                        char* base) {
  std::uint64_t size = 0;
  at = read_varint(at, end, size);
  if (at == nullptr || size > static_cast<std::size_t>(end - at)) {
    wrong(&field, message_ends_inside);
    return nullptr;
  }
  const ProtobufMessagePlan& plan = plan_->messages[field.message];
  char* to = base + field.offset;
  if (field.repeated || (field.optional && field.shape->count(to) == 0)) {
    to = static_cast<char*>(field.shape->add(to));
    if (!plan.defaults.empty()) set_defaults(plan, to);
  } else if (field.optional) {
    to = static_cast<char*>(const_cast<void*>(field.shape->at(to, 0)));
  }
  if (read_message(plan, at, at + size, to)) return at + size;
  why_ = "in '" + std::string(field.field->name) + "': " + why_;
  return nullptr;
}

const char* ProtobufReader::read_packed(const ProtobufField& field, const char* at, const char* end,
                                        char* base) {
  std::uint64_t size = 0;
  at = read_varint(at, end, size);
  if (at == nullptr || size > static_cast<std::size_t>(end - at)) {
    wrong(&field, message_ends_inside);
    return nullptr;
  }
  const char* const last = at + size;
  while (at != last) {
    at = read_scalar(field, at, last, field.shape->add(base + field.offset));
    if (at == nullptr) return nullptr;
  }
  return at;
}

const char* ProtobufReader::skip(std::uint32_t tag, const char* at, const char* end) {
  const SkippedField skipped = skip_field(tag, at, end);
  if (skipped.behind == nullptr) wrong(nullptr, skipped.why);
  return skipped.behind;
}

}  // namespace hummer::formats
