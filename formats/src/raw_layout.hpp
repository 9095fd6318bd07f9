// RawLayout: where the fields of a record stand in its bytes, and RawFrame: where those begin and
// end in a file (hummer/formats/raw.hpp).
//
// Thread: immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/detail/record_framing.hpp>
#include <hummer/formats/raw.hpp>

namespace hummer::formats {

class RawLayout {
 public:
  // REQUIRES: check() was ok.
  RawLayout(const RecordShape& shape, const RawOptions& options);
  static Status check(const RecordShape& shape, const RawOptions& options);

  // Of the numbers; a record whose last field is text may have more.
  std::size_t least_bytes() const { return least_bytes_; }
  // Of all records, where they are of a fixed size.
  std::size_t record_bytes() const { return record_bytes_; }
  // Null, or what is wrong.
  const char* read(std::string_view bytes, void* record) const;
  void append(const void* record, std::string& bytes) const;

 private:
  struct Field {
    std::size_t offset;
    ValueKind kind;
  };

  static Status collect(const RecordShape& shape, std::size_t offset, std::vector<Field>& fields);

  std::vector<Field> fields_;
  std::size_t least_bytes_ = 0;
  std::size_t record_bytes_ = 0;
  bool ends_with_text_ = false;
  bool swapped_ = false;
};

// The length ahead of a record.
struct RawLength {
  static constexpr std::size_t unknown = RecordFraming::unknown;
  std::size_t prefix_bytes = 0;
  std::size_t payload_bytes = unknown;  // unknown: `text` is too short to tell
  bool broken = false;                  // a varint that does not end, or is above 32 bits
};
RawLength read_length(RawFraming framing, std::size_t record_bytes, std::string_view text);
// REQUIRES: it fits into 32 bits.
void append_length(RawFraming framing, std::size_t payload_bytes, std::string& text);

// Lives for ever.
const RecordFraming* raw_framing(RawFraming framing, std::size_t record_bytes);

}  // namespace hummer::formats
