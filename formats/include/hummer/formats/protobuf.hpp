// Protobuf: files of messages with their lengths ahead, and streams with a message each.
//
//   struct Trade { std::string_view symbol; double price; std::optional<std::int64_t> size; };
//   auto trades = hummer::formats::from_protobuf<Trade>(env, "trades.pb");
//   hummer::formats::write_protobuf(trades, "copy.pb");
//   auto values = hummer::formats::decode<Trade>(messages, hummer::formats::protobuf(
//       {.descriptor_file = "trades.desc", .message = "acme.Trade"}));
//
// With a descriptor file (protoc --descriptor_set_out=trades.desc --include_imports)
// fields are those of the message by their names, numbered and typed as there; the file is read as
// the job is described, by the client and by each worker. Without one they have the numbers 1, 2,
// …, or those of hummer::formats::field_numbers (field_names.hpp), and these types:
//
//   bool, std::int32_t and smaller, std::int64_t    bool, int32, int64
//   std::uint32_t and smaller, std::uint64_t        uint32, uint64
//   float, double, text                             float, double, string
//   enumerations                                    as their numbers
//   std::vector, structs                            repeated (packed), messages
//   std::optional                                   optional: it knows whether it is there
//
// By a descriptor a field may be of any type that its values are of: sint64, fixed32, an enum (its
// number), bytes. Integers must fit; a std::vector of structs of two fields, key and value, is a
// map (with what a message has twice in it twice). Members of a oneof are std::optionals: the last
// one that comes is there. A field that the message lacks has its default of the .proto file, which
// is 0 or nothing mostly, and not its initialiser. Unknown fields are passed over; groups are not
// read.
//
// Files: each message has its length ahead, as a varint (writeDelimitedTo in Java and its like). A
// file is one split, for it can't be entered in the middle; several are read side by side.
//
// Messages of a registry (hummer/formats/registry.hpp) begin with the number of their schema and
// the place of the message in it; they are read by that schema, which is asked for once.
//
// Bad records: what is no message, text that is no UTF-8 in a string, numbers that do not fit,
// required fields that are missing.
//
// Cost: the way from fields to members is found once; then bytes go straight into the struct, and
// nothing is allocated but by std::string and std::vector. bench/formats/run measures it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <hummer/connectors.hpp>
#include <hummer/environment.hpp>
#include <hummer/formats/format.hpp>
#include <hummer/formats/schema_registry.hpp>
#include <hummer/formats/streams.hpp>

namespace hummer::formats {

struct ProtobufOptions {
  std::string descriptor_file = {};  // a FileDescriptorSet; empty: fields by their numbers
  std::string message = {};          // its full name in there
  std::shared_ptr<SchemaRegistry> registry = {};  // of messages that name their schema
  std::string subject = {};                       // under which the registry has what is written
};

std::shared_ptr<const Format> protobuf(ProtobufOptions options = {});

// Messages that name their schemas by number.
inline std::shared_ptr<const Format> protobuf(std::shared_ptr<SchemaRegistry> registry,
                                              ProtobufOptions options = {}) {
  options.registry = std::move(registry);
  return protobuf(std::move(options));
}

// How such files are read: from_file(path, protobuf_file()) with decode.
FileSourceOptions protobuf_file(FileSourceOptions file = {});

template <typename T>
DataStream<T> from_protobuf(StreamExecutionEnvironment& env, const std::string& path,
                            const ProtobufOptions& options = {},
                            const FileSourceOptions& file = {}) {
  return decode<T>(env.from_file(path, protobuf_file(file)), protobuf(options));
}

template <typename T>
DataStream<FormattedText> write_protobuf(const DataStream<T>& records, const std::string& path,
                                         const ProtobufOptions& options = {}) {
  return write(records, path, protobuf(options));
}

}  // namespace hummer::formats
