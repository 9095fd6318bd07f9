// divide_hashes of eight hashes at a time.

#include <immintrin.h>

#include "state/divide_kernels.hpp"

namespace hummer {

size_t divide_hashes_v4(const uint64_t* hashes, size_t count, uint64_t first, uint64_t size,
                        uint8_t* inside, uint8_t* outside) {
  constexpr size_t step = 8;
  const __m512i from = _mm512_set1_epi64(static_cast<long long>(first));
  const __m512i below = _mm512_set1_epi64(static_cast<long long>(size));
  __m128i places = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0);
  size_t of_inside = 0;
  for (size_t i = 0; i < count; i += step) {
    const size_t left = count - i;
    const auto valid = static_cast<__mmask8>(left < step ? (1u << left) - 1 : 0xFFu);
    const __m512i upper = _mm512_srli_epi64(_mm512_maskz_loadu_epi64(valid, hashes + i), 32);
    const __mmask8 is_inside =
        _mm512_mask_cmplt_epu64_mask(valid, _mm512_sub_epi64(upper, from), below);
    const auto is_outside = static_cast<__mmask8>(valid & ~is_inside);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(inside + of_inside),
                     _mm_maskz_compress_epi8(is_inside, places));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(outside + i - of_inside),
                     _mm_maskz_compress_epi8(is_outside, places));
    of_inside += static_cast<unsigned>(__builtin_popcount(is_inside));
    places = _mm_add_epi8(places, _mm_set1_epi8(step));
  }
  return of_inside;
}

}  // namespace hummer
