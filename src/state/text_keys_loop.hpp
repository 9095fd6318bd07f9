// The source of find_text_keys_v2, _v3 and _v4: define HUMMER_LEVEL and
// HUMMER_FIND_TEXT_KEYS, then include it. What goes to which list is decided by how
// far a list's end moves, not by a branch.

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "state/text_keys_kernels.hpp"

namespace hummer {
namespace {

// As in text_keys.hpp; a test compares them.
inline uint64_t hash_short(uint64_t key) { return (key ^ (key >> 29)) * 0x9E3779B97F4A7C15u; }
inline uint64_t hash_medium(uint64_t low, uint64_t high) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(low ^ 0xA0761D6478BD642Fu) * (high ^ 0xE7037ED1A0B428DBu);
  return static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product);
}
inline uint64_t hash_wide(const uint64_t* key) {
  return hash_medium(key[0] ^ hash_medium(key[1], key[2]), key[3] + 1);
}

// May read past a key: deliberate, hidden from the checkers.
__attribute__((no_sanitize("address", "thread"))) inline uint64_t load_8(uintptr_t at) {
  struct __attribute__((packed, may_alias)) Bytes {
    uint64_t value;
  };
  return reinterpret_cast<const Bytes*>(at)->value;
}

// Where a probe begins: the entry's address and, in the lowest 8 bits, the view's index.
inline uint64_t place_of(const KeySlots::Table& table, uint64_t hash, uint32_t index) {
  const auto address =
      reinterpret_cast<uintptr_t>(table.entries) + (hash >> table.shift) * table.entry_bytes;
  __builtin_prefetch(reinterpret_cast<const void*>(address));
  return address << 8 | index;
}

constexpr uint64_t last_safe_offset = 4096 - 8;  // in a page, of 8 bytes

// The keys at `indexes`, which are not short: medium, wide or long.
inline void take_rest(const KeyView* views, const uint64_t* indexes, uint32_t count,
                      const KeySlots& slots, KeyLists& lists) {
  const KeySlots::Table medium_slots = slots.mediums;
  const KeySlots::Table wide_slots = slots.wides;
  uint64_t(*const medium_keys)[2] = lists.medium_keys;  // in registers: no store can change them
  uint64_t* const medium_places = lists.medium_places;
  uint64_t(*const wide_keys)[4] = lists.wide_keys;
  uint64_t* const wide_places = lists.wide_places;
  uint32_t* const long_indexes = lists.long_indexes;
  uint32_t mediums = 0;
  uint32_t wides = 0;
  uint32_t longs = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const auto index = static_cast<uint32_t>(indexes[i]);
    const KeyView view = views[index];
    const auto at = reinterpret_cast<uintptr_t>(view.data);
    const uint64_t length = view.length;
    if (__builtin_expect(length - 9 < 8, 1)) {
      const uint64_t low = load_8(at);
      const uint64_t tail = load_8(at + length - 8);
      const uint64_t high = tail >> (8 * (16 - length));
      medium_keys[mediums][0] = low;
      medium_keys[mediums][1] = high;
      medium_places[mediums] = place_of(medium_slots, hash_medium(low, high), index);
      long_indexes[longs] = index;
      const uint32_t fits = (tail >> 56) != 0;
      mediums += fits;
      longs += 1 - fits;
    } else if (length - 17 < 16) {
      uint64_t* const key = wide_keys[wides];
      const uint64_t tail = load_8(at + length - 8);
      key[0] = load_8(at);
      key[1] = load_8(at + 8);
      key[2] = length <= 24 ? tail >> (8 * (24 - length)) : load_8(at + 16);
      key[3] = length <= 24 ? 0 : tail >> (8 * (32 - length));
      wide_places[wides] = place_of(wide_slots, hash_wide(key), index);
      long_indexes[longs] = index;
      const uint32_t fits = (tail >> 56) != 0;
      wides += fits;
      longs += 1 - fits;
    } else {
      long_indexes[longs++] = index;
    }
  }
  lists.wide_count = wides;
  lists.medium_count = mediums;
  lists.long_count = longs;
}

constexpr size_t most_views = 256;  // TextKeys::capacity

}  // namespace

void HUMMER_FIND_TEXT_KEYS(const KeyView* views, size_t count, const KeySlots& slots,
                           KeyLists& lists) {
  const KeySlots::Table short_slots = slots.shorts;
  uint64_t rest_indexes[most_views + 16];
  uint64_t* const short_keys = lists.short_keys;
  uint64_t* const short_places = lists.short_places;
  uint32_t shorts = 0;
  uint32_t rest = 0;
#if HUMMER_LEVEL >= 4
  const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
  const __m512i odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
  const __m512i one = _mm512_set1_epi64(1);
  const __m512i eight = _mm512_set1_epi64(8);
  const __m512i in_page = _mm512_set1_epi64(4095);
  const __m512i last_safe = _mm512_set1_epi64(last_safe_offset);
  const __m512i all_ones = _mm512_set1_epi64(-1);
  const __m512i multiplier = _mm512_set1_epi64(static_cast<long long>(0x9E3779B97F4A7C15u));
  const auto first_entry = static_cast<long long>(reinterpret_cast<uintptr_t>(short_slots.entries));
  const __m512i entries = _mm512_set1_epi64(first_entry);
  const __m512i elsewhere = _mm512_slli_epi64(entries, 8);  // for lanes without a key
  const __m512i entry_bytes = _mm512_set1_epi64(static_cast<long long>(short_slots.entry_bytes));
  const __m128i shift = _mm_cvtsi64_si128(static_cast<long long>(short_slots.shift));
  __m512i indexes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
  const auto take_8 = [&](const KeyView* at, __mmask8 valid,
                          uint32_t halves) __attribute__((always_inline)) {
    const __m512i a = _mm512_maskz_loadu_epi64(static_cast<__mmask8>(halves), at);
    const __m512i b = _mm512_maskz_loadu_epi64(static_cast<__mmask8>(halves >> 8), at + 4);
    const __m512i lengths = _mm512_permutex2var_epi64(a, even, b);
    const __m512i addresses = _mm512_permutex2var_epi64(a, odd, b);

    __mmask8 is_short = _mm512_mask_cmplt_epu64_mask(valid, _mm512_sub_epi64(lengths, one), eight);
    const __mmask8 crosses =
        _mm512_mask_cmpgt_epu64_mask(is_short, _mm512_and_si512(addresses, in_page), last_safe);
    const __m512i bits = _mm512_slli_epi64(lengths, 3);
    __m512i raw;
    if (__builtin_expect(crosses == 0, 1)) {
      raw = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), is_short, addresses, nullptr, 1);
    } else {
      const __m512i back = _mm512_maskz_sub_epi64(crosses, eight, lengths);
      raw = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), is_short,
                                        _mm512_sub_epi64(addresses, back), nullptr, 1);
      raw = _mm512_srlv_epi64(raw, _mm512_slli_epi64(back, 3));
    }
    // A shift by 64 or more leaves 0, so that 8 bytes keep all.
    const __m512i key = _mm512_andnot_si512(_mm512_sllv_epi64(all_ones, bits), raw);
    const __m512i last = _mm512_srlv_epi64(key, _mm512_sub_epi64(bits, eight));
    is_short = _mm512_mask_test_epi64_mask(is_short, last, last);
    const __m512i hash =
        _mm512_mullo_epi64(_mm512_xor_si512(key, _mm512_srli_epi64(key, 29)), multiplier);
    const __m512i address =
        _mm512_add_epi64(_mm512_mul_epu32(_mm512_srl_epi64(hash, shift), entry_bytes), entries);
    const __m512i places = _mm512_or_si512(_mm512_slli_epi64(address, 8), indexes);
    uint64_t* const out = short_places + shorts;
    _mm512_storeu_si512(short_keys + shorts, _mm512_maskz_compress_epi64(is_short, key));
    _mm512_storeu_si512(out, _mm512_mask_compress_epi64(elsewhere, is_short, places));
    for (int lane = 0; lane < 8; ++lane) {
      __builtin_prefetch(reinterpret_cast<const void*>(out[lane] >> 8));
    }
    const auto others = static_cast<__mmask8>(valid & ~is_short);
    _mm512_storeu_si512(rest_indexes + rest, _mm512_maskz_compress_epi64(others, indexes));
    shorts += static_cast<uint32_t>(__builtin_popcount(is_short));
    rest += static_cast<uint32_t>(__builtin_popcount(others));
    indexes = _mm512_add_epi64(indexes, eight);
  };
  const size_t full = count & ~size_t{7};
  for (size_t i = 0; i < full; i += 8) take_8(views + i, 0xff, 0xffff);
  if (const size_t left = count - full; left > 0) {
    take_8(views + full, static_cast<__mmask8>((1u << left) - 1), (1u << (2 * left)) - 1);
  }
#else
  for (uint32_t i = 0; i < count; ++i) {
    const KeyView view = views[i];
    const auto at = reinterpret_cast<uintptr_t>(view.data);
    const uint64_t unused_bits = 64 - view.length * 8;  // of short keys; others are not counted
    uint64_t raw;
    if (__builtin_expect((at & 4095) > last_safe_offset || view.length == 0, 0)) {
      // 8 bytes would cross the page: those before the key's end, shifted down. An empty view may
      // point anywhere. Longer keys are not counted here.
      if (view.length - 1 < 8) {
        raw = load_8(at + view.length - 8) >> (unused_bits & 63);
      } else {
        raw = 0;
      }
    } else {
      raw = load_8(at);
    }
    const uint64_t shifted = raw << (unused_bits & 63);
    const uint64_t key = shifted >> (unused_bits & 63);
    short_keys[shorts] = key;
    short_places[shorts] = place_of(short_slots, hash_short(key), i);
    rest_indexes[rest] = i;
    const uint32_t is_short =
        static_cast<uint32_t>(view.length <= 8) & static_cast<uint32_t>(shifted >> 56 != 0);
    shorts += is_short;
    rest += 1 - is_short;
  }
#endif
  lists.short_count = shorts;
  take_rest(views, rest_indexes, rest, slots, lists);
}

}  // namespace hummer
