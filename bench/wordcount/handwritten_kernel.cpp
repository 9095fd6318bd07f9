// See handwritten_kernel.hpp. Compiled with HANDWRITTEN_ISA = 2, 3, 4 for x86-64-v2, v3, v4, and
// with 5 for v4 and VBMI2 (compressing bytes; Ice Lake, Zen 4).
//
// The text is worked in batches of `batch_blocks` blocks of 64 bytes, each batch in passes that
// keep many cache misses in flight and hold no branch that depends on a word's length:
//   1. delimiter mask of each block (one compare per vector) -> list of delimiter positions;
//   2. words of at most 8 bytes -> list of keys and home slots; longer ones -> a second list.
//      What goes where is decided by how far a list's end moves, not by a branch;
//   3. prefetch the home slots; 4. compare and count.

#include "handwritten_kernel.hpp"

#include <immintrin.h>

#include <cstring>

#define HANDWRITTEN_JOIN_(a, b) a##b
#define HANDWRITTEN_JOIN(a, b) HANDWRITTEN_JOIN_(a, b)
#define HANDWRITTEN_NAMESPACE HANDWRITTEN_JOIN(v, HANDWRITTEN_ISA)

namespace handwritten {
namespace HANDWRITTEN_NAMESPACE {
namespace {

constexpr std::uint32_t batch_blocks = 32;
constexpr std::size_t read_ahead = 1024;  // hardware prefetchers stop at page borders
constexpr std::uint32_t batch_size = batch_blocks * 64;  // also the most words of a batch

struct Scratch {
  alignas(64) std::uint32_t positions[64 + batch_size + 64];  // of delimiters; [63] is the last
                                                              // one of the batch before
  alignas(64) std::uint64_t keys[batch_size + 64];            // short words
  alignas(64) std::uint32_t homes[batch_size + 64];
  std::uint32_t short_count;
  std::uint32_t other_count;
  alignas(64) std::uint32_t starts[batch_size + 64];  // of the longer words
  alignas(64) std::uint32_t lengths[batch_size + 64];
  alignas(64) std::uint64_t medium_keys[batch_size][2];
  alignas(64) std::uint64_t medium_homes[batch_size];
  std::uint32_t medium_count;
  std::uint32_t wide_count;
  alignas(64) std::uint64_t wide_keys[batch_size][4];
  alignas(64) std::uint64_t wide_homes[batch_size];
};

inline std::uint64_t load8(const char* text) {
  std::uint64_t value;
  std::memcpy(&value, text, 8);
  return value;
}

// Lower-cases the ASCII letters of 8 bytes.
inline std::uint64_t lower8(std::uint64_t bytes) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  const std::uint64_t low7 = bytes & (ones * 0x7f);
  const std::uint64_t from_a = low7 + ones * (0x80 - 'A');
  const std::uint64_t past_z = low7 + ones * (0x80 - 'Z' - 1);
  return bytes + (((from_a & ~past_z & ~bytes) & (ones * 0x80)) >> 2);
}

// The lowest `length` (1 to 8, or more: all) bytes of `bytes`.
inline std::uint64_t keep_bytes(std::uint64_t bytes, std::uint32_t length) {
#if HANDWRITTEN_ISA >= 3
  return _bzhi_u64(bytes, length < 8 ? length * 8 : 64);
#else
  return bytes & (~std::uint64_t{0} >> ((64 - 8 * (length < 8 ? length : 8)) & 63));
#endif
}

inline std::uint64_t delimiter_mask(const char* block) {
#if HANDWRITTEN_ISA >= 4
  return _mm512_cmple_epu8_mask(_mm512_loadu_si512(block), _mm512_set1_epi8(0x20));
#elif HANDWRITTEN_ISA == 3
  const __m256i blank = _mm256_set1_epi8(0x20);
  const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block));
  const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + 32));
  const auto low = static_cast<std::uint32_t>(
      _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(a, blank), blank)));
  const auto high = static_cast<std::uint32_t>(
      _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(b, blank), blank)));
  return low | (static_cast<std::uint64_t>(high) << 32);
#else
  const __m128i blank = _mm_set1_epi8(0x20);
  std::uint64_t mask = 0;
  for (int i = 0; i < 4; ++i) {
    const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 16 * i));
    const auto part = static_cast<std::uint32_t>(
        _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(a, blank), blank)));
    mask |= static_cast<std::uint64_t>(part) << (16 * i);
  }
  return mask;
#endif
}

#if HANDWRITTEN_ISA >= 5
inline __m512i byte_iota() {
  alignas(64) static const unsigned char iota[64] = {
      0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
      22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
      44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
  return _mm512_load_si512(iota);
}
#endif

// Writes the positions of the mask's bits; may write up to 63 more that do not count.
inline std::uint32_t* write_positions(std::uint32_t* out, std::uint64_t mask, std::uint32_t base) {
  const auto count = static_cast<std::uint32_t>(__builtin_popcountll(mask));
#if HANDWRITTEN_ISA >= 5
  const __m512i bytes = _mm512_maskz_compress_epi8(mask, byte_iota());
  const auto store = [&](std::uint32_t at, __m128i sixteen) __attribute__((always_inline)) {
    const __m512i from = _mm512_set1_epi32(static_cast<int>(base));
    _mm512_storeu_si512(out + at, _mm512_add_epi32(from, _mm512_cvtepu8_epi32(sixteen)));
  };
  store(0, _mm512_castsi512_si128(bytes));
  if (__builtin_expect(count > 16, 0)) {
    store(16, _mm512_extracti32x4_epi32(bytes, 1));
    store(32, _mm512_extracti32x4_epi32(bytes, 2));
    store(48, _mm512_extracti32x4_epi32(bytes, 3));
  }
#elif HANDWRITTEN_ISA >= 4
  const __m512i iota = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  std::uint32_t* at = out;
  for (std::uint32_t i = 0; i < 64; i += 16) {
    const auto part = static_cast<__mmask16>(mask >> i);
    const __m512i positions = _mm512_add_epi32(iota, _mm512_set1_epi32(static_cast<int>(base + i)));
    _mm512_storeu_si512(at, _mm512_maskz_compress_epi32(part, positions));
    at += __builtin_popcount(part);
  }
#else
  // A fixed number at once: one loop exit per block would be mispredicted every time.
  constexpr std::uint32_t step = 16;
  for (std::uint32_t done = 0;; done += step) {
    for (std::uint32_t i = 0; i < step; ++i) {
      out[done + i] = base + static_cast<std::uint32_t>(__builtin_ctzll(mask | (1ull << 63)));
      mask &= mask - 1;
    }
    if (__builtin_expect(done + step >= count, 1)) break;
  }
#endif
  return out + count;
}

// Pass 2 over positions[0, count); positions[-1] is the delimiter before the first word.
template <bool lower_case>
inline void split(Scratch& scratch, const char* text, const std::uint32_t* positions,
                  std::uint32_t count, std::uint32_t shift, std::uint32_t longer_than) {
  std::uint32_t shorts = 0;
  std::uint32_t others = 0;
#if HANDWRITTEN_ISA >= 4
  const __m512i one = _mm512_set1_epi32(1);
  const __m512i minimum = _mm512_set1_epi32(static_cast<int>(longer_than));
  const __m512i eight = _mm512_set1_epi32(8);
  const __m512i multiplier = _mm512_set1_epi64(static_cast<long long>(hash_multiplier));
  const __m512i all_ones = _mm512_set1_epi64(-1);
  const __m128i shift_count = _mm_cvtsi32_si128(static_cast<int>(shift));
  for (std::uint32_t i = 0; i < count; i += 16) {
    const auto valid = static_cast<__mmask16>(count - i >= 16 ? 0xffff : (1u << (count - i)) - 1);
    const __m512i ends = _mm512_loadu_si512(positions + i);
    const __m512i starts = _mm512_add_epi32(_mm512_loadu_si512(positions + i - 1), one);
    const __m512i lengths = _mm512_sub_epi32(ends, starts);
    const __mmask16 kept = _mm512_mask_cmpgt_epu32_mask(valid, lengths, minimum);
    const __mmask16 is_short = _mm512_mask_cmple_epu32_mask(kept, lengths, eight);
    const __mmask16 is_other = kept & static_cast<__mmask16>(~is_short);
    const __m512i bits = _mm512_slli_epi32(lengths, 3);

    const auto half = [&](__mmask8 mask, __m256i half_starts,
                          __m256i half_bits) __attribute__((always_inline)) {
      const __m512i raw =
          _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), mask, half_starts, text, 1);
      // A shift by 64 or more leaves 0, so 8-byte words keep all.
      __m512i key =
          _mm512_andnot_si512(_mm512_sllv_epi64(all_ones, _mm512_cvtepu32_epi64(half_bits)), raw);
      if constexpr (lower_case) {
        const __mmask64 upper = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(key, _mm512_set1_epi8('A')),
                                                       _mm512_set1_epi8(26));
        key = _mm512_mask_add_epi8(key, upper, key, _mm512_set1_epi8(32));
      }
      const __m512i hash =
          _mm512_mullo_epi64(_mm512_xor_si512(key, _mm512_srli_epi64(key, 29)), multiplier);
      const __m256i homes = _mm512_cvtepi64_epi32(_mm512_srl_epi64(hash, shift_count));
      _mm512_storeu_si512(scratch.keys + shorts, _mm512_maskz_compress_epi64(mask, key));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(scratch.homes + shorts),
                          _mm256_maskz_compress_epi32(mask, homes));
      shorts += static_cast<std::uint32_t>(__builtin_popcount(mask));
    };
    half(static_cast<__mmask8>(is_short), _mm512_castsi512_si256(starts),
         _mm512_castsi512_si256(bits));
    half(static_cast<__mmask8>(is_short >> 8), _mm512_extracti64x4_epi64(starts, 1),
         _mm512_extracti64x4_epi64(bits, 1));

    _mm512_storeu_si512(scratch.starts + others, _mm512_maskz_compress_epi32(is_other, starts));
    _mm512_storeu_si512(scratch.lengths + others, _mm512_maskz_compress_epi32(is_other, lengths));
    others += static_cast<std::uint32_t>(__builtin_popcount(is_other));
  }
#else
  std::uint32_t start = positions[-1] + 1;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t end = positions[i];
    const std::uint32_t length = end - start;
    std::uint64_t key = keep_bytes(load8(text + start), length);
    if constexpr (lower_case) key = lower8(key);
    scratch.keys[shorts] = key;
    scratch.homes[shorts] = static_cast<std::uint32_t>(hash_short(key) >> shift);
    scratch.starts[others] = start;
    scratch.lengths[others] = length;
    const bool kept = length > longer_than;
    shorts += static_cast<std::uint32_t>(kept & (length <= 8));
    others += static_cast<std::uint32_t>(kept & (length > 8));
    start = end + 1;
  }
#endif
  scratch.short_count = shorts;
  scratch.other_count = others;
}

// The first compare is a branch on purpose. Searching a cache line's four keys at once without a
// branch was measured at 1.6 s of processor time for 1 GiB instead of 0.9. The likely reason: the
// counter's address then depends on the loaded keys, and loads do not pass stores whose address is
// unknown, so that cache misses no longer overlap.
inline void count_shorts(Scratch& scratch, Table<ShortEntry>& table) {
  ShortEntry* const entries = table.entries;
  const std::uint32_t count = scratch.short_count;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t key = scratch.keys[i];
    ShortEntry* entry = entries + scratch.homes[i];
    while (__builtin_expect(entry->key != key, 0)) {
      if (entry->key == 0) {
        entry->key = key;
        ++table.size;
        break;
      }
      ++entry;
    }
    ++entry->count;
  }
}

// Keys and homes of the words of 9 to 32 bytes; longer ones are counted at once.
template <bool lower_case>
inline void load_others(Scratch& scratch, WordTables& tables, const char* text,
                        const Variant& variant) {
  std::uint32_t mediums = 0;
  std::uint32_t wides = 0;
  const std::uint32_t medium_shift = tables.mediums.shift;
  for (std::uint32_t i = 0; i < scratch.other_count; ++i) {
    const char* word = text + scratch.starts[i];
    const std::uint32_t length = scratch.lengths[i];
    if (__builtin_expect(length <= 16, 1)) {
      std::uint64_t* key = scratch.medium_keys[mediums];
      key[0] = load8(word);
      key[1] = keep_bytes(load8(word + 8), length - 8);
      if constexpr (lower_case) {
        key[0] = lower8(key[0]);
        key[1] = lower8(key[1]);
      }
      const std::uint64_t home = hash_medium(key[0], key[1]) >> medium_shift;
      scratch.medium_homes[mediums++] = home;
      __builtin_prefetch(tables.mediums.entries + home, 1);
    } else if (length <= 32) {
      std::uint64_t* key = scratch.wide_keys[wides];
      key[0] = load8(word);
      key[1] = load8(word + 8);
      key[2] = keep_bytes(load8(word + 16), length - 16);
      key[3] = length <= 24 ? 0 : keep_bytes(load8(word + 24), length - 24);
      if constexpr (lower_case) {
        for (int j = 0; j < 4; ++j) key[j] = lower8(key[j]);
      }
      const std::uint64_t home = hash_wide(key) >> tables.wides.shift;
      scratch.wide_homes[wides++] = home;
      __builtin_prefetch(tables.wides.entries + home, 1);
    } else {
      add_long(tables, word, length, 1, variant);
    }
  }
  scratch.medium_count = mediums;
  scratch.wide_count = wides;
}

inline void count_wides(Scratch& scratch, Table<WideEntry>& table) {
  for (std::uint32_t i = 0; i < scratch.wide_count; ++i) {
    const std::uint64_t* key = scratch.wide_keys[i];
    WideEntry* entry = table.entries + scratch.wide_homes[i];
    while (__builtin_expect(((entry->key[0] ^ key[0]) | (entry->key[1] ^ key[1]) |
                             (entry->key[2] ^ key[2]) | (entry->key[3] ^ key[3])) != 0,
                            0)) {
      if (entry->key[0] == 0) {
        std::memcpy(entry->key, key, sizeof(entry->key));
        ++table.size;
        break;
      }
      ++entry;
    }
    ++entry->count;
  }
}

inline void count_mediums(Scratch& scratch, Table<MediumEntry>& table) {
  for (std::uint32_t i = 0; i < scratch.medium_count; ++i) {
    const std::uint64_t low = scratch.medium_keys[i][0];
    const std::uint64_t high = scratch.medium_keys[i][1];
    MediumEntry* entry = table.entries + scratch.medium_homes[i];
    while (__builtin_expect(((entry->low ^ low) | (entry->high ^ high)) != 0, 0)) {
      if (entry->high == 0) {
        entry->low = low;
        entry->high = high;
        ++table.size;
        break;
      }
      ++entry;
    }
    ++entry->count;
  }
}

template <bool lower_case>
void count_text(WordTables& tables, const char* text, std::size_t size, const Variant& variant) {
  if (tables.scratch == nullptr) tables.scratch = allocate_zeroed(sizeof(Scratch));
  Scratch& scratch = *static_cast<Scratch*>(tables.scratch);
  std::uint32_t* const positions = scratch.positions + 64;
  positions[-1] = 0xffffffff;  // the first word starts at -1 + 1
  std::uint32_t from = 0;
  const auto end = static_cast<std::uint32_t>(size);
  while (from < end) {
    std::uint32_t* out = positions;
    const std::uint32_t full = (end - from) / 64 < batch_blocks ? (end - from) / 64 : batch_blocks;
    for (std::uint32_t block = 0; block < full; ++block) {
      __builtin_prefetch(text + from + read_ahead);
      out = write_positions(out, delimiter_mask(text + from), from);
      from += 64;
    }
    if (full < batch_blocks) {  // the text's end, which ends a word
      const std::uint64_t inside = (std::uint64_t{1} << (end - from)) - 1;
      if (inside != 0) out = write_positions(out, delimiter_mask(text + from) & inside, from);
      from = end;
    }
    if (from == end) *out++ = end;
    const auto count = static_cast<std::uint32_t>(out - positions);
    if (count == 0) continue;  // inside a word longer than a batch

    if (tables.shorts.size + count > tables.shorts.capacity / 2) grow(tables.shorts);
    if (tables.mediums.size + count > tables.mediums.capacity / 2) grow(tables.mediums);
    if (tables.wides.size + count > tables.wides.capacity / 2) grow(tables.wides);
    split<lower_case>(scratch, text, positions, count, tables.shorts.shift, variant.longer_than);
    tables.words += scratch.short_count + scratch.other_count;
    for (std::uint32_t i = 0; i < scratch.short_count; ++i) {
      __builtin_prefetch(tables.shorts.entries + scratch.homes[i], 1);
    }
    load_others<lower_case>(scratch, tables, text, variant);
    count_shorts(scratch, tables.shorts);
    count_mediums(scratch, tables.mediums);
    count_wides(scratch, tables.wides);
    positions[-1] = positions[count - 1];
  }
}

}  // namespace

void count(WordTables& tables, const char* text, std::size_t size, const Variant& variant) {
  if (variant.lower_case) {
    count_text<true>(tables, text, size, variant);
  } else {
    count_text<false>(tables, text, size, variant);
  }
}

}  // namespace HANDWRITTEN_NAMESPACE
}  // namespace handwritten
