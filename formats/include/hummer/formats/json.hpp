// JSON lines: a record is an object on a line of its own (and a message is one object).
//
//   struct Trade { std::string_view symbol; double price; std::optional<std::string> note; };
//   auto trades = hummer::formats::from_json<Trade>(env, "trades.jsonl");
//   hummer::formats::write_json(trades, "copy.jsonl");
//
// Members are found by name, in any order; quickest in the order of the fields. A std::optional is
// empty where the member is missing or null; any other field must be there, unless
// `refuse_missing_fields` is off: then it keeps its initialiser. Members that no field has are
// passed over, or refused with `refuse_unknown_fields`. Of a name that comes twice the last one
// counts.
//
// Fields: bool; integers and real numbers, which must fit (an integer is no 1.0); text, without its
// escapes; std::vector as arrays; aggregates as objects.
//
// Bad records: lines that are no object, an object that ends before its line does, text that is no
// UTF-8, members of another kind, numbers that do not fit, members that are missing. What stands in
// a member that nobody wants is only looked at as far as is needed to pass over it.
//
// Written: in the order of fields; an empty optional is left out; numbers that JSON does not have
// (nan, inf) are null.
//
// Needs simdjson, with which the library is built where that is installed: else the first call of
// json() does not link, and CMake says so.
//
// Cost: simdjson finds the structure of a line with vector instructions; nothing is allocated per
// record but by std::string and std::vector. See docs/formats.md.
#pragma once

#include <memory>
#include <string>

#include <hummer/environment.hpp>
#include <hummer/formats/format.hpp>
#include <hummer/formats/streams.hpp>
#include <hummer/formats/times.hpp>

namespace hummer::formats {

struct JsonOptions {
  bool refuse_missing_fields = true;
  bool refuse_unknown_fields = false;
  TimeFields times = {};  // texts that are times (hummer/formats/times.hpp)
};

std::shared_ptr<const Format> json(JsonOptions options = {});

template <typename T>
DataStream<T> from_json(StreamExecutionEnvironment& env, const std::string& path,
                        const JsonOptions& options = {}, const FileSourceOptions& file = {}) {
  return decode<T>(env.from_file(path, file), json(options));
}

template <typename T>
DataStream<FormattedText> write_json(const DataStream<T>& records, const std::string& path,
                                     const JsonOptions& options = {}) {
  return write(records, path, json(options));
}

}  // namespace hummer::formats
