// CRC-32 (IEEE 802.3, that of zlib and of java.util.zip.CRC32), at the speed of memory.
//
//   std::uint32_t crc = 0;
//   crc = crc32_after(crc, first);
//   crc = crc32_after(crc, second);      // that of both, one behind the other
//
// Where the processor multiplies without carry (PCLMULQDQ: all since 2011) 64 bytes are folded at a
// time, otherwise zlib does it, at some 1 GB/s.
//
// Thread: any, as it has no state.
#pragma once

#include <cstdint>
#include <string_view>

namespace hummer::batch {

// Of what gave `crc` (0: nothing) with `bytes` behind it.
std::uint32_t crc32_after(std::uint32_t crc, std::string_view bytes);

}  // namespace hummer::batch
