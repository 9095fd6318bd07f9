// The source of hash_numbers_v2 and find_expected_v2, and of those of _v4: define HUMMER_LEVEL,
// HUMMER_HASH_NUMBERS and HUMMER_FIND_EXPECTED, then include it.

#include <immintrin.h>

#include "state/expected_kernels.hpp"

namespace hummer {
namespace {

constexpr uint64_t places_per_line = 8;
constexpr uint32_t entries_per_block = 256;  // as in EntrySlabs

// hash_u64 of key_hash.hpp; a test compares them.
inline uint64_t hash_number(uint64_t key) {
  constexpr uint64_t secret = 0x1CAD21F72C81017Cu ^ 0xDB979083E96DD4DEu;
  constexpr uint64_t prime = 0x9FB21C651E98DF25u;
  uint64_t hash = (key << 32 | key >> 32) ^ secret;
  hash ^= (hash << 49 | hash >> 15) ^ (hash << 24 | hash >> 40);
  hash *= prime;
  hash ^= (hash >> 35) + sizeof key;
  hash *= prime;
  return hash ^ hash >> 28;
}

// What a line has for a tag: its places with it and its free ones, one bit each, `bits_per_place`
// apart.
struct InLine {
  unsigned tags;
  unsigned free;
};

#if HUMMER_LEVEL >= 4
constexpr unsigned bits_per_place = 2;
inline InLine look_at(const EntryPlace* line, uint32_t tag) {
  const __m512i places = _mm512_loadu_si512(line);
  const unsigned tags = _mm512_cmpeq_epi32_mask(places, _mm512_set1_epi32(static_cast<int>(tag)));
  const unsigned numbers = _mm512_testn_epi32_mask(places, places);
  return {tags & 0xAAAAu, numbers & 0x5555u};
}
#else
constexpr unsigned bits_per_place = 1;
inline InLine look_at(const EntryPlace* line, uint32_t tag) {
  InLine found{0, 0};
#if defined(__SSE2__)
  const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag));
  for (unsigned first = 0; first < places_per_line; first += 4) {
    const __m128 low = _mm_loadu_ps(reinterpret_cast<const float*>(line + first));
    const __m128 high = _mm_loadu_ps(reinterpret_cast<const float*>(line + first + 2));
    const __m128i tags = _mm_castps_si128(_mm_shuffle_ps(low, high, _MM_SHUFFLE(3, 1, 3, 1)));
    const __m128i numbers = _mm_castps_si128(_mm_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0)));
    const int equal = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(tags, wanted)));
    const int free =
        _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(numbers, _mm_setzero_si128())));
    found.tags |= static_cast<unsigned>(equal) << first;
    found.free |= static_cast<unsigned>(free) << first;
  }
#else
  for (unsigned i = 0; i < places_per_line; ++i) {
    found.tags |= (line[i].tag == tag ? 1u : 0u) << i;
    found.free |= (line[i].number == 0 ? 1u : 0u) << i;
  }
#endif
  return found;
}
#endif

}  // namespace

void HUMMER_HASH_NUMBERS(const uint64_t* keys, size_t count, uint64_t* hashes) {
  for (size_t i = 0; i < count; ++i) hashes[i] = hash_number(keys[i]);
}

// First the lines come near, then the entries. How far a search goes along a line is what a
// processor guesses wrong, so lines are looked at as a whole; what has the tag, which says where
// the search begins, cannot lie before its beginning.
void HUMMER_FIND_EXPECTED(const EntryTable& table, const uint64_t* hashes, size_t count,
                          void** entries) {
  const EntryTable in = table;  // not what the writes below might change
  for (size_t i = 0; i < count; ++i) {
    __builtin_prefetch(&in.places[static_cast<uint32_t>(hashes[i]) >> in.shift]);
  }
  for (size_t i = 0; i < count; ++i) {
    const auto tag = static_cast<uint32_t>(hashes[i]);
    const uint32_t home = tag >> in.shift;
    uint64_t at = home & ~(places_per_line - 1);
    InLine found = look_at(in.places + at, tag);
    found.free >>= home % places_per_line * bits_per_place;
    while (found.tags == 0 && found.free == 0) {
      at = (at + places_per_line) & in.mask;
      found = look_at(in.places + at, tag);
    }
    void* entry = nullptr;
    if (found.tags != 0) {
      const auto place = static_cast<unsigned>(__builtin_ctz(found.tags)) / bits_per_place;
      const uint32_t number = in.places[at + place].number - 1;
      // Free places have tag 0: of that one, which nearly no key has, it may not be found.
      if (number != UINT32_MAX) {
        entry = in.blocks[number / entries_per_block] + number % entries_per_block * in.block_bytes;
        __builtin_prefetch(entry, 1);
      }
    }
    entries[i] = entry;
  }
}

}  // namespace hummer
