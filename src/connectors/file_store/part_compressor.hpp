// PartCompressor: text in, compressed bytes out, in members (gzip) or frames (zstd) of any size:
// behind end() what came out so far can be read by itself, and more may follow.
//
// Thread: one. Memory: memory_bytes(), for as long as it lives. Errors: limit_exceeded where the
// library finds no memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <hummer/detail/operators/rolling_sink.hpp>
#include <hummer/status.hpp>

namespace hummer {

class PartCompressor {
 public:
  virtual ~PartCompressor() = default;
  // Appends what comes out so far.
  virtual Status add(std::string_view text, std::string& out) = 0;
  // Nothing, where nothing was added since the last time.
  virtual Status end(std::string& out) = 0;
  virtual std::size_t memory_bytes() const = 0;
};

// REQUIRES: not `none`. Level 0: the library's own.
Result<std::unique_ptr<PartCompressor>> make_part_compressor(FileCompression compression,
                                                             int level);
// invalid_configuration: no such level.
Status check_compression_level(FileCompression compression, int level);
std::string_view compression_suffix(FileCompression compression);

}  // namespace hummer
