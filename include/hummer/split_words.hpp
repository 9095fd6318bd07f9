// split_words: text into words, at vector speed.
//
//   env.from_file(path).flat_map(split_words)
//
// A word is a longest run of bytes greater than 0x20; every other byte (space,
// newline, tab, NUL and the control characters) is a delimiter. Bytes above 0x7f
// are data. Words are views into the block.
//
// It uses the public block interface of `TextStream::flat_map` and nothing else;
// the loop picks AVX-512, AVX2 or SSE2 at run time.
// Cost: about one vector compare per 16 to 64 bytes and a store per word.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <hummer/collector.hpp>
#include <hummer/text.hpp>

namespace hummer {

// Finds up to words.size() words of `text`; sets `count` to how many, and returns the
// bytes consumed: all of them, or up to the start of a word for which there was no room.
// Reads up to 64 bytes past the end of `text`.
std::size_t find_words(std::string_view text, std::span<std::string_view> words,
                       std::size_t& count);

struct SplitWords {
  using Output = std::string_view;
  static constexpr bool keeps_to_its_input = true;
  std::size_t operator()(const TextBlock& block, Collector<std::string_view>& out) const {
    std::size_t count = 0;
    const std::size_t consumed = find_words(block.view(), out.room(), count);
    out.wrote(count);
    return consumed;
  }
};
inline constexpr SplitWords split_words{};

}  // namespace hummer
