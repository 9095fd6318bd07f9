// Codecs of the batch core, in the framing of Hadoop's codec of that name, so that either side
// reads what the other has written.
//
//   none    the bytes as they are
//   snappy  SnappyCodec: blocks, see below
//   lz4     Lz4Codec: the same framing
//   gzip    GzipCodec: members of RFC 1952, several of them one behind the other
//   zlib    DefaultCodec, also called DeflateCodec: RFC 1950, likewise
//   zstd    ZStandardCodec: frames of RFC 8878, likewise
//
//   block   length before compression, then chunks until that many bytes have come
//   chunk   length, then as many compressed bytes, which stand for themselves
//
// Lengths are 4 bytes, big-endian. A block of length 0 ends the stream; Hadoop writes it where the
// stream, or its last part, is empty. Our blocks have one chunk each, and as many bytes as Hadoop's
// buffers of 256 KiB take: those of its readers are no larger. Hadoop makes one block, with several
// chunks, of what it is given by one call, so a block may have up to 2^31 − 1 bytes.
//
//   auto compressor = make_compressor(Codec::snappy);
//   std::string stored;
//   HUMMER_TRY(compressor->write(bytes, stored));     // as often as there is something
//   HUMMER_TRY(compressor->finish(stored));           // then reset() for another stream
//
//   auto decompressor = make_decompressor(Codec::snappy);
//   std::string_view in = stored;                     // or in pieces
//   Result<std::size_t> filled = decompressor->read(in, into);
//   if (!decompressor->at_end()) ...                  // when there is nothing more: it was cut
//
// Limits: a chunk has at most 64 MiB, compressed and before (max_chunk_bytes); zstd's window is at
// most 128 MiB. No memory is taken on the word of a length alone: that of a compressed chunk as its
// bytes come, and that of what it stands for as far as its codec can make of them.
//
// Failures: corrupt_file, limit_exceeded beyond the limits. They name neither file nor offset,
// which the caller knows. After a failure only reset() may be called.
//
// Thread: each object one. Memory: of snappy and lz4 some 0.5 MiB to write and up to a chunk to
// read; of gzip and zlib 256 and 40 KiB; of zstd what its level and window take.
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

enum class Codec : std::uint8_t { none, snappy, lz4, gzip, zstd, zlib };

inline constexpr std::size_t max_chunk_bytes = std::size_t{64} << 20;

std::string_view name_of(Codec codec);
// By that name, or by that of Hadoop's class (org.apache.hadoop.io.compress.SnappyCodec, …).
std::optional<Codec> codec_of(std::string_view name);

// How many bytes are best given to a compressor at a time: so many are compressed where they lie.
std::size_t best_write_bytes(Codec codec);

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
  // Takes bytes from the front of `in`, and fills the front of `into`: the number filled. Fewer
  // than asked: `in` is used up. Bytes behind the end of the stream are a failure.
  virtual Result<std::size_t> read(std::string_view& in, std::span<char> into) = 0;
  // Whether the stream may end here. Of gzip, zlib and zstd it is at least one member or frame.
  virtual bool at_end() const = 0;
  virtual void reset() = 0;
};

// `level`: of gzip, zlib and zstd; 0: the library's default.
std::unique_ptr<Compressor> make_compressor(Codec codec, int level = 0);
std::unique_ptr<Decompressor> make_decompressor(Codec codec);

}  // namespace hummer::batch
