// The order-independent hash of a word count's result: the sum, modulo 2^64, over all lines
// `word<tab>count` (without the line end) of FNV-1a 64. Equal results in any order, of any engine,
// have equal hashes. Lines: a word holds no byte <= 0x20, so the last tab ends it.

#pragma once

#include <cstdint>
#include <string_view>

struct ResultHash {
  std::uint64_t hash = 0;
  std::uint64_t distinct = 0;  // lines
  std::uint64_t words = 0;     // sum of the counts
};

inline ResultHash result_hash(std::string_view lines) {
  ResultHash result;
  std::uint64_t line_hash = 0xcbf29ce484222325;
  std::uint64_t count = 0;
  bool inside = false;
  for (const char c : lines) {
    if (c == '\n') {
      result.hash += line_hash;
      result.words += count;
      ++result.distinct;
      line_hash = 0xcbf29ce484222325;
      count = 0;
      inside = false;
      continue;
    }
    line_hash = (line_hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    count = c == '\t' ? 0 : count * 10 + static_cast<unsigned char>(c) - '0';
    inside = true;
  }
  if (inside) {  // a last line without its end is a line
    result.hash += line_hash;
    result.words += count;
    ++result.distinct;
  }
  return result;
}
