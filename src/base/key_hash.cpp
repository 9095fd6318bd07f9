#include <hummer/key_hash.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hummer {

std::uint64_t hash_bytes(const void* bytes, std::size_t length) {
  return XXH3_64bits(bytes, length);
}

std::uint64_t hash_u64(std::uint64_t value) { return XXH3_64bits(&value, sizeof value); }

}  // namespace hummer
