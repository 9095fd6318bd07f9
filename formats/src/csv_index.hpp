// CsvIndex: where the fields and rows of a text end, found 64 bytes at a time.
//
// Three masks of 64 bits say where separators, line ends and quotes are. What lies inside of quotes
// is known by the parity of the quotes before it, which a handful of shifts computes for all 64
// bytes at once; a doubled quote changes it twice, and so not at all. A separator or line end
// outside of quotes is a border.
//
// In a dialect whose texts have no line ends (`one_line`), a line end inside of quotes stops the
// index: it is the last border, and `broken` is set.
//
// Compiled for three instruction sets; csv_indexer() has the best one that runs here.
//
// Thread: functions without state; the index belongs to its decoder.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hummer::formats {

struct CsvIndex {
  // Room: positions for size + 64 borders, quotes for size / 64 + 1 words.
  std::uint32_t* positions = nullptr;  // of borders, in order
  std::uint64_t* quotes = nullptr;     // a bit per byte that is a quote
  std::size_t count = 0;               // of positions
  std::size_t rows = 0;                // line ends among them
  bool has_quotes = false;
  bool open = false;    // a quote is open at the end of the text
  bool broken = false;  // the last border is a line end in quotes
};

struct CsvMarks {
  char separator = ',';
  char quote = '"';  // equal to '\n': there is none
  bool one_line = true;
};

// Of text[0, size), outside of quotes at its start. REQUIRES: size < 4 GiB.
using CsvIndexer = void (*)(const char* text, std::size_t size, const CsvMarks& marks,
                            CsvIndex& index);

void index_csv_v2(const char* text, std::size_t size, const CsvMarks& marks, CsvIndex& index);
void index_csv_v3(const char* text, std::size_t size, const CsvMarks& marks, CsvIndex& index);
void index_csv_v4(const char* text, std::size_t size, const CsvMarks& marks, CsvIndex& index);

CsvIndexer csv_indexer();

}  // namespace hummer::formats
