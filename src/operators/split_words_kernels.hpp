// The loops behind find_words, one per instruction set; find_words picks one.
// Free of the standard library: see cmake/HummerModules.cmake on *_v4.cpp.
#pragma once

#include <stddef.h>

namespace hummer {

// A std::string_view, as the library lays it out (find_words checks that).
struct __attribute__((may_alias)) WordView {
  size_t length;
  const char* data;
};

// As find_words, over plain pointers.
using FindWords = size_t (*)(const char* text, size_t size, WordView* words, size_t capacity,
                             size_t& count);
size_t find_words_v2(const char* text, size_t size, WordView* words, size_t capacity,
                     size_t& count);
size_t find_words_v3(const char* text, size_t size, WordView* words, size_t capacity,
                     size_t& count);
size_t find_words_v4(const char* text, size_t size, WordView* words, size_t capacity,
                     size_t& count);

}  // namespace hummer
