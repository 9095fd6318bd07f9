// AvroPlan: how what was written by one schema becomes records of a shape, found out once per
// schema: steps that are done one after the other for each record.
//
//   auto plan = AvroPlan::make(AvroSchema::parse(text), shape_of<Trade>(), rules);
//   plan->steps[plan->record]                            // the first one of a record
//
// What Avro calls resolution: fields are found by name, or by an alias of the reader's; an int is
// taken where a long, float or double is wanted, a long where a float or double is, a float for a
// double, string and bytes for each other. What the writer has and the reader does not is passed
// over. A union's branches are resolved one by one: which one is there, each value says.
//
// Errors: corrupt_record, with the field's path and both types, for what can't be read so.
//
// Thread: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hummer/formats/record_shape.hpp>

#include "avro_schema.hpp"

namespace hummer::formats {

enum class AvroStep : std::uint8_t {
  end,
  boolean,
  int32,          // of an int, to the same
  int64,          // of a long, to the same
  integer,        // of an int or long, to `kind`: it must fit
  integer_real,   // of an int or long, to `kind`
  float32,        // of a float, to the same
  float32_wide,   // of a float, to a double
  float64,        // of a double, to the same
  text,           // of string or bytes, to a text of `kind`; `utf8`: checked
  fixed,          // of `size` bytes, to a text of `kind`
  symbol_text,    // of an enumeration, to a text of `kind`
  symbol_number,  // of an enumeration, to a number of `kind`
  optional,       // makes the value that `first` is about
  choice,         // `first`: the branches' steps
  choice_of_two,  // the same of a null, branch `size`, and what `first` is about
  empty,          // no value in an optional
  list,           // each element by `first`
  map,            // the same, with a key: records of two fields, by `first` and `size`
  skip,           // a value of `type`
  mismatch,       // the same, and the record is bad
};

struct AvroInstruction {
  AvroStep step = AvroStep::end;
  ValueKind kind = ValueKind::record;
  bool utf8 = false;
  std::uint32_t offset = 0;  // in the record, or in an element
  std::uint32_t first = 0;   // in AvroPlan::steps, or in branches
  std::uint32_t size = 0;
  const ValueShape* shape = nullptr;  // of optional and list
  const AvroType* type = nullptr;     // as written
  const FieldShape* field = nullptr;  // for messages; null: none
};

struct AvroRules {
  bool refuse_missing_fields = true;
  // The path of a field, and what it is called in other schemas.
  std::vector<std::pair<std::string, std::string>> aliases = {};
};

struct AvroPlan {
  static constexpr std::uint32_t unknown_symbol = UINT32_MAX;

  static Result<std::unique_ptr<const AvroPlan>> make(AvroSchema schema, const RecordShape& shape,
                                                      const AvroRules& rules);

  AvroSchema schema;
  std::vector<AvroInstruction> steps;
  std::uint32_t record = 0;             // where those of a record begin
  std::vector<std::uint32_t> branches;  // where each branch's steps begin
  std::vector<std::uint32_t> numbers;   // of symbols
};

}  // namespace hummer::formats
