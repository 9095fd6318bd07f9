// RecordReader: what `hummer tail` makes of files that are no lines; the program hands in those of
// the formats that it is built with (hummer_main.cpp).
//
// A file is a head and units, one behind the other, of some records each: blocks, or messages with
// their lengths ahead. A reader is for one file; begin() finds its head, then units are read.
//
// Thread: one. Errors: what is wrong with the head, the unit or a record; not where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

namespace hummer {

class RecordReader {
 public:
  static constexpr std::size_t unknown = SIZE_MAX;  // the text is too short to tell
  struct Unit {
    std::size_t size = unknown;  // may be more than there is
    std::uint64_t records = 0;
  };
  using Listener = std::function<void(std::string_view json)>;

  virtual ~RecordReader() = default;
  virtual std::string_view unit_name() const = 0;  // "block"
  virtual Result<std::size_t> begin(std::string_view text) = 0;
  virtual Result<Unit> unit(std::string_view text) const = 0;
  // Of a whole unit, each as JSON on one line. Those ahead of a bad one have been told.
  virtual Status records(std::string_view unit, const Listener& each) = 0;
};

// What the command line says of them.
struct RecordSchema {
  std::string descriptors;  // what the file of --descriptor holds; empty: there is none
  std::string message;
};

struct RecordFormat {
  std::string_view name;
  bool has_schema = false;  // of the command line
  Result<std::unique_ptr<RecordReader>> (*make)(const RecordSchema& schema);
  // Whether a file that begins so is one; null: nothing says so.
  bool (*is_begun_by)(std::string_view first_bytes) = nullptr;
};

// Which of them reads a file: the one that --format names, or, where it names none at all, the one
// that the file begins like.
struct RecordChoice {
  std::span<const RecordFormat> formats = {};
  const RecordFormat* named = nullptr;
  bool may_be_any = false;
  RecordSchema schema = {};

  // Null: the file is lines.
  Result<std::unique_ptr<RecordReader>> reader_of(std::string_view first_bytes) const;
};
// As many bytes tell a file's format.
inline constexpr std::size_t telling_bytes = 4;

}  // namespace hummer
