#include "protobuf_writer.hpp"

#include <cstring>
#include <stdexcept>
#include <utility>

#include "utf8.hpp"
#include "varint.hpp"

namespace hummer::formats {
namespace {

template <typename Number>
Number number_at(const void* value) {
  Number number;
  std::memcpy(&number, value, sizeof number);
  return number;
}

class ProtobufWriting {
 public:
  ProtobufWriting(const ProtobufPlan& plan, std::string& text) : plan_(plan), text_(text) {}

  void write_message(const ProtobufMessagePlan& message, const char* base) {
    for (const ProtobufField& field : message.fields) {
      const char* const value = base + field.offset;
      if (field.repeated) {
        write_list(field, value);
      } else if (field.optional) {
        if (field.shape->count(value) == 0) {
          if (field.required_bit != 0) refuse(field, "is required, and empty");
          continue;
        }
        check_rivals(message, field, base);
        write_one(field, field.shape->at(value, 0));
      } else if (field.explicit_presence || field.type == ProtoType::message ||
                 !is_zero(field.kind, value)) {
        write_one(field, value);
      }
    }
  }

  // What `write` appends, with its length ahead.
  template <typename Write>
  void write_sized(const Write& write) {
    const std::size_t at = text_.size();
    text_.push_back(0);
    write();
    const std::size_t size = text_.size() - at - 1;
    if (size < 0x80) {
      text_[at] = static_cast<char>(size);
      return;
    }
    length_.clear();
    append_varint(size, length_);
    text_.replace(at, 1, length_);
  }

 private:
  [[noreturn]] static void refuse(const ProtobufField& field, const std::string& what) {
    throw std::invalid_argument("protobuf: '" + std::string(field.field->name) + "' " + what);
  }

  static bool is_zero(ValueKind kind, const void* value) {
    switch (kind) {
      case ValueKind::boolean:
      case ValueKind::i8:
      case ValueKind::u8: return number_at<std::uint8_t>(value) == 0;
      case ValueKind::i16:
      case ValueKind::u16: return number_at<std::uint16_t>(value) == 0;
      // By their bits: -0.0 is something.
      case ValueKind::i32:
      case ValueKind::u32:
      case ValueKind::f32: return number_at<std::uint32_t>(value) == 0;
      case ValueKind::view: return static_cast<const std::string_view*>(value)->empty();
      case ValueKind::string: return static_cast<const std::string*>(value)->empty();
      default: return number_at<std::uint64_t>(value) == 0;
    }
  }

  static void check_rivals(const ProtobufMessagePlan& message, const ProtobufField& field,
                           const char* base) {
    for (const std::uint32_t rival : field.rivals) {
      const ProtobufField& other = message.fields[rival];
      if (other.shape->count(base + other.offset) == 0) continue;
      refuse(field,
             "and '" + std::string(other.field->name) + "' are of one oneof, and both are there");
    }
  }

  void write_list(const ProtobufField& field, const void* value) {
    const std::size_t count = field.shape->count(value);
    if (count == 0) return;
    if (!field.packed) {
      for (std::size_t i = 0; i < count; ++i) write_one(field, field.shape->at(value, i));
      return;
    }
    append_varint(field.number() << 3 | static_cast<std::uint32_t>(ProtoWire::sized), text_);
    write_sized([&] {
      for (std::size_t i = 0; i < count; ++i) write_value(field, field.shape->at(value, i));
    });
  }

  void write_one(const ProtobufField& field, const void* value) {
    append_varint(field.tag, text_);
    write_value(field, value);
  }

  void write_value(const ProtobufField& field, const void* value) {
    switch (field.type) {
      case ProtoType::message:
        return write_sized(
            [&] { write_message(plan_.messages[field.message], static_cast<const char*>(value)); });
      case ProtoType::string:
      case ProtoType::bytes: return write_text(field, value);
      case ProtoType::boolean: text_.push_back(number_at<bool>(value) ? 1 : 0); return;
      case ProtoType::float64: return append_bytes(number_at<double>(value), text_);
      case ProtoType::float32: return append_bytes(float_of(field, value), text_);
      default: return write_integer(field, value);
    }
  }

  static float float_of(const ProtobufField& field, const void* value) {
    if (field.direct) return number_at<float>(value);
    const double wide = number_at<double>(value);
    const float narrow = static_cast<float>(wide);
    check(field, static_cast<double>(narrow) == wide || wide != wide);
    return narrow;
  }

  void write_text(const ProtobufField& field, const void* value) {
    const std::string_view text = field.kind == ValueKind::view
                                      ? *static_cast<const std::string_view*>(value)
                                      : *static_cast<const std::string*>(value);
    if (field.type == ProtoType::string && plan_.checks_utf8 && !is_utf8(text)) {
      refuse(field, "is no UTF-8: the message's field would have to be bytes");
    }
    append_varint(text.size(), text_);
    text_.append(text);
  }

  void write_integer(const ProtobufField& field, const void* value) {
    std::int64_t number = 0;
    bool large = false;  // above what is signed
    switch (field.kind) {
      case ValueKind::i8: number = number_at<std::int8_t>(value); break;
      case ValueKind::i16: number = number_at<std::int16_t>(value); break;
      case ValueKind::i32: number = number_at<std::int32_t>(value); break;
      case ValueKind::u8: number = number_at<std::uint8_t>(value); break;
      case ValueKind::u16: number = number_at<std::uint16_t>(value); break;
      case ValueKind::u32: number = number_at<std::uint32_t>(value); break;
      case ValueKind::u64:
        number = number_at<std::int64_t>(value);
        large = number < 0;
        break;
      default: number = number_at<std::int64_t>(value); break;
    }
    switch (field.type) {
      case ProtoType::int64:
      case ProtoType::sint64:
      case ProtoType::sfixed64: check(field, !large); break;
      case ProtoType::uint64:
      case ProtoType::fixed64: check(field, large || number >= 0); break;
      case ProtoType::uint32:
      case ProtoType::fixed32: check(field, !large && std::in_range<std::uint32_t>(number)); break;
      default: check(field, !large && std::in_range<std::int32_t>(number)); break;
    }
    switch (field.type) {
      case ProtoType::sint32:
      case ProtoType::sint64: return append_varint(folded(number), text_);
      case ProtoType::fixed32:
      case ProtoType::sfixed32: return append_bytes(static_cast<std::uint32_t>(number), text_);
      case ProtoType::fixed64:
      case ProtoType::sfixed64: return append_bytes(number, text_);
      default: return append_varint(static_cast<std::uint64_t>(number), text_);
    }
  }
  static void check(const ProtobufField& field, bool fits) {
    if (!fits) refuse(field, "is a number that " + std::string(describe(field.type)) + " can't be");
  }

  const ProtobufPlan& plan_;
  std::string& text_;
  std::string length_;
};

}  // namespace

void write_protobuf_message(const ProtobufPlan& plan, const void* record, std::string& text) {
  ProtobufWriting(plan, text)
      .write_message(plan.messages.front(), static_cast<const char*>(record));
}

void write_protobuf_delimited(const ProtobufPlan& plan, const void* record, std::string& text) {
  ProtobufWriting writing(plan, text);
  writing.write_sized(
      [&] { writing.write_message(plan.messages.front(), static_cast<const char*>(record)); });
}

}  // namespace hummer::formats
