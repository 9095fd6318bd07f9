// infer_csv, infer_json, infer_avro, infer_protobuf: the record type that fits a file, from its
// first bytes, or from the descriptors of its messages; behind `hummer infer`.
//
//   const Result<InferredCsv> found = infer_csv(text, true);
//   to_cpp(*found, "Trade", "trades.csv");         // the struct, and the call that reads the file
//
// The separator is the one of , ; TAB | by which most rows have as many fields as the first one
// has, and more than one. The first row is a header when its fields are all there, differ, and are
// no numbers. A column is of the narrowest of bool, std::int64_t, std::uint64_t, double and text
// that all its fields are; one with empty fields is a std::optional.
//
// What is not looked at may not fit: the numbers of rows looked at, and of those that have another
// number of fields, are in the answer.
//
// infer_json prints the structs of JSON lines, with one for each object in them. A member that not
// all objects have, or that is null in some, is a std::optional; numbers are std::int64_t, or
// std::uint64_t or double where some need it. Members of which nothing is known (null, empty
// arrays) or that are of several kinds are left out, which a comment says of each.
//
// infer_avro prints the structs of the schema that a container file begins with. An enumeration is
// the text of its symbol, a map a std::vector of structs of key and value, a union with null a
// std::optional. A field that no struct can say (a union of several types, a record in itself,
// null) is left out, with a comment.
//
// infer_protobuf prints those of a message by its descriptor, as protobuf() reads them: what knows
// whether it is there is a std::optional, unless it has a default; an enumeration is one of C++, a
// map a std::vector of structs of key and value. Groups, messages within themselves and those that
// the descriptors lack are left out, with a comment.
//
// Thread: any. Errors: invalid_argument for a text without a row, and for descriptors that lack the
// message, which lists those that they have; corrupt_record for what are none. Cost: linear in
// the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/formats/csv.hpp>
#include <hummer/status.hpp>

namespace hummer::formats {

struct InferredColumn {
  std::string column;  // in the file; empty where it has no header
  std::string field;   // in C++
  ValueKind kind = ValueKind::string;
  bool optional = false;
};

struct InferredCsv {
  CsvOptions options;
  std::vector<InferredColumn> columns;
  std::size_t rows = 0;
  std::size_t odd_rows = 0;  // of another number of fields
};

// `whole`: else the last row may be cut, and is left out.
Result<InferredCsv> infer_csv(std::string_view text, bool whole);

// Needs simdjson, as json() does: else it does not link.
Result<std::string> infer_json(std::string_view text, bool whole, std::string_view record,
                               std::string_view path);

// Whether a text is the beginning of such a file.
bool is_avro(std::string_view text);
Result<std::string> infer_avro(std::string_view text, std::string_view record,
                               std::string_view path);

// `descriptors`: what the file `descriptor_path` holds, a FileDescriptorSet; `path`: of the
// messages, for the call that is printed, or empty.
Result<std::string> infer_protobuf(std::string_view descriptors, const std::string& message,
                                   std::string_view record, std::string_view descriptor_path,
                                   std::string_view path);

std::string to_cpp(const InferredCsv& found, std::string_view record, std::string_view path);

}  // namespace hummer::formats
