// AvroJson: values of Avro as JSON text, by the schema that they were written by alone: for people
// who look at a file (hummer/formats/look.hpp).
//
//   AvroJson json;
//   json.begin(end);                                       // of the block's data
//   const char* behind = json.append(schema.root(), at, text);      // null: json.why()
//
// A union is the value that is there, without the name of its branch; a map is an object; bytes and
// fixed are texts of U+0000 to U+00FF, as in Avro's own JSON. Logical types are what they mean: a
// decimal a text of digits, a date, time or timestamp as RFC 3339 has it, a uuid in its usual form,
// a duration an object of its three parts.
//
// No byte at `end` or behind it is read; nothing recurses deeper than deepest_shown_value, or makes
// much more than `most` bytes.
//
// Thread: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "avro_schema.hpp"
#include "shown_json.hpp"

namespace hummer::formats {

class AvroJson {
 public:
  explicit AvroJson(std::size_t most = largest_shown_record) : most_(most) {}

  void begin(const char* end) { end_ = end; }
  // Appends one value; answers where it ends.
  const char* append(const AvroType& type, const char* at, std::string& text);
  // What makes no sense, and in which field.
  std::string why() const;

 private:
  const char* value(const AvroType& type, const char* at, int depth);
  const char* integer(const AvroType& type, const char* at);
  const char* real(const AvroType& type, const char* at);
  const char* record(const AvroType& type, const char* at, int depth);
  const char* items(const AvroType& type, const char* at, int depth);
  const char* branch(const AvroType& type, const char* at, int depth);
  const char* bytes(const AvroType& type, const char* at, std::uint64_t size);
  // Of texts, lists and unions; failures of bytes that are none have been told.
  const char* read_size(const char* at, std::uint64_t& size);
  const char* broken(const char* what);

  const std::size_t most_;
  const char* end_ = nullptr;
  std::string* text_ = nullptr;
  std::size_t first_ = 0;  // where the value begins in it
  std::string what_;
  std::string place_;  // the path of the field
};

}  // namespace hummer::formats
