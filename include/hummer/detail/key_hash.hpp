// Key hash and key group: which subtask owns a key.
//
// Key group = top bits of XXH3-64 (seed 0) over the codec's canonical key bytes
// (text: its raw bytes; integers little-endian; −0.0 as 0.0; one NaN). The
// number of groups is the maximum parallelism (default 1024) and is fixed in a
// snapshot; owner = group · parallelism / groups, so neighbouring groups stay
// together when parallelism changes. `std::hash` never decides what is stored
// or routed. The values are part of the snapshot format: a golden test holds them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <hummer/codec.hpp>

namespace hummer {

inline constexpr std::uint32_t default_key_groups = 1024;

// XXH3-64, seed 0.
std::uint64_t hash_bytes(const void* bytes, std::size_t length);

// The same of eight little-endian bytes, which the most frequent keys are: without a call.
constexpr std::uint64_t hash_u64(std::uint64_t value) {
  constexpr std::uint64_t secret = 0x1CAD21F72C81017Cu ^ 0xDB979083E96DD4DEu;
  constexpr std::uint64_t prime = 0x9FB21C651E98DF25u;
  std::uint64_t hash = std::rotl(value, 32) ^ secret;
  hash ^= std::rotl(hash, 49) ^ std::rotl(hash, 24);
  hash *= prime;
  hash ^= (hash >> 35) + sizeof value;
  hash *= prime;
  return hash ^ hash >> 28;
}

template <typename K>
std::uint64_t key_hash(const K& key) {
  if constexpr (std::same_as<K, std::string_view> || std::same_as<K, std::string>) {
    return hash_bytes(key.data(), key.size());
  } else if constexpr (std::is_integral_v<K> && sizeof(K) == 8) {
    return hash_u64(static_cast<std::uint64_t>(key));
  } else {
    char space[128];
    ByteWriter bytes(std::span<char>(space, sizeof space), true);
    Codec<K>::encode(key, bytes);
    if (!bytes.overflowed()) return hash_bytes(space, bytes.size());
    std::string grown;
    ByteWriter more(grown, true);
    Codec<K>::encode(key, more);
    return hash_bytes(more.view().data(), more.size());
  }
}

constexpr std::uint32_t key_group(std::uint64_t hash, std::uint32_t groups) {
  return static_cast<std::uint32_t>(((hash >> 32) * groups) >> 32);
}
constexpr std::uint32_t group_owner(std::uint32_t group, std::uint32_t parallelism,
                                    std::uint32_t groups) {
  return static_cast<std::uint32_t>(std::uint64_t{group} * parallelism / groups);
}

}  // namespace hummer
