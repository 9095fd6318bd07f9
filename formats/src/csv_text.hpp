// The text of one CSV field, which may be in quotes: for headers and for fields that need
// rewriting. Pure; the same rules as the decoder's.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hummer::formats {

// `inner` is what stands between the outer quotes. How many bytes it is without the doubling;
// npos: a quote in it is not doubled.
inline std::size_t unquoted_size(std::string_view inner, char quote) {
  std::size_t size = inner.size();
  for (std::size_t i = inner.find(quote); i != std::string_view::npos; i = inner.find(quote, i)) {
    if (i + 1 == inner.size() || inner[i + 1] != quote) return std::string_view::npos;
    --size;
    i += 2;
  }
  return size;
}

// REQUIRES: unquoted_size(inner) bytes at `to`.
inline void unquote(std::string_view inner, char quote, char* to) {
  for (std::size_t i = 0; i < inner.size(); ++i) {
    *to++ = inner[i];
    if (inner[i] == quote) ++i;
  }
}

// Whether a field must stand in quotes to be read as it is.
inline bool needs_quotes(std::string_view text, char separator, char quote) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (c == separator || c == quote || c == '\n' || c == '\r') return true;
  }
  return false;
}

// For messages: not longer than can be read, and without control characters.
std::string shown(std::string_view text);

}  // namespace hummer::formats
