// How files are read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hummer {

struct FileSourceOptions {
  enum class Compression { automatic, none, gzip, zstd };  // automatic: by the file's first bytes

  // Files, but for compressed ones, are cut into splits of this size (bytes), dealt to the readers.
  std::uint64_t split_size_bytes = 16 << 20;
  // Blocks of whole lines handed on are about this large (bytes).
  std::size_t block_size_bytes = 64 << 10;
  // A longer line fails the job (E3004) and names this option.
  std::size_t max_line_bytes = 64 << 20;
  Compression compression = Compression::automatic;
  // Plain files are mapped into memory instead of read into buffers; read where that is impossible.
  bool map_files = false;
  // Each split, but for the first, begins with its file's first line, such as a header, as a block.
  bool repeat_first_line = false;
  // A line end between two of these ends no line, and a file is one split; 0: there are none.
  char quote = 0;
  const class RecordFraming* framing = nullptr;  // of a format without lines; it sets this
};

}  // namespace hummer
