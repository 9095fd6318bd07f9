// Whether bytes are UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
//
// Cost: some nanoseconds for short ASCII, eight bytes at a time; other text a character at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace hummer::formats {

// Bytes of the character that the text begins with; 0: none does. REQUIRES: not empty.
std::size_t utf8_length(std::string_view text);

bool is_utf8_slowly(std::string_view text);

inline bool is_utf8(std::string_view text) {
  constexpr std::uint64_t high = 0x8080808080808080;
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t seen = 0;
  std::uint64_t word = 0;
  for (; left >= sizeof word; at += sizeof word, left -= sizeof word) {
    std::memcpy(&word, at, sizeof word);
    seen |= word;
  }
  if (text.size() >= sizeof word) {
    std::memcpy(&word, text.data() + text.size() - sizeof word, sizeof word);
    seen |= word;
  } else {
    for (std::size_t i = 0; i < left; ++i) seen |= static_cast<unsigned char>(at[i]);
  }
  return (seen & high) == 0 || is_utf8_slowly(text);
}

}  // namespace hummer::formats
