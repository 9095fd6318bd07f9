// RecordReader: makes records of the bytes of a split; one for each map task.
//
//   Result<std::span<const RecordView>> next() override;   // as any RecordStream; empty: the end
//
// A split is a part of a file, [begin, end) in bytes, or all of it where it is compressed. A
// record belongs to the split in which it begins, so a reader reads on behind `end` to finish its
// last one, and passes over the rest of one that began before `begin`.
//
// InputFormat says how files become splits, and makes readers. Those that there are:
//
//   text             a record is a line: the key where it begins (8 bytes, big-endian), the value
//                    the line without "\n" or "\r\n". Compressed by gzip or zstd: one split
//   fixed:KEY,VALUE  keys of so many bytes, and values; without anything between
//   segments[:CODEC] Hadoop's IFile, such as a map task leaves: all its segments one behind the
//                    other. Where they lie says the file's index, `FILE.index`, beside it
//
// Order of calls: open, next until the end. Errors name the file and the place in it.
//
// Thread: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <hummer/batch/record_stream.hpp>
#include <hummer/status.hpp>

namespace hummer::batch {

// The file of a split.
class SplitInput {
 public:
  virtual ~SplitInput() = default;
  virtual const std::string& path() const = 0;
  virtual std::uint64_t begin() const = 0;
  // Of a compressed file, whose size is not known, the greatest number.
  virtual std::uint64_t end() const = 0;
  // Fills `into` as far as the file goes: fewer bytes only at its end. Of a compressed file each
  // call begins where the last one ended.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) = 0;
  // Of the file so far, compressed ones where it is.
  virtual std::uint64_t bytes_read() const = 0;
  // All of the file whose path is this one's and `suffix`.
  virtual Result<std::unique_ptr<SplitInput>> open_beside(std::string_view suffix);
};

class RecordReader : public RecordStream {
 public:
  virtual Status open(std::unique_ptr<SplitInput> input) = 0;
  // Where a record of the last span is, for what is said of a failure: "'a.txt', line at byte 12".
  virtual std::string place_of(const RecordView& record) const = 0;
  virtual std::uint64_t bytes_read() const = 0;
};

struct InputFormat {
  std::string name = {};
  bool has_splits = true;          // its files may be entered in the middle
  std::uint64_t record_bytes = 1;  // splits begin at multiples of it
  std::string passed_over = {};    // files whose names end so are no inputs
  bool has_files = true;           // false: splits are ranges of `rows`, and there is no file
  std::uint64_t rows = 0;
  std::function<std::unique_ptr<RecordReader>()> make_reader = {};
};

InputFormat text_input();
InputFormat fixed_input(std::uint32_t key_bytes, std::uint32_t value_bytes);
InputFormat segments_input(std::string_view codec = "none");
// By its name, "fixed:10,90". invalid_argument, with the names that there are.
Result<InputFormat> input_format_of(std::string_view name);

}  // namespace hummer::batch
