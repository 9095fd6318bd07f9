// UnitReader: the lines of one FileUnit, as blocks. What a split of a file is to from_file.
//
//   auto reader = UnitReader::open(store, unit, options, pool, wake);
//   if ((*reader)->is_at_hand()) … = (*reader)->next();    // until an empty block …
//   (*reader)->position();                                 // a snapshot: `from` of a later open
//
// Plain files are read from `from` on; compressed ones are decompressed again up to there. With
// repeat_first_line the first line of the file comes ahead, unless it is what follows.
//
// Errors, each naming the file: not_found and file_changed (also at the end of the unit, where
// files do not appear whole), corrupt_file, limit_exceeded, those of the store. Thread: one; blocks
// are kept by their buffers, and may outlive it. `store` and `pool` outlive it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "connectors/file/decompress.hpp"
#include "connectors/file/split_reader.hpp"
#include "connectors/file_store/file_unit.hpp"
#include "connectors/line_buffers.hpp"

namespace hummer {

class UnitReader {
 public:
  // `from`: 0, or what position() was.
  static Result<std::unique_ptr<UnitReader>> open(FileStore& store, const FileUnit& unit,
                                                  std::uint64_t from,
                                                  const FileSourceOptions& options,
                                                  LineBufferPool& pool, std::function<void()> wake);

  // Whether next() need not wait for the store.
  bool is_at_hand();
  // An empty block: the unit is read, and its file is still what it was.
  Result<SplitReader::Run> next();
  // Of the next line; 0: nothing was handed out yet.
  std::uint64_t position() const { return begun_ ? lines_->position() : from_; }
  // How much of the file was read, of what the unit has.
  std::uint64_t bytes_read() const;

 private:
  UnitReader(FileStore& store, const FileUnit& unit, std::uint64_t from)
      : store_(store), unit_(unit), from_(from) {}
  Status begin(const FileSourceOptions& options, LineBufferPool& pool, std::function<void()> wake);
  Status read_first_line(LineLimits limits, LineBufferPool& pool);
  std::unique_ptr<ByteInput> input(std::uint64_t offset) const;

  FileStore& store_;
  const FileUnit unit_;
  const std::uint64_t from_;
  std::shared_ptr<ReadableFile> file_;
  std::shared_ptr<const std::string> origin_;
  CompressionFormat format_ = CompressionFormat::none;
  std::size_t step_bytes_ = 0;
  SplitReader::Run first_line_;  // ahead of the others
  std::unique_ptr<SplitReader> lines_;
  bool begun_ = false;
};

}  // namespace hummer
