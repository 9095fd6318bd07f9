// Raw bytes: records one behind the other, each with its length ahead of it or all of one size.
//
//   auto frames = from_raw<std::string_view>(env, "frames.bin", {.framing = RawFraming::varint});
//
//   struct Tick { std::uint32_t symbol = 0; double price = 0; };                 // 12 bytes each
//   auto ticks = from_raw<Tick>(env, "ticks.bin", {.framing = RawFraming::fixed});
//   write_raw(ticks, "copy.bin", {.framing = RawFraming::u32_big});
//
// A length is an unsigned number of four bytes, big or little endian, or a varint of at most five
// bytes (of seven bits each, the lowest first), and does not count itself. A record of a fixed size
// has `record_bytes`, or what its fields take.
//
// A record is bytes as they are (std::string_view), or a struct: its fields in their order, without
// padding, numbers of `byte_order`; bool is a byte, 0 or 1; fields of structs in it stand in its
// place. The last field may be a std::string_view or std::string, which takes the rest.
//
// In messages each one is a record, without a length.
//
// Bad records: other bytes than the fields take, or a bool that is neither. What breaks the file,
// such as a length above the source's max_line_bytes (64 MiB unless it is set) or an end inside of
// a record, fails the job, as what is behind it can't be found. A file is one split.
//
// Cost: a copy per field; nothing is allocated per record but by long std::strings.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <hummer/environment.hpp>
#include <hummer/formats/format.hpp>
#include <hummer/formats/streams.hpp>

namespace hummer::formats {

enum class RawFraming : std::uint8_t { u32_big, u32_little, varint, fixed };

struct RawOptions {
  RawFraming framing = RawFraming::u32_big;
  std::size_t record_bytes = 0;  // of a fixed size; 0: that of the fields
  std::endian byte_order = std::endian::little;
};

// Bytes as they are: a record whose only field is all of it.
template <>
const RecordShape& shape_of<std::string_view>();

std::shared_ptr<const Format> raw(RawOptions options = {});

// How a file of such records is read: from_file(path, raw_file(shape_of<T>(), options)) with
// decode.
FileSourceOptions raw_file(const RecordShape& shape, const RawOptions& options,
                           FileSourceOptions file = {});

template <typename T>
DataStream<T> from_raw(StreamExecutionEnvironment& env, const std::string& path,
                       const RawOptions& options = {}, const FileSourceOptions& file = {}) {
  return decode<T>(env.from_file(path, raw_file(shape_of<T>(), options, file)), raw(options));
}

template <typename T>
DataStream<FormattedText> write_raw(const DataStream<T>& records, const std::string& path,
                                    const RawOptions& options = {}) {
  return write(records, path, raw(options));
}

}  // namespace hummer::formats
