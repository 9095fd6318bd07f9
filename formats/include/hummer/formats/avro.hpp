// Avro: container files, and messages.
//
//   struct Trade { std::string_view symbol; double price; std::optional<std::string_view> note; };
//   auto trades = hummer::formats::from_avro<Trade>(env, "trades.avro");
//   hummer::formats::write_avro(trades, "copy",
//                               {.codec = hummer::formats::AvroOptions::Codec::zstandard});
//   auto values = hummer::formats::decode<Trade>(messages, hummer::formats::avro());
//
// A file has the schema that it was written by; each record is resolved to the struct by Avro's
// rules:
//
//   fields     by name, or by an alias that the options have; others are passed over. One that the
//              schema lacks fails the job, unless it is a std::optional, or refuse_missing_fields
//              is off: then it keeps its initialiser
//   numbers    int where the field is any integer that is no wider, or a std::int64_t, float,
//              double; long where it is std::int64_t, std::uint64_t, std::uint32_t, float, double;
//              float and double where it is a double. What does not fit is a bad record
//   text       string, which must be UTF-8, bytes and fixed; of an enum its symbol
//   enums      an enumeration with hummer::formats::symbols (field_names.hpp), by symbol
//   unions     a std::optional is empty where the branch is null; a branch that the field can't
//              hold makes a bad record
//   arrays     std::vector. Maps are a std::vector of structs of two fields, key and value
//   records    structs
//
// Logical types are what they are written as: a timestamp-micros is a long, a decimal its bytes.
//
// Messages: `form` says how they name their schema:
//
//   plain          not at all: they are by `schema`, or by that of the struct
//   single_object  by its fingerprint: that of `schema`, of the struct or of `other_schemas`
//   registry       by its number in `registry` (hummer/formats/registry.hpp), asked for once
//
// Written is by `schema`, or by one that is made of the struct: std::string as string,
// std::optional as a union with null, enumerations as enums where they have symbols. Files are cut
// into blocks as the stream has batches, of up to 64 KiB of records, and have a mark that is made
// of schema and codec.
//
// Bad records: values that do not fit, text that is no UTF-8, branches and symbols that the field
// does not have. What makes no sense as bytes fails the job, for what is behind it in the block is
// lost; of messages that is a bad record, too.
//
// Cost: the way from schema to struct is found once per schema; per record nothing is allocated but
// by std::string and std::vector. bench/formats/run measures it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hummer/connectors.hpp>
#include <hummer/environment.hpp>
#include <hummer/formats/format.hpp>
#include <hummer/formats/schema_registry.hpp>
#include <hummer/formats/streams.hpp>

namespace hummer::formats {

struct AvroOptions {
  enum class Codec : std::uint8_t { null, deflate, snappy, zstandard };
  enum class Form : std::uint8_t { plain, single_object, registry };

  std::string schema = {};                      // empty: made of the struct
  std::string name = {};                        // of the record in such a one; empty: the struct's
  Codec codec = Codec::null;                    // of files that are written
  Form form = Form::plain;                      // of messages
  std::vector<std::string> other_schemas = {};  // that messages of the form single_object may have
  std::shared_ptr<SchemaRegistry> registry = {};
  std::string subject = {};  // under which the registry has what is written
  bool refuse_missing_fields = true;
  // A field's path ("price", "leg.venue") and a name that it has in other schemas.
  std::vector<std::pair<std::string, std::string>> aliases = {};
  std::size_t max_block_bytes = 64 << 20;  // that a block of a file may unpack to
};

std::shared_ptr<const Format> avro(AvroOptions options = {});

// Messages that name their schemas by number.
inline std::shared_ptr<const Format> avro(std::shared_ptr<SchemaRegistry> registry,
                                          AvroOptions options = {}) {
  options.registry = std::move(registry);
  options.form = AvroOptions::Form::registry;
  return avro(std::move(options));
}

// How such files are read: from_file(path, avro_file()) with decode.
FileSourceOptions avro_file(FileSourceOptions file = {});

template <typename T>
DataStream<T> from_avro(StreamExecutionEnvironment& env, const std::string& path,
                        const AvroOptions& options = {}, const FileSourceOptions& file = {}) {
  return decode<T>(env.from_file(path, avro_file(file)), avro(options));
}

template <typename T>
DataStream<FormattedText> write_avro(const DataStream<T>& records, const std::string& path,
                                     const AvroOptions& options = {}) {
  return write(records, path, avro(options));
}

}  // namespace hummer::formats
