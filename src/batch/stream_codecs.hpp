// gzip, zlib and zstd as streams (codec.hpp has the contract of what is made here).
#pragma once

#include <memory>

#include "batch/codec.hpp"

namespace hummer::batch {

// `level`: 0: the library's default.
std::unique_ptr<Compressor> make_gzip_compressor(int level);
std::unique_ptr<Compressor> make_zlib_compressor(int level);
std::unique_ptr<Compressor> make_zstd_compressor(int level);
std::unique_ptr<Decompressor> make_gzip_decompressor();
std::unique_ptr<Decompressor> make_zlib_decompressor();
std::unique_ptr<Decompressor> make_zstd_decompressor();

}  // namespace hummer::batch
