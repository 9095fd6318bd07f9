// SchemaValue: a JSON document as a tree: what Avro schemas and the answers of a schema registry
// are written in. For such small documents, read once; records of JSON have a decoder of their own.
//
//   Result<SchemaValue> value = parse_schema_text(text);
//   if (const SchemaValue* type = value->find("type")) …
//
// Errors: corrupt_record with the byte, for text that is no JSON; limit_exceeded for more than
// largest_schema_bytes, or values nested deeper than deepest_schema_value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hummer/status.hpp>

namespace hummer::formats {

inline constexpr std::size_t largest_schema_bytes = 1 << 20;
inline constexpr int deepest_schema_value = 64;

struct SchemaValue {
  enum class Kind : std::uint8_t { null, boolean, number, text, list, object };

  Kind kind = Kind::null;
  std::string text;                // of a text; of a number and a boolean as it stands there
  std::vector<SchemaValue> items;  // of a list, and the members' values
  std::vector<std::string> names;  // of an object's members

  bool is(Kind other) const { return kind == other; }
  // Of an object; null: it has no such member.
  const SchemaValue* find(std::string_view name) const;
  // The member's text; empty: there is none that is a text.
  std::string_view text_of(std::string_view name) const;
};

Result<SchemaValue> parse_schema_text(std::string_view text);

// Appends the text in quotes, with escapes.
void append_quoted(std::string_view value, std::string& text);

}  // namespace hummer::formats
