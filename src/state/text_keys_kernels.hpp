// The loops behind text_keys_function, one per instruction set.
// Free of the standard library: see cmake/HummerModules.cmake on *_v4.cpp.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace hummer {

// A std::string_view, as the library lays it out (text_keys.cpp checks that).
struct __attribute__((may_alias)) KeyView {
  size_t length;
  const char* data;
};

// As in text_keys.hpp, three of them.
struct KeySlots {
  struct Table {
    const void* entries;
    uint64_t shift;
    uint64_t entry_bytes;
  };
  Table shorts;
  Table mediums;
  Table wides;
};

// The lists of TextKeys.
struct KeyLists {
  uint64_t* short_keys;
  uint64_t* short_places;
  uint64_t (*medium_keys)[2];
  uint64_t* medium_places;
  uint64_t (*wide_keys)[4];
  uint64_t* wide_places;
  uint32_t* long_indexes;
  uint32_t short_count;
  uint32_t medium_count;
  uint32_t wide_count;
  uint32_t long_count;
};

void find_text_keys_v2(const KeyView* views, size_t count, const KeySlots& slots, KeyLists& lists);
void find_text_keys_v3(const KeyView* views, size_t count, const KeySlots& slots, KeyLists& lists);
void find_text_keys_v4(const KeyView* views, size_t count, const KeySlots& slots, KeyLists& lists);

}  // namespace hummer
