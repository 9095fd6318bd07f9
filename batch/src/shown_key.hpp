// shown_key: a key as a message has it, in quotes: of its first bytes those that are no printable
// ASCII as \xNN.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace hummer::batch {

inline std::string shown_key(std::string_view key) {
  constexpr std::size_t most_bytes = 100;
  std::string text = "'";
  for (const char c : key.substr(0, most_bytes)) {
    if (c >= ' ' && c <= '~') {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text + (key.size() > most_bytes ? "…'" : "'");
}

}  // namespace hummer::batch
