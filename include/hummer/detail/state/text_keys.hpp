// Keys of a text table: views taken apart into fixed-size keys and hashes.
//
// A short key of 1 to 8 bytes is one zero-padded integer, a medium one of 9 to 16
// bytes two, a wide one of 17 to 32 bytes four; that tells keys apart only when the
// last byte is not zero, so those that end in a zero byte count as long, as do the
// empty one and all beyond 32 bytes. Nine words in ten of a text are short.
//
// A function of FindTextKeys' type sorts a group of views into these four classes, one list
// each, in the views' order, finds where each key's probe begins in its table, and prefetches
// that. Prefetches stall when too many misses are under way: spread among the other work, they
// cost far less than in a loop of their own.
// It is a loop without branches on what the keys are, made for each instruction set
// and chosen at run time (8 keys at once by gathers on v4).
//
// It reads no page of memory that the keys themselves are not in: 8 bytes from a
// key's start, or the 8 bytes before its end where the former would cross a page of 4 KiB.
//
// Hashes are good in their upper bits, local to this process and independent of
// key_hash.hpp, by which records are routed: all keys of a subtask share bits of that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <hummer/detail/instruction_set.hpp>

namespace hummer {

struct TextKeys {
  static constexpr std::size_t capacity = 256;  // views at once
  static constexpr std::size_t slack = 16;      // vectors write past a list's end

  std::uint32_t short_count;
  std::uint32_t medium_count;
  std::uint32_t wide_count;
  std::uint32_t long_count;
  // A place: the address of the entry where the probe begins, above the index of its view.
  alignas(64) std::uint64_t short_keys[capacity + slack];
  std::uint64_t short_places[capacity + slack];
  std::uint64_t medium_keys[capacity + slack][2];
  std::uint64_t medium_places[capacity + slack];
  std::uint64_t wide_keys[capacity + slack][4];
  std::uint64_t wide_places[capacity + slack];
  std::uint32_t long_indexes[capacity + slack];

  static std::size_t index_of(std::uint64_t place) { return place & 0xff; }
  template <typename Entry>
  static Entry* entry_of(std::uint64_t place) {
    return reinterpret_cast<Entry*>(place >> 8);  // no address of a process has more than 56 bits
  }
};

// Of a table: the entry of a hash is that number (hash >> shift) from the first.
struct SlotsPlan {
  const void* entries;
  std::uint64_t shift;
  std::uint64_t entry_bytes;  // < 4 GiB
};
struct TextSlotsPlan {
  SlotsPlan shorts;
  SlotsPlan mediums;
  SlotsPlan wides;
};

// REQUIRES: count <= TextKeys::capacity. Thread: any. `keys` need not be initialised.
using FindTextKeys = void (*)(const std::string_view* views, std::size_t count,
                              const TextSlotsPlan& slots, TextKeys& keys);
FindTextKeys text_keys_function(InstructionSet level = best_instruction_set());

// The hashes by which entries are found; for growing tables.
constexpr std::uint64_t hash_short_key(std::uint64_t key) {
  return (key ^ (key >> 29)) * 0x9E3779B97F4A7C15u;
}
inline std::uint64_t hash_medium_key(std::uint64_t low, std::uint64_t high) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(low ^ 0xA0761D6478BD642Fu) * (high ^ 0xE7037ED1A0B428DBu);
  return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
}
inline std::uint64_t hash_wide_key(const std::uint64_t* key) {
  return hash_medium_key(key[0] ^ hash_medium_key(key[1], key[2]), key[3] + 1);
}

}  // namespace hummer
