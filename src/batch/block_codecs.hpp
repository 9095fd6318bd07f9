// snappy and lz4 in the blocks of Hadoop's BlockCompressorStream (codec.hpp has their form, and the
// contract of what is made here).
#pragma once

#include <cstddef>
#include <memory>

#include "batch/codec.hpp"

namespace hummer::batch {

// Hadoop's buffers (io.compression.codec.snappy.buffersize, …lz4.buffersize), and what of them its
// codecs leave free, since a block that can't be compressed becomes larger.
inline constexpr std::size_t hadoop_block_buffer_bytes = std::size_t{256} << 10;
inline constexpr std::size_t snappy_block_bytes =
    hadoop_block_buffer_bytes - (hadoop_block_buffer_bytes / 6 + 32);
inline constexpr std::size_t lz4_block_bytes =
    hadoop_block_buffer_bytes - (hadoop_block_buffer_bytes / 255 + 16);

std::unique_ptr<Compressor> make_snappy_compressor();
std::unique_ptr<Compressor> make_lz4_compressor();
std::unique_ptr<Decompressor> make_snappy_decompressor();
std::unique_ptr<Decompressor> make_lz4_decompressor();

}  // namespace hummer::batch
