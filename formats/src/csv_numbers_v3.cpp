#include <immintrin.h>

#include "csv_numbers.hpp"
#include "csv_numbers_loop.hpp"

namespace hummer::formats {
namespace {

struct DigitsV3 {
  static bool load(const char* text, const std::uint32_t* border, std::size_t step, DigitsV3& low,
                   DigitsV3& high) {
    std::uint32_t less_one = 0;
    for (std::size_t row = 0; row < csv_numbers_at_once; ++row) {
      const std::uint32_t* const of = border + row * step;
      less_one |= of[0] - of[-1] - 2;
    }
    if (less_one >= number_bytes) return false;
    low = {of_two(text, border, step), of_two(text, border + 2 * step, step)};
    high = {of_two(text, border + 4 * step, step), of_two(text, border + 6 * step, step)};
    return true;
  }
  std::uint64_t others() const {
    const __m256i nine = _mm256_set1_epi8(9);
    return ~bits(_mm256_cmpeq_epi8(_mm256_max_epu8(first_two.bytes, nine), nine),
                 _mm256_cmpeq_epi8(_mm256_max_epu8(second_two.bytes, nine), nine));
  }
  std::uint64_t equal(char c) const {
    const __m256i wanted = _mm256_set1_epi8(static_cast<char>(c - '0'));
    return bits(_mm256_cmpeq_epi8(first_two.bytes, wanted),
                _mm256_cmpeq_epi8(second_two.bytes, wanted));
  }
  std::uint64_t first() const { return first_of(bits(first_two.field, second_two.field)); }
  DigitsV3 without_minus() const {
    const __m256i minus = _mm256_set1_epi8('-' - '0');
    const auto two = [&](const Two& of) {
      return Two{_mm256_andnot_si256(_mm256_cmpeq_epi8(of.bytes, minus), of.bytes), of.field};
    };
    return {two(first_two), two(second_two)};
  }
  DigitsV3 shuffled(const std::uint8_t* from) const {
    const __m256i both =
        _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(from)));
    return {{_mm256_shuffle_epi8(first_two.bytes, both), first_two.field},
            {_mm256_shuffle_epi8(second_two.bytes, both), second_two.field}};
  }
  static void put_together(DigitsV3 low, DigitsV3 high, std::uint64_t* numbers) {
    put_four(low.first_two.bytes, low.second_two.bytes, numbers);
    put_four(high.first_two.bytes, high.second_two.bytes, numbers + 4);
  }

  struct Two {
    __m256i bytes;
    __m256i field;  // all ones for each character that is of a field
  };

  static Two of_two(const char* text, const std::uint32_t* border, std::size_t step) {
    const auto sixteen = [](const void* from) {
      return _mm_loadu_si128(static_cast<const __m128i*>(from));
    };
    const auto field = [&](const std::uint32_t* of) {
      return sixteen(number_tables.masks + (of[0] - of[-1] - 1));
    };
    const __m256i all = _mm256_set_m128i(sixteen(text + border[step] - number_bytes),
                                         sixteen(text + border[0] - number_bytes));
    const __m256i fields = _mm256_set_m128i(field(border + step), field(border));
    return {_mm256_and_si256(_mm256_sub_epi8(all, _mm256_set1_epi8('0')), fields), fields};
  }
  static std::uint64_t bits(__m256i low, __m256i high) {
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(low)) |
           std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(high))} << 32;
  }
  static void put_four(__m256i first, __m256i second, std::uint64_t* numbers) {
    const auto fours = [](__m256i digits) {
      const __m256i pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(0x010A));
      return _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x0001'0064));
    };
    const __m256i packed = _mm256_packus_epi32(fours(first), fours(second));
    const __m256i eights = _mm256_madd_epi16(packed, _mm256_set1_epi32(0x0001'2710));
    const __m256i whole = _mm256_add_epi64(
        _mm256_mul_epu32(eights, _mm256_set1_epi64x(100'000'000)), _mm256_srli_epi64(eights, 32));
    // Rows 0, 2, 1, 3.
    _mm256_store_si256(reinterpret_cast<__m256i*>(numbers),
                       _mm256_permute4x64_epi64(whole, 0b11'01'10'00));
  }

  Two first_two;
  Two second_two;
};

}  // namespace

CsvNumberReaders csv_number_readers_v3() { return readers_of<DigitsV3>; }

}  // namespace hummer::formats
