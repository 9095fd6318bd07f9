// RecordShape: a record type as formats see it: its fields with their names, kinds and places.
//
//   const RecordShape& shape = shape_of<Trade>();
//   shape.fields[1].name                                  // "price"
//   shape.fields[1].value.kind                            // ValueKind::f64
//
// Made once per type, by reflection. Decoders and encoders are written against it, not against the
// type, so that they are compiled once: they write a number where the shape says that it lies, and
// ask the type's own code for nothing but records, texts that own memory, optionals and lists.
//
// What a record may hold: bool, integers, float and double, enumerations (as their numbers),
// std::string, std::string_view (into the input), std::optional and std::vector of any of these,
// and aggregates of them. A type is default-constructible: fields that the input lacks keep their
// initialisers. Which of these a format can say is up to it: CSV has no lists.
//
// Thread: immutable. Lifecycle: never destroyed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <hummer/detail/format_value.hpp>
#include <hummer/detail/record_type.hpp>
#include <hummer/formats/field_names.hpp>

namespace hummer::formats {

struct RecordShape;

enum class ValueKind : std::uint8_t {
  boolean,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f32,
  f64,
  view,      // std::string_view
  string,    // std::string
  optional,  // of `element`
  list,      // a vector of `element`
  record,    // fields of `record`
};

struct ValueShape {
  ValueKind kind = ValueKind::record;
  const ValueShape* element = nullptr;
  const RecordShape* record = nullptr;
  std::span<const std::string_view> symbols = {};  // of an enumeration that has any

  // Of optional and list: none in it; one more in it, whose address is the answer.
  void (*clear)(void* value) = nullptr;
  void* (*add)(void* value) = nullptr;
  // How many are in it, and the address of one.
  std::size_t (*count)(const void* value) = nullptr;
  const void* (*at)(const void* value, std::size_t index) = nullptr;

  // Whether the input may lack it.
  bool may_be_missing() const { return kind == ValueKind::optional; }
};

struct FieldShape {
  std::string_view name;
  ValueShape value;
  std::size_t offset = 0;
  std::uint32_t number = 0;  // as field_numbers has it
  // The name and a quote behind it, to be compared at once; the mask is empty where it is too long.
  std::array<unsigned char, 16> quoted = {};
  std::array<unsigned char, 16> quoted_mask = {};
};

struct RecordShape {
  std::string_view name;  // of the type, for messages
  std::vector<FieldShape> fields;
  std::size_t size_bytes = 0;
  // Makes and drops records in raw memory.
  void (*construct)(void* records, std::size_t count) = nullptr;
  void (*destroy)(void* records, std::size_t count) = nullptr;

  // The number of the field with this name; fields.size(): there is none.
  std::size_t find(std::string_view name) const;
};

// "a number", "text", …: what an input must have there, for messages.
std::string_view describe(ValueKind kind);

namespace detail {

using hummer::detail::is_optional;
using hummer::detail::is_vector;

template <typename T>
consteval ValueKind number_kind() {
  if constexpr (std::is_same_v<T, bool>) return ValueKind::boolean;
  if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 4 ? ValueKind::f32 : ValueKind::f64;
  }
  constexpr bool is_signed = std::is_signed_v<T>;
  switch (sizeof(T)) {
    case 1: return is_signed ? ValueKind::i8 : ValueKind::u8;
    case 2: return is_signed ? ValueKind::i16 : ValueKind::u16;
    case 4: return is_signed ? ValueKind::i32 : ValueKind::u32;
    default: return is_signed ? ValueKind::i64 : ValueKind::u64;
  }
}

FieldShape describe_field(std::string_view name, const ValueShape& value, std::size_t offset);

template <typename T>
const ValueShape& value_shape_of();
template <typename T>
const RecordShape& record_shape_of();

template <typename T>
ValueShape describe_value() {
  ValueShape shape;
  if constexpr (std::is_enum_v<T>) {
    shape.kind = number_kind<std::underlying_type_t<T>>();
    shape.symbols = symbols<T>;
  } else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, long double>) {
    shape.kind = number_kind<T>();
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    shape.kind = ValueKind::view;
  } else if constexpr (std::is_same_v<T, std::string>) {
    shape.kind = ValueKind::string;
  } else if constexpr (is_optional<T>) {
    shape.kind = ValueKind::optional;
    shape.element = &value_shape_of<typename T::value_type>();
    shape.clear = [](void* value) { static_cast<T*>(value)->reset(); };
    shape.add = [](void* value) -> void* { return &static_cast<T*>(value)->emplace(); };
    shape.count = [](const void* value) -> std::size_t {
      return static_cast<const T*>(value)->has_value() ? 1 : 0;
    };
    shape.at = [](const void* value, std::size_t) -> const void* {
      return &**static_cast<const T*>(value);
    };
  } else if constexpr (is_vector<T> && !std::is_same_v<T, std::vector<bool>>) {
    shape.kind = ValueKind::list;
    shape.element = &value_shape_of<typename T::value_type>();
    shape.clear = [](void* value) { static_cast<T*>(value)->clear(); };
    shape.add = [](void* value) -> void* { return &static_cast<T*>(value)->emplace_back(); };
    shape.count = [](const void* value) { return static_cast<const T*>(value)->size(); };
    shape.at = [](const void* value, std::size_t index) -> const void* {
      return static_cast<const T*>(value)->data() + index;
    };
  } else if constexpr (hummer::detail::Reflectable<T>) {
    shape.kind = ValueKind::record;
    shape.record = &record_shape_of<T>();
  } else {
    static_assert(hummer::detail::never<T>,
                  "formats: a record's field is of a type (T) that no format can say: use bool, "
                  "integers, float, double, enumerations, std::string, std::string_view, "
                  "std::optional and std::vector of these, or aggregates of them");
  }
  return shape;
}

template <typename T>
const ValueShape& value_shape_of() {
  static const ValueShape shape = describe_value<T>();
  return shape;
}

template <typename T>
RecordShape describe_record() {
  static_assert(std::is_default_constructible_v<T>,
                "formats: a record is made before its fields are read: it must be "
                "default-constructible");
  constexpr auto names = field_names<T>;
  constexpr auto numbers = field_numbers<T>;
  static_assert(names.size() == boost::pfr::tuple_size_v<T>,
                "formats: field_names<T> must name all fields of T, in their order");
  static_assert(numbers.size() == boost::pfr::tuple_size_v<T>,
                "formats: field_numbers<T> must number all fields of T, in their order");
  RecordShape shape;
  shape.name = hummer::detail::raw_type_name<T>();
  shape.size_bytes = sizeof(T);
  shape.construct = [](void* records, std::size_t count) {
    // T{}, which takes members' initialisers.
    T* const first = static_cast<T*>(records);
    for (std::size_t i = 0; i < count; ++i) new (first + i) T{};
  };
  shape.destroy = [](void* records, std::size_t count) {
    std::destroy_n(static_cast<T*>(records), count);
  };
  const T example{};
  boost::pfr::for_each_field(example, [&]<typename Field>(const Field& field, std::size_t i) {
    shape.fields.push_back(
        describe_field(names[i], describe_value<Field>(),
                       static_cast<std::size_t>(reinterpret_cast<const char*>(&field) -
                                                reinterpret_cast<const char*>(&example))));
    shape.fields.back().number = numbers[i];
  });
  return shape;
}

template <typename T>
const RecordShape& record_shape_of() {
  static const RecordShape shape = describe_record<T>();
  return shape;
}

}  // namespace detail

template <typename T>
const RecordShape& shape_of() {
  static_assert(hummer::detail::Reflectable<T>,
                "formats: a record is an aggregate: a struct with public members, without a base "
                "class, arrays and constructors");
  return detail::record_shape_of<T>();
}

}  // namespace hummer::formats
