#include <hummer/formats/record_shape.hpp>

namespace hummer::formats {

std::size_t RecordShape::find(std::string_view wanted) const {
  std::size_t i = 0;
  while (i < fields.size() && fields[i].name != wanted) ++i;
  return i;
}

FieldShape detail::describe_field(std::string_view name, const ValueShape& value,
                                  std::size_t offset) {
  FieldShape field{.name = name, .value = value, .offset = offset};
  if (name.size() >= field.quoted.size()) return field;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    field.quoted[i] = i < name.size() ? static_cast<unsigned char>(name[i]) : '"';
    field.quoted_mask[i] = 0xFF;
  }
  return field;
}

std::string_view describe(ValueKind kind) {
  switch (kind) {
    case ValueKind::boolean: return "true or false";
    case ValueKind::i8:
    case ValueKind::i16:
    case ValueKind::i32:
    case ValueKind::i64: return "a whole number";
    case ValueKind::u8:
    case ValueKind::u16:
    case ValueKind::u32:
    case ValueKind::u64: return "a whole number without a sign";
    case ValueKind::f32:
    case ValueKind::f64: return "a number";
    case ValueKind::view:
    case ValueKind::string: return "text";
    case ValueKind::optional: return "a value or nothing";
    case ValueKind::list: return "a list";
    case ValueKind::record: return "an object";
  }
  return "";
}

}  // namespace hummer::formats
