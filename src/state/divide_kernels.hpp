// The loops behind HashDivider, one per instruction set.
// Free of the standard library: see cmake/HummerModules.cmake on *_v4.cpp.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace hummer {

// REQUIRES: count <= 256; room for eight more places in both.
size_t divide_hashes_v2(const uint64_t* hashes, size_t count, uint64_t first, uint64_t size,
                        uint8_t* inside, uint8_t* outside);
size_t divide_hashes_v4(const uint64_t* hashes, size_t count, uint64_t first, uint64_t size,
                        uint8_t* inside, uint8_t* outside);

}  // namespace hummer
