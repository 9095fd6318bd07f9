// EntryIndex: finds entries that lie elsewhere, by number, from the hash of their key.
//
// Open addressing with linear probing; a place is an entry's number and 32 bits of its hash, eight
// bytes, so that other keys' entries are hardly ever looked at. Those 32 bits also say where the
// search begins: the index grows, and closes gaps, without looking at any entry. Removal moves the
// places behind it back: there are no tombstones, and an index that shrinks and grows again stays
// as quick as it was. At most three quarters of the places are used.
//
// Memory comes in huge pages where that pays (zeroed_pages.hpp). Thread: one.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <hummer/detail/zeroed_pages.hpp>

namespace hummer {

class EntryIndex {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  std::size_t size() const { return size_; }
  std::size_t memory_bytes() const { return capacity_ * sizeof(Place); }
  // What growing takes for a moment beside that, if so many more entries come; 0: they have room.
  std::size_t growth_bytes(std::size_t more) const {
    return is_full_with(size_ + more) ? 2 * memory_bytes() : 0;
  }

  // The entry with this hash for which same(number) holds, or none.
  template <typename Same>
  std::uint32_t find(std::uint64_t hash, Same&& same) const {
    if (size_ == 0) return none;
    for (std::size_t at = home(tag(hash)); places()[at].number != 0; at = next(at)) {
      if (places()[at].tag == tag(hash) && same(places()[at].number - 1)) {
        return places()[at].number - 1;
      }
    }
    return none;
  }
  // Of what find() will look at: brings it near.
  void prefetch(std::uint64_t hash) const {
    if (size_ != 0) __builtin_prefetch(&places()[home(tag(hash))]);
  }
  // The first entry that this hash may be of, or none. It nearly always lies in the cache line that
  // prefetch() brings, which is looked at as a whole: how far find() goes is what a processor
  // guesses wrong.
  std::uint32_t candidate(std::uint64_t hash) const {
    if (size_ == 0) return none;
    const Place* const line = places() + (home(tag(hash)) & ~(places_per_line - 1));
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag(hash)));
    const auto two_places = [line](std::size_t first) {
      return _mm_castsi128_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(line + first)));
    };
    const auto equal_tags = [&](std::size_t first) {  // of four places
      const __m128 tags =
          _mm_shuffle_ps(two_places(first), two_places(first + 2), _MM_SHUFFLE(3, 1, 3, 1));
      return _mm_cmpeq_epi32(_mm_castps_si128(tags), wanted);
    };
    const auto equal = static_cast<unsigned>(
        _mm_movemask_epi8(_mm_packs_epi32(equal_tags(0), equal_tags(4))));  // two bits a place
    if (equal != 0) [[likely]]
      return line[std::countr_zero(equal) / 2].number - 1;
#endif
    return find(hash, [](std::uint32_t) { return true; });
  }

  // REQUIRES: it is not there, and `entry` is not none.
  void insert(std::uint32_t entry, std::uint64_t hash);
  // REQUIRES: it is there.
  void erase(std::uint32_t entry, std::uint64_t hash);

 private:
  static constexpr std::size_t places_per_line = 8;

  struct Place {
    std::uint32_t number;  // of the entry, and 1; 0: free
    std::uint32_t tag;
  };

  // The top bits of the hash are the key group's, equal for neighbours: not those.
  static std::uint32_t tag(std::uint64_t hash) { return static_cast<std::uint32_t>(hash); }
  std::size_t home(std::uint32_t tag) const { return tag >> shift_; }
  std::size_t next(std::size_t at) const { return (at + 1) & (capacity_ - 1); }
  Place* places() const { return static_cast<Place*>(pages_.data()); }

  bool is_full_with(std::size_t entries) const { return entries * 4 > capacity_ * 3; }
  void put(const Place& place);
  void grow();

  ZeroedPages pages_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  unsigned shift_ = 0;
};

}  // namespace hummer
