// CRC-32 (IEEE 802.3, that of zlib and of java.util.zip.CRC32), at the speed of memory.
//
//   std::uint32_t crc = 0;
//   crc = crc32_after(crc, first);
//   crc = crc32_after(crc, second);      // that of both, one behind the other
//
// Where the processor multiplies without carry (PCLMULQDQ: all since 2011) 64 bytes are folded at a
// time, and 256 where it does so in registers of 512 bits (VPCLMULQDQ); otherwise zlib does it, at
// some 1 GB/s. The method is that of V. Gopal et al., "Fast CRC Computation for Generic Polynomials
// Using PCLMULQDQ Instruction" (Intel, 2009).
//
// Thread: any, as it has no state.
#pragma once

#include <cstdint>
#include <string_view>

namespace hummer::batch {

// Of what gave `crc` (0: nothing) with `bytes` behind it.
std::uint32_t crc32_after(std::uint32_t crc, std::string_view bytes);

// How it is found.
enum class Crc32Form : std::uint8_t { zlib, folded, folded_widely };
Crc32Form best_crc32_form();
// REQUIRES: the processor has what the form takes. All give the same.
std::uint32_t crc32_after(std::uint32_t crc, std::string_view bytes, Crc32Form form);

}  // namespace hummer::batch
