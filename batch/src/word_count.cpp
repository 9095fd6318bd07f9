#include "word_count.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include <emmintrin.h>

namespace hummer::batch {
namespace {

constexpr std::size_t block_bytes = 64;

// A bit for each byte that is whitespace: the space, and \t to \r, which are 9 to 13.
std::uint64_t spaces_in(const char* block) {
  std::uint64_t spaces = 0;
  for (std::size_t at = 0; at < block_bytes; at += sizeof(__m128i)) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + at));
    const __m128i from_tab = _mm_sub_epi8(bytes, _mm_set1_epi8('\t'));
    const __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(from_tab, _mm_set1_epi8(4)), from_tab);
    const __m128i found = _mm_or_si128(controls, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(' ')));
    spaces |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(found)))
              << at;
  }
  return spaces;
}

// Calls take(begin, end) for each word, with offsets in the text.
template <typename Take>
void for_each_word(std::string_view text, Take&& take) {
  std::size_t begin = 0;  // of a word that has no end yet
  bool is_open = false;   // whether there is one
  for (std::size_t block = 0; block < text.size(); block += block_bytes) {
    const std::size_t size = std::min(block_bytes, text.size() - block);
    std::array<char, block_bytes> last;  // nothing is read behind the text
    const char* bytes = text.data() + block;
    if (size < block_bytes) {
      last.fill(' ');
      std::memcpy(last.data(), bytes, size);
      bytes = last.data();
    }
    const std::uint64_t letters = ~spaces_in(bytes);
    const std::uint64_t before = letters << 1 | (is_open ? 1 : 0);
    std::uint64_t begins = letters & ~before;
    std::uint64_t ends = ~letters & before;
    const auto taken = [block](std::uint64_t& borders) {
      const std::size_t at = block + static_cast<std::size_t>(std::countr_zero(borders));
      borders &= borders - 1;
      return at;
    };
    if (is_open && ends != 0) take(begin, taken(ends));
    while (ends != 0) {
      const std::size_t from = taken(begins);
      take(from, taken(ends));
    }
    if (begins != 0) begin = taken(begins);
    is_open = letters >> (block_bytes - 1) != 0;
  }
  if (is_open) take(begin, text.size());
}

// How many of the lines, from the first on, lie one behind the other in a text, with a line end
// between them, as they come from a reader of texts: one stretch of text costs less than each line
// by itself, and a line end parts words like any whitespace.
std::size_t lines_that_adjoin(std::span<const RecordView> lines) {
  std::size_t count = 1;
  for (; count < lines.size(); ++count) {
    const char* const end = lines[count - 1].value_data + lines[count - 1].value_bytes;
    if (lines[count].value_data != end + 1 || *end != '\n') break;
  }
  return count;
}

Result<std::uint64_t> sum_of(GroupReader& group) {
  std::uint64_t sum = 0;
  while (group.next_value()) sum += count_in(group.value());
  if (!group.status().ok()) return group.status();
  return sum;
}

}  // namespace

DecimalText::DecimalText(std::uint64_t number)
    : size_(static_cast<std::size_t>(std::to_chars(digits_, digits_ + sizeof digits_, number).ptr -
                                     digits_)) {}

WordMapper::WordMapper() {
  const std::string_view count = one_.view();
  words_.fill({nullptr, count.data(), 0, static_cast<std::uint32_t>(count.size())});
}

Status WordMapper::map(std::span<const RecordView> lines, MapOutput& output) {
  std::size_t words = 0;
  while (!lines.empty()) {
    const std::size_t together = lines_that_adjoin(lines);
    const char* const begin = lines.front().value_data;
    const RecordView& last = lines[together - 1];
    const char* const end = last.value_data + last.value_bytes;
    for_each_word({begin, end}, [&](std::size_t from, std::size_t to) {
      RecordView& word = words_[words++];
      word.key_data = begin + from;
      word.key_bytes = static_cast<std::uint32_t>(to - from);
      if (words == words_.size()) {
        output.emit_all(words_);
        words = 0;
      }
    });
    lines = lines.subspan(together);
  }
  output.emit_all(std::span(words_).first(words));
  return Status();
}

Status SumCombiner::combine(GroupReader& group, RecordBuffer& out) {
  const auto sum = sum_of(group);
  if (!sum.ok()) return sum.status();
  out.add(group.key(), CountBytes(*sum).view());
  return Status();
}

Status SumReducer::reduce_group(GroupReader& group, RecordOutput& output) {
  const auto sum = sum_of(group);
  if (!sum.ok()) return sum.status();
  output.emit(group.key(), DecimalText(*sum).view());
  return Status();
}

void SumFolder::emit_state(std::string_view key, const Sum& sum, RecordOutput& output) {
  output.emit(key, CountBytes(sum.value).view());
}
void SumFolder::finish_state(std::string_view key, const Sum& sum, RecordOutput& output) {
  output.emit(key, DecimalText(sum.value).view());
}

}  // namespace hummer::batch
