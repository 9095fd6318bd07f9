// The source of find_words_v2, _v3 and _v4: define HUMMER_LEVEL and HUMMER_FIND_WORDS,
// then include it.
//
// Text is taken in blocks of 64 bytes: one bit per byte says whether it is part of
// a word; two shifts and masks turn that into the bits where words start and the
// bits just behind their ends. The n-th start belongs to the n-th end, once a word
// that came in from the block before is given a start at bit 0. With VBMI2 the
// positions of both are compressed to bytes, 64 at a time, and interleaved and
// widened straight into (length, pointer) records; otherwise bits are counted off.
// No branch depends on how long words are. More records are written than there are
// words: the next block overwrites them, and near the end of the output a block
// goes through a small array.

#include <immintrin.h>
#include <stdint.h>

#include "operators/split_words_kernels.hpp"

namespace hummer {
namespace {

constexpr size_t block_bytes = 64;
// Between two calls a table's misses push the processor's own prefetching aside.
constexpr size_t ahead_bytes = 2048;
constexpr size_t most_words = 32;  // per block; also how many records may be written

// Reads past the text's end, within its slack: deliberate, hidden from the checkers.
__attribute__((no_sanitize("address", "thread"))) inline uint64_t word_bits(const char* block) {
#if HUMMER_LEVEL >= 4
  return _mm512_cmpgt_epu8_mask(_mm512_loadu_si512(block), _mm512_set1_epi8(0x20));
#elif HUMMER_LEVEL == 3
  const __m256i blank = _mm256_set1_epi8(0x20);
  const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block));
  const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + 32));
  const auto low = static_cast<uint32_t>(
      _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(a, blank), blank)));
  const auto high = static_cast<uint32_t>(
      _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(b, blank), blank)));
  return ~(low | (static_cast<uint64_t>(high) << 32));
#else
  const __m128i blank = _mm_set1_epi8(0x20);
  uint64_t blanks = 0;
  for (int i = 0; i < 4; ++i) {
    const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 16 * i));
    const auto bits =
        static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(part, blank), blank)));
    blanks |= static_cast<uint64_t>(bits) << (16 * i);
  }
  return ~blanks;
#endif
}

// The records of the words from the bits of `starts` to those of `ends`, whose n-th belong
// together; `count` is the number of `ends`. Writes up to most_words records in all.
inline void write_words(WordView* words, const char* block, uint64_t starts, uint64_t ends,
                        size_t count) {
#if HUMMER_LEVEL >= 4
  alignas(64) static constexpr unsigned char positions[64] = {
      0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
      22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
      44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
  const __m512i all = _mm512_load_si512(positions);
  const __m512i from = _mm512_maskz_compress_epi8(starts, all);
  const __m512i to = _mm512_maskz_compress_epi8(ends, all);
  const __m512i lengths = _mm512_sub_epi8(to, from);
  const auto address = static_cast<long long>(reinterpret_cast<uintptr_t>(block));
  const __m512i base = _mm512_maskz_set1_epi64(0xaa, address);
  const auto write_16 = [&](WordView* at, __m128i length,
                            __m128i start) __attribute__((always_inline)) {
    const __m128i first = _mm_unpacklo_epi8(length, start);
    const __m128i second = _mm_unpackhi_epi8(length, start);
    const auto write_4 = [&](WordView* to_4, __m128i pairs) __attribute__((always_inline)) {
      _mm512_storeu_si512(to_4, _mm512_add_epi64(_mm512_cvtepu8_epi64(pairs), base));
    };
    write_4(at, first);
    write_4(at + 4, _mm_unpackhi_epi64(first, first));
    write_4(at + 8, second);
    write_4(at + 12, _mm_unpackhi_epi64(second, second));
  };
  write_16(words, _mm512_castsi512_si128(lengths), _mm512_castsi512_si128(from));
  if (__builtin_expect(count > 16, 0)) {
    write_16(words + 16, _mm512_extracti32x4_epi32(lengths, 1), _mm512_extracti32x4_epi32(from, 1));
  }
#else
  // A fixed number at first: an exit per word would be mispredicted in nearly every block. Few
  // blocks of a text have more than 12 words.
  constexpr uint64_t stop = uint64_t{1} << 63;  // counting the zeroes of 0 is undefined
  const auto write_4 = [&](WordView* at) __attribute__((always_inline)) {
    for (size_t i = 0; i < 4; ++i) {
      const auto from = static_cast<size_t>(__builtin_ctzll(starts | stop));
      const auto to = static_cast<size_t>(__builtin_ctzll(ends | stop));
      at[i].length = to - from;
      at[i].data = block + from;
      starts &= starts - 1;
      ends &= ends - 1;
    }
  };
  write_4(words);
  write_4(words + 4);
  write_4(words + 8);
  for (size_t done = 12; __builtin_expect(done < count, 0); done += 4) write_4(words + done);
#endif
}

// What is known between two blocks.
struct Position {
  const char* block;
  const char* word;  // start of the word that the block before ended in; null: none
};

// The words that end in the block of `bits`; answers how many.
inline size_t take_block(Position& at, uint64_t bits, WordView* words) {
  const uint64_t carried = at.word != nullptr;
  const uint64_t before = (bits << 1) | carried;  // the byte before each was part of a word
  const uint64_t starts = (bits & ~before) | carried;
  const uint64_t ends = before & ~bits;
  const auto count = static_cast<size_t>(__builtin_popcountll(ends));
  write_words(words, at.block, starts, ends, count);
  // The first may have begun earlier. Written whether or not it is new or ends here.
  constexpr uint64_t stop = uint64_t{1} << 63;
  const char* const first =
      carried ? at.word : at.block + static_cast<size_t>(__builtin_ctzll(starts | stop));
  const char* const first_end = at.block + static_cast<size_t>(__builtin_ctzll(ends | stop));
  words[0].length = static_cast<size_t>(first_end - first);
  words[0].data = first;
  const char* const last = at.block + (63 - __builtin_clzll(starts | 1));
  const bool goes_on = (bits >> 63) != 0;
  const bool same_word = carried != 0 && ends == 0;
  at.word = !goes_on ? nullptr : same_word ? at.word : last;
  at.block += block_bytes;
  return count;
}

}  // namespace

size_t HUMMER_FIND_WORDS(const char* text, size_t size, WordView* words, size_t capacity,
                         size_t& count) {
  count = 0;
  if (size == 0) return 0;
  Position at{text, nullptr};
  const char* const end = text + size;
  WordView* out = words;
  WordView* const out_end = words + capacity;
  while (static_cast<size_t>(end - at.block) >= block_bytes &&
         static_cast<size_t>(out_end - out) >= most_words) {
    __builtin_prefetch(at.block + ahead_bytes);
    out += take_block(at, word_bits(at.block), out);
  }
  // The text's last bytes, or the last room: a block at a time through an array.
  WordView few[most_words + 1];
  for (;;) {
    const auto left = static_cast<size_t>(end - at.block);
    const auto room = static_cast<size_t>(out_end - out);
    if (room == 0 && at.word != nullptr) {
      count = capacity;
      return static_cast<size_t>(at.word - text);
    }
    uint64_t bits = left == 0 ? 0 : word_bits(at.block);
    if (left < block_bytes) bits &= (uint64_t{1} << left) - 1;
    if (room == 0 && bits != 0) {
      count = capacity;
      return static_cast<size_t>(at.block - text) + static_cast<size_t>(__builtin_ctzll(bits));
    }
    const size_t found = take_block(at, bits, few);
    const size_t fit = found < room ? found : room;
    for (size_t i = 0; i < fit; ++i) out[i] = few[i];
    out += fit;
    if (fit < found) {
      count = capacity;
      return static_cast<size_t>(few[fit].data - text);
    }
    if (left < block_bytes) break;  // the zero bits behind the text ended its last word
  }
  count = static_cast<size_t>(out - words);
  return size;
}

}  // namespace hummer
