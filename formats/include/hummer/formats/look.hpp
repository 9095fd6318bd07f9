// Inputs as people look at them: behind `hummer tail`.
//
// Lines as rows:
//
//   Result<CsvLook> look = CsvLook::at(first_bytes);      // the dialect, as infer_csv finds it
//   look->columns()                                       // "symbol", "price", …
//   look->cells("a,1.5")                                  // of one line
//   why_no_json_object(line)                              // empty: it is one
//
// A row with line ends in quotes is none of one line, and an error. why_no_json_object needs
// simdjson, as json() does.
//
// Files that are no lines, as records of JSON. A file is a head and units, one behind the other: an
// Avro file's blocks, messages of Protobuf with their lengths ahead.
//
//   std::unique_ptr<RecordLook> look = look_at_avro();
//   Result<std::size_t> head = look->begin(text);                     // how long it is
//   Result<RecordLook::Unit> unit = look->unit(text.substr(*head));   // how long, and of how many
//   look->records(text.substr(*head, unit->size), [](std::string_view json) { … });
//
// Of Avro: a union is the value that is there; bytes and fixed are texts of U+0000 to U+00FF, as in
// Avro's own JSON; a decimal is a text of its digits, dates and times are as RFC 3339 has them, a
// uuid is as usual. Of Protobuf: its JSON, but that fields have their names of the .proto file, and
// integers of 64 bits are numbers; fields that do not know whether they are there are always there,
// bytes are in base64, an enum is its name, google.protobuf.Timestamp and Duration are texts, its
// wrappers their values. In both, what is no UTF-8 in a text is U+FFFD.
//
// Thread: one at a time. Errors: invalid_argument, for a text without a row, for a line that is no
// row of it, for descriptors that lack the message; corrupt_file for what is no such file or unit;
// corrupt_record for a unit whose records make no sense: those ahead of the bad one have been told.
// Cost: some allocations per line or record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/formats/infer.hpp>

namespace hummer::formats {

class CsvLook {
 public:
  static Result<CsvLook> at(std::string_view first_bytes);

  const std::vector<std::string>& columns() const { return columns_; }
  bool has_header() const { return has_header_; }
  Result<std::vector<std::string>> cells(std::string_view line) const;

 private:
  char separator_ = ',';
  bool has_header_ = true;
  std::vector<std::string> columns_;
};

// Empty where the line is one; else why not.
std::string why_no_json_object(std::string_view line);

class RecordLook {
 public:
  static constexpr std::size_t unknown = SIZE_MAX;  // the text is too short to tell
  struct Unit {
    std::size_t size = unknown;  // may be more than there is
    std::uint64_t records = 0;
  };
  using Listener = std::function<void(std::string_view json)>;

  virtual ~RecordLook() = default;
  // What a unit is called: "block".
  virtual std::string_view unit_name() const = 0;
  // Of a file that begins with `text`: the size of its head, or unknown.
  virtual Result<std::size_t> begin(std::string_view text) = 0;
  // REQUIRES of both: begin() has found a head.
  virtual Result<Unit> unit(std::string_view text) const = 0;
  // Of a whole unit.
  virtual Status records(std::string_view unit, const Listener& each) = 0;
};

std::unique_ptr<RecordLook> look_at_avro();

// `descriptors`: a FileDescriptorSet (protoc --include_imports --descriptor_set_out); `message`:
// the full name of one in there.
Result<std::unique_ptr<RecordLook>> look_at_protobuf(std::string_view descriptors,
                                                     const std::string& message);

}  // namespace hummer::formats
