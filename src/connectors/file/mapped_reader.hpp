// The mapped form of a SplitReader: blocks are the mapped file itself.
//
// One mapping serves all splits of a file that one source reads, one after the
// other; blocks keep it alive. A file that is truncated under it reads as zero
// bytes (see platform/files.hpp), so truncated() is asked before each block is
// handed out, and by the source again at its end, for the blocks that are still
// being worked on.
#pragma once

#include <memory>
#include <string>

#include "connectors/file/split_reader.hpp"

namespace hummer {

class MappedText final : public Buffer {
 public:
  static MappedText* make(std::unique_ptr<Mapping> mapping,
                          std::shared_ptr<const std::string> origin);

  const std::string* origin() const { return origin_.get(); }
  // file_changed when the file has become shorter.
  Status check() const;
  // [offset, offset + length) will be read next.
  void prefault(std::size_t offset, std::size_t length) const {
    mapping_->prefault(offset, length);
  }

 private:
  MappedText(std::unique_ptr<Mapping> mapping, std::shared_ptr<const std::string> origin);
  ~MappedText() override = default;

  std::unique_ptr<Mapping> mapping_;
  std::shared_ptr<const std::string> origin_;
};

// `text`: a MappedText of the whole file.
std::unique_ptr<SplitReader> make_mapped_reader(BufferRef text, LineRange range, LineLimits limits);

}  // namespace hummer
