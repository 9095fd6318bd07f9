#include "raw_layout.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>

namespace hummer::formats {
namespace {

// Of a number, in a record and in its bytes.
std::size_t width_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::boolean:
    case ValueKind::i8:
    case ValueKind::u8: return 1;
    case ValueKind::i16:
    case ValueKind::u16: return 2;
    case ValueKind::i32:
    case ValueKind::u32:
    case ValueKind::f32: return 4;
    case ValueKind::i64:
    case ValueKind::u64:
    case ValueKind::f64: return 8;
    default: return 0;
  }
}

bool is_raw_text(ValueKind kind) { return kind == ValueKind::view || kind == ValueKind::string; }

template <typename Bits>
void copy_bits(const void* from, void* to, bool swapped) {
  Bits bits;
  std::memcpy(&bits, from, sizeof bits);
  if (swapped) {
    if constexpr (sizeof bits == 2) bits = __builtin_bswap16(bits);
    if constexpr (sizeof bits == 4) bits = __builtin_bswap32(bits);
    if constexpr (sizeof bits == 8) bits = __builtin_bswap64(bits);
  }
  std::memcpy(to, &bits, sizeof bits);
}

void copy_number(std::size_t width, const void* from, void* to, bool swapped) {
  switch (width) {
    case 1: return copy_bits<std::uint8_t>(from, to, false);
    case 2: return copy_bits<std::uint16_t>(from, to, swapped);
    case 4: return copy_bits<std::uint32_t>(from, to, swapped);
    default: return copy_bits<std::uint64_t>(from, to, swapped);
  }
}

class FramingOfRaw final : public RecordFraming {
 public:
  FramingOfRaw(RawFraming framing, std::size_t record_bytes)
      : framing_(framing),
        record_bytes_(record_bytes),
        name_("raw " + std::to_string(static_cast<int>(framing)) + " " +
              std::to_string(record_bytes)) {}

  std::string_view name() const override { return name_; }
  std::size_t mark_bytes() const override { return 0; }
  Result<std::size_t> head_bytes(std::string_view) const override { return std::size_t{0}; }
  Result<std::size_t> unit_bytes(std::string_view text) const override {
    const RawLength length = read_length(framing_, record_bytes_, text);
    if (length.broken) {
      return Status(ErrorCode::corrupt_file, "a varint of more than 32 bits is no length");
    }
    if (length.payload_bytes == RawLength::unknown) return unknown;
    return length.prefix_bytes + length.payload_bytes;
  }

  bool is(RawFraming framing, std::size_t record_bytes) const {
    return framing == framing_ && record_bytes == record_bytes_;
  }

 private:
  const RawFraming framing_;
  const std::size_t record_bytes_;
  const std::string name_;
};

}  // namespace

Status RawLayout::collect(const RecordShape& shape, std::size_t offset,
                          std::vector<Field>& fields) {
  for (const FieldShape& field : shape.fields) {
    if (!fields.empty() && is_raw_text(fields.back().kind)) {
      return {ErrorCode::invalid_argument,
              "text takes the rest of a record, and must be its last field: '" +
                  std::string(field.name) + "' is behind it"};
    }
    const ValueKind kind = field.value.kind;
    if (kind == ValueKind::record) {
      HUMMER_TRY(collect(*field.value.record, offset + field.offset, fields));
      continue;
    }
    if (width_of(kind) == 0 && !is_raw_text(kind)) {
      return {
          ErrorCode::invalid_argument,
          "the field '" + std::string(field.name) + "' is " + std::string(describe(kind)) +
              ", which has no fixed place in raw bytes: use numbers, bool, and text at the end"};
    }
    fields.push_back({offset + field.offset, kind});
  }
  return {};
}

Status RawLayout::check(const RecordShape& shape, const RawOptions& options) {
  std::vector<Field> fields;
  HUMMER_TRY(collect(shape, 0, fields));
  if (fields.empty()) return {ErrorCode::invalid_argument, "the record has no fields"};
  const RawLayout layout(shape, options);
  if (options.framing != RawFraming::fixed) {
    if (options.record_bytes == 0) return {};
    return {ErrorCode::invalid_argument,
            "record_bytes is of records of a fixed size: leave it out, or set framing to fixed"};
  }
  if (layout.ends_with_text_ && options.record_bytes == 0) {
    return {ErrorCode::invalid_argument,
            "the record ends with text: say its size, as record_bytes"};
  }
  const bool fits = layout.ends_with_text_ ? layout.record_bytes_ >= layout.least_bytes_
                                           : layout.record_bytes_ == layout.least_bytes_;
  if (fits && layout.record_bytes_ <= UINT32_MAX) return {};
  return {ErrorCode::invalid_argument, "record_bytes is " + std::to_string(options.record_bytes) +
                                           ", and the fields take " +
                                           std::to_string(layout.least_bytes_)};
}

RawLayout::RawLayout(const RecordShape& shape, const RawOptions& options)
    : swapped_(options.byte_order != std::endian::native) {
  (void)collect(shape, 0, fields_);
  for (const Field& field : fields_) least_bytes_ += width_of(field.kind);
  ends_with_text_ = !fields_.empty() && is_raw_text(fields_.back().kind);
  record_bytes_ = options.record_bytes != 0 ? options.record_bytes : least_bytes_;
}

const char* RawLayout::read(std::string_view bytes, void* record) const {
  if (ends_with_text_ ? bytes.size() < least_bytes_ : bytes.size() != least_bytes_) {
    return bytes.size() < least_bytes_ ? "it has fewer bytes than its fields take"
                                       : "it has more bytes than its fields take";
  }
  const char* at = bytes.data();
  for (const Field& field : fields_) {
    void* const to = static_cast<char*>(record) + field.offset;
    if (is_raw_text(field.kind)) {
      const std::string_view rest = bytes.substr(least_bytes_);
      if (field.kind == ValueKind::view) {
        *static_cast<std::string_view*>(to) = rest;
      } else {
        static_cast<std::string*>(to)->assign(rest);
      }
      break;
    }
    if (field.kind == ValueKind::boolean && static_cast<unsigned char>(*at) > 1) {
      return "a bool in it is neither 0 nor 1";
    }
    const std::size_t width = width_of(field.kind);
    copy_number(width, at, to, swapped_);
    at += width;
  }
  return nullptr;
}

void RawLayout::append(const void* record, std::string& bytes) const {
  for (const Field& field : fields_) {
    const void* const from = static_cast<const char*>(record) + field.offset;
    if (field.kind == ValueKind::view) {
      bytes.append(*static_cast<const std::string_view*>(from));
    } else if (field.kind == ValueKind::string) {
      bytes.append(*static_cast<const std::string*>(from));
    } else {
      char written[8];
      const std::size_t width = width_of(field.kind);
      copy_number(width, from, written, swapped_);
      bytes.append(written, width);
    }
  }
}

RawLength read_length(RawFraming framing, std::size_t record_bytes, std::string_view text) {
  const auto byte = [&](std::size_t i) -> std::size_t {
    return static_cast<unsigned char>(text[i]);
  };
  if (framing == RawFraming::fixed) return {.prefix_bytes = 0, .payload_bytes = record_bytes};
  if (framing != RawFraming::varint) {
    if (text.size() < 4) return {};
    const bool big = framing == RawFraming::u32_big;
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i) size |= byte(i) << (8 * (big ? 3 - i : i));
    return {.prefix_bytes = 4, .payload_bytes = size};
  }
  std::size_t size = 0;
  for (std::size_t i = 0; i < 5 && i < text.size(); ++i) {
    size |= (byte(i) & 0x7F) << (7 * i);
    if (size > UINT32_MAX) break;
    if (byte(i) < 0x80) return {.prefix_bytes = i + 1, .payload_bytes = size};
  }
  return {.broken = text.size() >= 5};
}

void append_length(RawFraming framing, std::size_t payload_bytes, std::string& text) {
  const auto put = [&](std::size_t byte) { text.push_back(static_cast<char>(byte & 0xFF)); };
  if (framing == RawFraming::u32_big) {
    for (int shift = 24; shift >= 0; shift -= 8) put(payload_bytes >> shift);
  } else if (framing == RawFraming::u32_little) {
    for (int shift = 0; shift <= 24; shift += 8) put(payload_bytes >> shift);
  } else if (framing == RawFraming::varint) {
    for (; payload_bytes >= 0x80; payload_bytes >>= 7) put(payload_bytes | 0x80);
    put(payload_bytes);
  }
}

const RecordFraming* raw_framing(RawFraming framing, std::size_t record_bytes) {
  static std::mutex mutex;
  static std::deque<FramingOfRaw>& made = *new std::deque<FramingOfRaw>;
  const std::lock_guard lock(mutex);
  const auto found = std::find_if(made.begin(), made.end(), [&](const FramingOfRaw& each) {
    return each.is(framing, record_bytes);
  });
  return found != made.end() ? &*found : &made.emplace_back(framing, record_bytes);
}

template <>
const RecordShape& shape_of<std::string_view>() {
  static const RecordShape& shape = *new RecordShape([] {
    RecordShape made;
    made.name = "std::string_view";
    made.size_bytes = sizeof(std::string_view);
    made.construct = [](void* records, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i)
        new (static_cast<std::string_view*>(records) + i) std::string_view();
    };
    made.destroy = [](void*, std::size_t) {};
    made.fields.push_back(
        detail::describe_field("bytes", detail::describe_value<std::string_view>(), 0));
    return made;
  }());
  return shape;
}

}  // namespace hummer::formats
