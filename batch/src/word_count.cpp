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
  constexpr std::size_t none = ~std::size_t{0};
  std::size_t begin = none;  // of a word that has no end yet
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
    const std::uint64_t before = letters << 1 | (begin != none ? 1 : 0);
    // Where a word begins, or what is behind one does.
    for (std::uint64_t changes = letters ^ before; changes != 0; changes &= changes - 1) {
      const std::size_t at = block + static_cast<std::size_t>(std::countr_zero(changes));
      if (begin == none) {
        begin = at;
      } else {
        take(begin, at);
        begin = none;
      }
    }
  }
  if (begin != none) take(begin, text.size());
}

Result<std::uint64_t> sum_of(GroupReader& group) {
  std::uint64_t sum = 0;
  while (group.next_value()) sum += count_in(group.value());
  if (!group.status().ok()) return group.status();
  return sum;
}

}  // namespace

std::uint64_t count_in(std::string_view value) {
  return value.size() == sizeof(std::uint64_t) ? big_endian_64(value.data()) : 0;
}

DecimalText::DecimalText(std::uint64_t number)
    : size_(static_cast<std::size_t>(std::to_chars(digits_, digits_ + sizeof digits_, number).ptr -
                                     digits_)) {}

void WordMapper::map_record(const RecordView& line, MapOutput& output) {
  static const CountBytes one(1);
  const std::string_view text = line.value();
  for_each_word(text, [&](std::size_t begin, std::size_t end) {
    output.emit(text.substr(begin, end - begin), one.view());
  });
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

void SumFolder::fold_record(Sum& sum, const RecordView& record) {
  sum.value += count_in(record.value());
}
void SumFolder::emit_state(std::string_view key, const Sum& sum, RecordOutput& output) {
  output.emit(key, CountBytes(sum.value).view());
}
void SumFolder::finish_state(std::string_view key, const Sum& sum, RecordOutput& output) {
  output.emit(key, DecimalText(sum.value).view());
}

}  // namespace hummer::batch
