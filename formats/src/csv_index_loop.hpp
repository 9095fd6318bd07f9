// The loop of csv_index.hpp, for each instruction set: `Vectors` finds the bytes, and stores where
// the bits of a mask are.
//
// Included by csv_index_v*.cpp, inside of whose anonymous namespaces nothing else may be called.
//
//   struct Vectors {
//     explicit Vectors(const CsvMarks& marks);
//     void load(const char* text);                         // 64 bytes
//     std::uint64_t separators() const;                    // a bit for each of them
//     std::uint64_t line_ends() const;
//     std::uint64_t quotes() const;
//     // Writes first + i for each bit i; up to 64 places behind `out` may be written.
//     static std::uint32_t* put(std::uint32_t* out, std::uint32_t first, std::uint64_t bits);
//   };
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "csv_index.hpp"

namespace hummer::formats {
namespace {

template <typename Vectors>
void index_csv(const char* text, std::size_t size, const CsvMarks& marks, CsvIndex& index) {
  Vectors vectors(marks);
  const bool has_quote_mark = marks.quote != '\n';
  std::uint32_t* out = index.positions;
  std::size_t rows = 0;
  std::uint64_t any_quotes = 0;
  std::uint64_t open = 0;  // all ones: inside of quotes
  index.broken = false;
  for (std::size_t at = 0; at < size; at += 64) {
    std::uint64_t valid = ~std::uint64_t{0};
    if (size - at >= 64) {
      vectors.load(text + at);
    } else {
      char last[64] = {};
      std::memcpy(last, text + at, size - at);
      vectors.load(last);
      valid = (std::uint64_t{1} << (size - at)) - 1;
    }
    std::uint64_t ends = vectors.line_ends() & valid;
    std::uint64_t borders = (vectors.separators() & valid) | ends;
    const std::uint64_t quotes = has_quote_mark ? vectors.quotes() & valid : 0;
    index.quotes[at / 64] = quotes;
    if ((quotes | open) != 0) {
      any_quotes |= quotes;
      std::uint64_t inside = quotes;
      for (unsigned shift = 1; shift < 64; shift *= 2) inside ^= inside << shift;
      inside ^= open;
      open = std::uint64_t{0} - (inside >> 63);
      const std::uint64_t broken = ends & inside;
      if (marks.one_line && broken != 0) [[unlikely]] {
        const std::uint64_t end = broken & (~broken + 1);
        // Rows that end before it, and the one that it ends.
        borders = (borders & ~inside & (end - 1)) | end;
        ends &= borders;
        index.broken = true;
        open = 0;
        out = Vectors::put(out, static_cast<std::uint32_t>(at), borders);
        rows += static_cast<std::size_t>(__builtin_popcountll(ends));
        break;
      }
      borders &= ~inside;
      ends &= ~inside;
    }
    rows += static_cast<std::size_t>(__builtin_popcountll(ends));
    out = Vectors::put(out, static_cast<std::uint32_t>(at), borders);
  }
  index.count = static_cast<std::size_t>(out - index.positions);
  index.rows = rows;
  index.has_quotes = any_quotes != 0;
  index.open = open != 0;
}

}  // namespace
}  // namespace hummer::formats
