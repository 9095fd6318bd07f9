#include <immintrin.h>

#include "csv_numbers.hpp"
#include "csv_numbers_loop.hpp"

namespace hummer::formats {
namespace {

struct DigitsV4 {
  static bool load(const char* text, const std::uint32_t* border, std::size_t step, DigitsV4& low,
                   DigitsV4& high) {
    // Of each row the border before, and the field's: 64 bits.
    const auto borders = [&](std::size_t i) {
      const auto one = [&](std::size_t row) {
        return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(border + row * step - 1));
      };
      return _mm_unpacklo_epi64(one(i), one(i + 1));
    };
    __m512i all = _mm512_castsi128_si512(borders(0));
    all = _mm512_inserti64x2(all, borders(2), 1);
    all = _mm512_inserti64x2(all, borders(4), 2);
    all = _mm512_inserti64x2(all, borders(6), 3);
    // What is between them, in the lower half of each; of numbers from 1 to 16.
    const __m512i sizes =
        _mm512_sub_epi32(_mm512_sub_epi32(_mm512_srli_epi64(all, 32), all), _mm512_set1_epi64(1));
    const __m512i less_one = _mm512_sub_epi32(sizes, _mm512_set1_epi64(1));
    const __mmask16 fit = _mm512_cmplt_epu32_mask(less_one, _mm512_set1_epi32(number_bytes));
    if ((fit & 0x5555) != 0x5555) return false;
    const __m512i kept = _mm512_srlv_epi32(_mm512_set1_epi64(0xFFFF0000), sizes);
    const __m128i fields = _mm512_cvtepi64_epi16(kept);
    low = of_four(text, border, step, static_cast<std::uint64_t>(_mm_cvtsi128_si64(fields)));
    high = of_four(text, border + 4 * step, step,
                   static_cast<std::uint64_t>(_mm_extract_epi64(fields, 1)));
    return true;
  }
  std::uint64_t others() const { return _mm512_cmpgt_epu8_mask(bytes, _mm512_set1_epi8(9)); }
  std::uint64_t equal(char c) const {
    return _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(static_cast<char>(c - '0')));
  }
  std::uint64_t first() const { return first_of(field); }
  DigitsV4 without_minus() const { return {_mm512_maskz_mov_epi8(~equal('-'), bytes), field}; }
  DigitsV4 shuffled(const std::uint8_t* from) const {
    const __m128i one = _mm_load_si128(reinterpret_cast<const __m128i*>(from));
    return {_mm512_shuffle_epi8(bytes, _mm512_broadcast_i32x4(one)), field};
  }
  static void put_together(DigitsV4 low, DigitsV4 high, std::uint64_t* numbers) {
    const auto fours = [](__m512i digits) {
      const __m512i pairs = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(0x010A));
      return _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x0001'0064));
    };
    const __m512i packed = _mm512_packus_epi32(fours(low.bytes), fours(high.bytes));
    const __m512i eights = _mm512_madd_epi16(packed, _mm512_set1_epi32(0x0001'2710));
    const __m512i whole = _mm512_add_epi64(_mm512_mul_epu32(eights, _mm512_set1_epi64(100'000'000)),
                                           _mm512_srli_epi64(eights, 32));
    // Rows 0, 4, 1, 5, …
    const __m512i in_order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);
    _mm512_store_si512(numbers, _mm512_permutexvar_epi64(in_order, whole));
  }

  static DigitsV4 of_four(const char* text, const std::uint32_t* border, std::size_t step,
                          std::uint64_t field) {
    const auto sixteen = [&](std::size_t row) {
      return _mm_loadu_si128(
          reinterpret_cast<const __m128i*>(text + border[row * step] - number_bytes));
    };
    __m512i all = _mm512_castsi128_si512(sixteen(0));
    all = _mm512_inserti64x2(all, sixteen(1), 1);
    all = _mm512_inserti64x2(all, sixteen(2), 2);
    all = _mm512_inserti64x2(all, sixteen(3), 3);
    return {_mm512_maskz_sub_epi8(field, all, _mm512_set1_epi8('0')), field};
  }

  __m512i bytes;
  std::uint64_t field;  // a bit for each character that is of a field
};

}  // namespace

CsvNumberReaders csv_number_readers_v4() { return readers_of<DigitsV4>; }

}  // namespace hummer::formats
