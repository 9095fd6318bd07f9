// equal_tokens: whether a token that a peer gave is the right one.
//
// Takes as long for one that is wrong at its end as for one wrong at its beginning.
#pragma once

#include <string_view>

namespace hummer {

inline bool equal_tokens(std::string_view given, std::string_view right) {
  unsigned char difference = given.size() == right.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char other = right.empty() ? '\0' : right[i % right.size()];
    difference = static_cast<unsigned char>(difference | (given[i] ^ other));
  }
  return difference == 0;
}

}  // namespace hummer
