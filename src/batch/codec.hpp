// Codecs of the batch core, in the framing of Hadoop's codec of that name, so that either side reads
// what the other has written.
//
//   none    the bytes as they are
//   snappy  SnappyCodec: blocks (length before compression, then chunks: length and bytes, all
//           big-endian) of at most 256 KiB
//   lz4     Lz4Codec: the same framing
//   gzip    GzipCodec: members of RFC 1952
//   zstd    ZStandardCodec: frames of RFC 8878
//
// Thread: each object one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

namespace hummer::batch {

enum class Codec : std::uint8_t { none, snappy, lz4, gzip, zstd };

std::string_view name_of(Codec codec);
// By that name, or by that of Hadoop's class (org.apache.hadoop.io.compress.SnappyCodec, …).
std::optional<Codec> codec_of(std::string_view name);

// Compresses one stream; reset() begins the next one.
class Compressor {
 public:
  virtual ~Compressor() = default;
  // Appends what is ready to `out`.
  virtual Status write(std::string_view bytes, std::string& out) = 0;
  // Appends the rest, and what ends the stream.
  virtual Status finish(std::string& out) = 0;
  virtual void reset() = 0;
};

// Decompresses one stream, whatever pieces it comes in.
class Decompressor {
 public:
  virtual ~Decompressor() = default;
  // Takes bytes from the front of `in`, and fills the front of `into`: the number filled. Fewer than
  // asked: `in` is used up. Failures: corrupt_file, where the stream is not what the codec writes.
  virtual Result<std::size_t> read(std::string_view& in, std::span<char> into) = 0;
  // Whether the stream may end here.
  virtual bool at_end() const = 0;
  virtual void reset() = 0;
};

// `level`: of gzip and zstd; 0: the library's default.
std::unique_ptr<Compressor> make_compressor(Codec codec, int level = 0);
std::unique_ptr<Decompressor> make_decompressor(Codec codec);

}  // namespace hummer::batch
