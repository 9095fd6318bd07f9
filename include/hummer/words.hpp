// words: the words of a text as a range, for functions that see a line at a time.
//
//   .flat_map([](std::string_view line, hummer::Collector<std::string_view>& out) {
//     for (const std::string_view word : hummer::words(line)) {
//       if (word.size() > 3) out(word);
//     }
//   })
//
// A word is a longest run of bytes above 0x20, as for split_words, which sees whole blocks of
// lines and is faster still. The words are views into the text.
//
// Cost: 64 bytes at a time are compared, and a word's borders come out of a bit mask: no
// branch per byte, which a loop over bytes mispredicts at almost every word.
//
// Thread: a value. No state beyond the iterator, no allocation.
#pragma once

#include <string_view>

#include <hummer/detail/words_range.hpp>

namespace hummer {

inline Words words(std::string_view text) { return Words(text); }

}  // namespace hummer
