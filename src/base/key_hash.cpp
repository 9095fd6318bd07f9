#include <hummer/detail/instruction_set.hpp>
#include <hummer/detail/key_hash.hpp>

#include "base/hash_pieces.hpp"
#include "base/key_hash_v3.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hummer {
namespace {

// Keys are shorter; frames of the network and blocks of files are not.
constexpr std::size_t long_bytes = 1024;

bool has_v3() {
  static const bool has = best_instruction_set() >= InstructionSet::v3;
  return has;
}

std::uint64_t hash_long(const void* bytes, std::size_t length) {
  return has_v3() ? hash_bytes_v3(bytes, length) : XXH3_64bits(bytes, length);
}

}  // namespace

std::uint64_t hash_bytes(const void* bytes, std::size_t length) {
  if (length >= long_bytes) [[unlikely]] {
    return hash_long(bytes, length);
  }
  return XXH3_64bits(bytes, length);
}

std::uint64_t hash_pieces(std::span<const std::string_view> pieces) {
  if (has_v3()) return hash_pieces_v3(pieces);
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (const std::string_view piece : pieces) {
    XXH3_64bits_update(&state, piece.data(), piece.size());
  }
  return XXH3_64bits_digest(&state);
}

}  // namespace hummer
