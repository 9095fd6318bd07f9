// split_by_bytes(line, out): calls out(word) for each word of a line, the longest runs of bytes
// > 0x20, found by a plain loop over the bytes, as users write it first. wordcount_hummer_lambda
// runs it in a job and wordcount_bare_loop with nothing around it.
#pragma once

#include <cstddef>
#include <string_view>

template <typename Words>
inline void split_by_bytes(std::string_view line, Words& out) {
  const auto is_delimiter = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t begin = at;
    while (at < line.size() && !is_delimiter(line[at])) ++at;
    if (at > begin) out(line.substr(begin, at - begin));
    ++at;
  }
}
