// hash_bytes of long texts with AVX2, which takes half the time of SSE2.
#include "base/key_hash_v3.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hummer {

std::uint64_t hash_bytes_v3(const void* bytes, std::size_t length) {
  return XXH3_64bits(bytes, length);
}

std::uint64_t hash_pieces_v3(std::span<const std::string_view> pieces) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (const std::string_view piece : pieces) {
    XXH3_64bits_update(&state, piece.data(), piece.size());
  }
  return XXH3_64bits_digest(&state);
}

}  // namespace hummer
