// ByteInput: the bytes of a file, front to back, as the line reader wants them:
// plain or decompressed.
//
// What was appended to the file since it was listed is no part of it.
//
// Errors: file_changed when the file has become shorter than it was when it was
// listed, corrupt_file from the decompressor, io_error; all name the file. After
// a failure the input is not read again.
//
// Thread: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <hummer/status.hpp>

#include "connectors/file/decompress.hpp"
#include "platform/files.hpp"

namespace hummer {

class ByteInput {
 public:
  virtual ~ByteInput() = default;
  // Fills `into` as far as the input goes: fewer bytes only at its end.
  virtual Result<std::size_t> read(std::span<char> into) = 0;
  // Bytes of the file taken so far; for a compressed one, compressed bytes.
  virtual std::uint64_t file_bytes() const = 0;
};

// From `offset` on. `expected_bytes`: the file's size when it was listed.
std::unique_ptr<ByteInput> make_plain_input(std::shared_ptr<ReadableFile> file,
                                            std::uint64_t offset, std::uint64_t expected_bytes);

// The whole file, decompressed. REQUIRES: format is not `none`.
std::unique_ptr<ByteInput> make_decompressed_input(std::shared_ptr<ReadableFile> file,
                                                   CompressionFormat format,
                                                   std::uint64_t expected_bytes);

}  // namespace hummer
