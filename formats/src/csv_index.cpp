#include "csv_index.hpp"

#include <emmintrin.h>

#include <hummer/detail/instruction_set.hpp>

#include "csv_index_loop.hpp"

namespace hummer::formats {
namespace {

struct VectorsV2 {
  explicit VectorsV2(const CsvMarks& marks)
      : separator_(_mm_set1_epi8(marks.separator)),
        quote_(_mm_set1_epi8(marks.quote)),
        line_end_(_mm_set1_epi8('\n')) {}

  void load(const char* text) {
    for (int i = 0; i < 4; ++i) {
      bytes_[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + 16 * i));
    }
  }
  std::uint64_t separators() const { return find(separator_); }
  std::uint64_t line_ends() const { return find(line_end_); }
  std::uint64_t quotes() const { return find(quote_); }

  static std::uint32_t* put(std::uint32_t* out, std::uint32_t first, std::uint64_t bits) {
    for (; bits != 0; bits &= bits - 1) {
      *out++ = first + static_cast<std::uint32_t>(__builtin_ctzll(bits));
    }
    return out;
  }

 private:
  std::uint64_t find(__m128i byte) const {
    std::uint64_t found = 0;
    for (int i = 0; i < 4; ++i) {
      const auto part =
          static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes_[i], byte)));
      found |= std::uint64_t{part} << (16 * i);
    }
    return found;
  }

  __m128i separator_;
  __m128i quote_;
  __m128i line_end_;
  __m128i bytes_[4] = {};
};

}  // namespace

void index_csv_v2(const char* text, std::size_t size, const CsvMarks& marks, CsvIndex& index) {
  index_csv<VectorsV2>(text, size, marks, index);
}

CsvIndexer csv_indexer() {
  switch (best_instruction_set()) {
    case InstructionSet::v4: return &index_csv_v4;
    case InstructionSet::v3: return &index_csv_v3;
    case InstructionSet::v2: break;
  }
  return &index_csv_v2;
}

}  // namespace hummer::formats
