// hash_bytes of long texts with AVX2, which takes half the time of SSE2.
#include "base/key_hash_v3.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hummer {

std::uint64_t hash_bytes_v3(const void* bytes, std::size_t length) {
  return XXH3_64bits(bytes, length);
}

}  // namespace hummer
