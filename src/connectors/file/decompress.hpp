// Decompressor: compressed bytes in, plain bytes out, in steps of any size.
//
// Two forms: gzip (RFC 1952, on ISA-L where the machine has it, else on zlib)
// and zstd (RFC 8878, on libzstd). Both read several members (frames) one behind
// the other as one stream, as `cat a.gz b.gz` and parallel compressors make them.
//
//   for (;;) {
//     Result<Step> step = decompressor->run(input, output);
//     input = input.subspan(step->consumed);   // then get more when it is empty
//     use(output.first(step->produced));
//   }
//   Status status = decompressor->finish();    // when the input has ended and run() gives nothing
//
// Contract: a step takes what it can and gives what fits. A step with an empty
// input drains what is held back; `more` says that there is something to drain.
// A step with input and output at hand always consumes or produces.
//
// Errors: corrupt_file, naming the input and the offset in it (of the
// compressed bytes), for damaged data, a failed checksum, bytes behind the last
// member that begin no other, and (from finish) an input that ends inside a
// member; limit_exceeded when it asks for a window above 128 MiB. After a failure
// every call fails.
//
// Thread: one at a time. Memory: some 40 KiB (gzip; 90 on ISA-L), the frame's window (zstd).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

namespace hummer {

enum class CompressionFormat : std::uint8_t { none, gzip, zstd };

// How many first bytes of an input detect_compression wants to see.
inline constexpr std::size_t compression_magic_bytes = 4;

// By the first bytes. Too few of them are no compressed input.
CompressionFormat detect_compression(std::string_view first_bytes);

class Decompressor {
 public:
  struct Step {
    std::size_t consumed = 0;
    std::size_t produced = 0;
    bool more = false;  // output was too small: call again before giving more input
  };

  virtual ~Decompressor() = default;
  virtual Result<Step> run(std::span<const char> input, std::span<char> output) = 0;
  virtual Status finish() = 0;
};

// `name` stands in messages. REQUIRES: format is not `none`.
std::unique_ptr<Decompressor> make_decompressor(CompressionFormat format, std::string name);

}  // namespace hummer
