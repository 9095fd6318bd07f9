// What container files of Avro begin with, and how they are cut.
//
//   Result<AvroHead> head = read_avro_head(text);      // the schema, the codec, where it ends
//   FileSourceOptions{.framing = &avro_framing()}
//
// A head is "Obj" and a 1, a map with the schema and the codec, and sixteen bytes that each block
// ends with, too: the mark. A block is the number of its records, that of its bytes, and these.
//
// Errors: corrupt_file, for what is no such file; limits are the reader's (max_line_bytes).
//
// Thread: constants and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <hummer/detail/record_framing.hpp>
#include <hummer/formats/avro.hpp>

namespace hummer::formats {

inline constexpr std::string_view avro_magic("Obj\x01", 4);  // what a head begins with
inline constexpr std::size_t avro_mark_bytes = 16;

struct AvroHead {
  std::size_t size = RecordFraming::unknown;  // that: there is more of it
  std::string_view schema;
  std::string_view codec;  // empty: none is said, which is null
  std::string_view mark;
};

Result<AvroHead> read_avro_head(std::string_view text);

struct AvroBlock {
  std::uint64_t records = 0;
  std::string_view data;
  std::size_t size = RecordFraming::unknown;  // with its numbers and the mark; that: there is more
};
// `data` may be shorter than `size` says where there is no more.
Result<AvroBlock> read_avro_block(std::string_view text);

const RecordFraming& avro_framing();

// A head whose mark is made of what is in it.
std::string make_avro_head(std::string_view schema, AvroOptions::Codec codec);

}  // namespace hummer::formats
