// Shuffle files: what one task has left on its disk for the tasks behind a blocking edge.
//
//   ShuffleFileWriter writer(std::move(file), partitions);   ShuffleFile::open(std::move(file))
//   writer.append(3, chunk);                                 for (entry : file.chunks(3)) {
//   writer.finish();                                           file.read(entry, into);
//                                                            }
//
//   file   := chunks, index, footer (64 bytes); all numbers little-endian
//   chunk  := blocks of one partition (net/block.hpp), 64 bytes or a multiple, up to 1 MiB
//   index  := entries, by partition and, within one, as they were written
//   entry  := partition u32, bytes u32, offset u64, check u64 (XXH3-64 of the chunk)
//   footer := magic "HUMSHUF1", partitions u32, 0 u32, entries u64, offset of the index u64,
//             check of the index u64, 0 u64, 0 u64, check of the 56 bytes before u64
//
// The footer comes last, and chunks fill the file up to the index without a gap, so a file that was
// cut anywhere is no file. The check of a chunk is also that of the frame in which it travels
// (frame.hpp): who reads it on another machine checks disk and network at once. Nothing is synced:
// nobody reads the file when the process that wrote it is gone.
//
// Thread: a writer: one; a ShuffleFile: any. Errors: those of the disk; corrupt_file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <hummer/status.hpp>

#include "platform/files.hpp"

namespace hummer {

inline constexpr std::size_t max_chunk_bytes = std::size_t{1} << 20;
inline constexpr std::uint32_t max_shuffle_partitions = 1 << 20;

struct ChunkEntry {
  std::uint32_t partition = 0;
  std::uint32_t bytes = 0;
  std::uint64_t offset = 0;
  std::uint64_t check = 0;
};
static_assert(sizeof(ChunkEntry) == 24);

class ShuffleFileWriter {
 public:
  ShuffleFileWriter(std::unique_ptr<WritableFile> file, std::uint32_t partitions)
      : file_(std::move(file)), partitions_(partitions) {}

  // REQUIRES: the partition is one; 64 bytes or a multiple, up to max_chunk_bytes.
  Status append(std::uint32_t partition, std::string_view chunk);
  // Index and footer. Nothing may follow.
  Status finish();
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<WritableFile> file_;
  const std::uint32_t partitions_;
  std::uint64_t bytes_ = 0;
  std::vector<ChunkEntry> entries_;
};

class ShuffleFile {
 public:
  static Result<std::shared_ptr<const ShuffleFile>> open(std::unique_ptr<ReadableFile> file);

  std::uint32_t partitions() const { return partitions_; }
  // REQUIRES: partition < partitions().
  std::span<const ChunkEntry> chunks(std::uint32_t partition) const;
  // REQUIRES: into.size() == entry.bytes.
  Status read(const ChunkEntry& entry, std::span<char> into) const;

 private:
  explicit ShuffleFile(std::unique_ptr<ReadableFile> file) : file_(std::move(file)) {}
  Status read_index();
  Status check_entries(std::uint64_t index_offset) const;
  Status read_exactly(std::uint64_t offset, std::span<char> into) const;
  Status corrupt(std::string_view what) const;

  const std::unique_ptr<ReadableFile> file_;
  std::uint32_t partitions_ = 0;
  std::vector<ChunkEntry> entries_;
};

}  // namespace hummer
