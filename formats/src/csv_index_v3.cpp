#include <immintrin.h>

#include "csv_index.hpp"
#include "csv_index_loop.hpp"

namespace hummer::formats {
namespace {

struct VectorsV3 {
  explicit VectorsV3(const CsvMarks& marks)
      : separator_(_mm256_set1_epi8(marks.separator)),
        quote_(_mm256_set1_epi8(marks.quote)),
        line_end_(_mm256_set1_epi8('\n')) {}

  void load(const char* text) {
    low_ = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text));
    high_ = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + 32));
  }
  std::uint64_t separators() const { return find(separator_); }
  std::uint64_t line_ends() const { return find(line_end_); }
  std::uint64_t quotes() const { return find(quote_); }

  // Eight places at a time: how many there are is hard to guess, whether there are more than eight
  // is not. (tzcnt of nothing is 64, which is written and not counted.)
  static std::uint32_t* put(std::uint32_t* out, std::uint32_t first, std::uint64_t bits) {
    const int count = __builtin_popcountll(bits);
    for (int done = 0; done < count; done += 8) {
      for (int i = 0; i < 8; ++i) {
        out[done + i] = first + static_cast<std::uint32_t>(_tzcnt_u64(bits));
        bits = _blsr_u64(bits);
      }
    }
    return out + count;
  }

 private:
  std::uint64_t find(__m256i byte) const {
    const auto low =
        static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low_, byte)));
    const auto high =
        static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high_, byte)));
    return std::uint64_t{high} << 32 | low;
  }

  __m256i separator_;
  __m256i quote_;
  __m256i line_end_;
  __m256i low_ = {};
  __m256i high_ = {};
};

}  // namespace

void index_csv_v3(const char* text, std::size_t size, const CsvMarks& marks, CsvIndex& index) {
  index_csv<VectorsV3>(text, size, marks, index);
}

}  // namespace hummer::formats
