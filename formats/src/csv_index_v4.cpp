#include <immintrin.h>

#include "csv_index.hpp"
#include "csv_index_loop.hpp"

namespace hummer::formats {
namespace {

struct VectorsV4 {
  explicit VectorsV4(const CsvMarks& marks)
      : separator_(_mm512_set1_epi8(marks.separator)),
        quote_(_mm512_set1_epi8(marks.quote)),
        line_end_(_mm512_set1_epi8('\n')) {}

  void load(const char* text) { bytes_ = _mm512_loadu_si512(text); }
  std::uint64_t separators() const { return _mm512_cmpeq_epi8_mask(bytes_, separator_); }
  std::uint64_t line_ends() const { return _mm512_cmpeq_epi8_mask(bytes_, line_end_); }
  std::uint64_t quotes() const { return _mm512_cmpeq_epi8_mask(bytes_, quote_); }

  // The numbers 0 to 63, of which the mask keeps those of its bits, next to each other.
  static std::uint32_t* put(std::uint32_t* out, std::uint32_t first, std::uint64_t bits) {
    alignas(64) static constexpr unsigned char counted[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    const int count = __builtin_popcountll(bits);
    const __m512i base = _mm512_set1_epi32(static_cast<int>(first));
    __m512i kept = _mm512_maskz_compress_epi8(bits, _mm512_load_si512(counted));
    for (int done = 0; done < count; done += 16) {
      const __m512i places = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(kept));
      _mm512_storeu_si512(out + done, _mm512_add_epi32(places, base));
      kept = _mm512_shuffle_i64x2(kept, kept, 0b00111001);
    }
    return out + count;
  }

 private:
  __m512i separator_;
  __m512i quote_;
  __m512i line_end_;
  __m512i bytes_ = {};
};

}  // namespace

void index_csv_v4(const char* text, std::size_t size, const CsvMarks& marks, CsvIndex& index) {
  index_csv<VectorsV4>(text, size, marks, index);
}

}  // namespace hummer::formats
