// AvroSchema: a schema of Avro as a graph of types, read from its JSON.
//
//   Result<AvroSchema> schema = AvroSchema::parse(text);
//   schema->root().kind                                     // AvroKind::record
//
// Named types are known by their full names, and may refer to themselves. Logical types are what
// they are written as (a timestamp is a long), and `logical` says what a person is to see; one that
// does not fit its type is none. Other members that nobody needs here are passed over.
//
// Errors: corrupt_record, with what is wrong and in which type.
//
// Thread: immutable. Types live as long as their schema, and stay where they are when it is moved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/formats/record_shape.hpp>
#include <hummer/status.hpp>

#include "schema_text.hpp"

namespace hummer::formats {

enum class AvroKind : std::uint8_t {
  null,
  boolean,
  int32,
  int64,
  float32,
  float64,
  bytes,
  string,
  record,
  enumeration,
  list,  // an array
  map,
  choice,  // a union
  fixed,
};

enum class AvroLogical : std::uint8_t {
  none,
  decimal,          // of bytes and fixed
  date,             // of int
  time,             // of int and long
  timestamp,        // of long
  local_timestamp,  // of long
  uuid,             // of a fixed of 16 bytes
  duration,         // of a fixed of 12 bytes
};

struct AvroType {
  AvroKind kind = AvroKind::null;
  std::string name = {};                    // of record, enumeration and fixed: the full one
  std::vector<std::string> names = {};      // of a record's fields, an enumeration's symbols
  std::vector<const AvroType*> parts = {};  // of a record's fields, of a choice's branches
  const AvroType* element = nullptr;        // of list and map
  std::size_t size = 0;                     // of fixed
  AvroLogical logical = AvroLogical::none;
  std::size_t scale = 0;        // digits behind the point of a decimal, behind the second of a time
  std::size_t least_bytes = 0;  // that a value takes
};

// "int", "a record X", …: for messages.
std::string describe(const AvroType& type);

class AvroSchema {
 public:
  static Result<AvroSchema> parse(std::string_view text);

  const AvroType& root() const { return *root_; }
  // The number by which messages name the schema: CRC-64-AVRO of its parsing canonical form.
  std::uint64_t fingerprint() const;
  std::string canonical_form() const;

 private:
  friend class AvroSchemaParser;

  std::vector<std::unique_ptr<AvroType>> types_;
  const AvroType* root_ = nullptr;
};

// The schema in which records of the shape are written where nobody says another one; `name`: of
// the record, empty for that of its type. REQUIRES: check_avro_names(shape)
std::string avro_schema_of(const RecordShape& shape, std::string_view name);
// Whether the fields have names that Avro allows.
Status check_avro_names(const RecordShape& shape);

}  // namespace hummer::formats
