#include <hummer/instruction_set.hpp>
#include <hummer/key_hash.hpp>

#include "base/key_hash_v3.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hummer {
namespace {

// Keys are shorter; frames of the network and blocks of files are not.
constexpr std::size_t long_bytes = 1024;

std::uint64_t hash_long(const void* bytes, std::size_t length) {
  static const bool has_v3 = best_instruction_set() >= InstructionSet::v3;
  return has_v3 ? hash_bytes_v3(bytes, length) : XXH3_64bits(bytes, length);
}

}  // namespace

std::uint64_t hash_bytes(const void* bytes, std::size_t length) {
  if (length >= long_bytes) [[unlikely]] {
    return hash_long(bytes, length);
  }
  return XXH3_64bits(bytes, length);
}

std::uint64_t hash_u64(std::uint64_t value) { return XXH3_64bits(&value, sizeof value); }

}  // namespace hummer
