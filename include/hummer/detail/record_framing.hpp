// RecordFraming: how a file is cut whose records do not end with lines; a format of such files has
// one, and names it in FileSourceOptions::framing.
//
// A file is a head and units, one behind the other: an Avro file's blocks, messages with their
// lengths. What is handed on is whole units, in blocks as those of lines (hummer/text.hpp); ahead
// of those of each split, and of what is left of a split after a restore, comes a block of the head
// alone, at offset 0. Where the last bytes of the head are also what each unit ends with, a mark, a
// file may be entered in its middle: a unit then belongs to the split in which it begins.
//
// Thread: immutable, and lives for ever (a constant of the format). Cost: unit_bytes is called per
// unit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <hummer/status.hpp>

namespace hummer {

class RecordFraming {
 public:
  // The answer where `text` is too short to tell.
  static constexpr std::size_t unknown = SIZE_MAX;

  virtual ~RecordFraming() = default;
  virtual std::string_view name() const = 0;
  // How many bytes of the head the mark is; 0: there is none, and a file is one split.
  virtual std::size_t mark_bytes() const = 0;
  // Of a file that begins with `text`. Failures say what is wrong, not where.
  virtual Result<std::size_t> head_bytes(std::string_view text) const = 0;
  // Of the unit that `text` begins with, with its mark. The answer may be more than there is.
  virtual Result<std::size_t> unit_bytes(std::string_view text) const = 0;
};

}  // namespace hummer
