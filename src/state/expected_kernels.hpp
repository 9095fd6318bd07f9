// The loops behind ExpectedEntries, one per instruction set.
// Free of the standard library: see cmake/HummerModules.cmake on *_v4.cpp.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace hummer {

// A place of an EntryIndex, eight of which are a cache line (expected_entries.cpp checks that).
struct EntryPlace {
  uint32_t number;  // of the entry, and 1; 0: free
  uint32_t tag;
};

// An EntryIndex and the EntrySlabs that its entries lie in.
struct EntryTable {
  const EntryPlace* places;
  uint64_t mask;  // of a place's number
  uint32_t shift;
  char* const* blocks;
  uint64_t block_bytes;
};

void hash_numbers_v2(const uint64_t* keys, size_t count, uint64_t* hashes);
void hash_numbers_v4(const uint64_t* keys, size_t count, uint64_t* hashes);
void find_expected_v2(const EntryTable& table, const uint64_t* hashes, size_t count,
                      void** entries);
void find_expected_v4(const EntryTable& table, const uint64_t* hashes, size_t count,
                      void** entries);

}  // namespace hummer
