// Columns of numbers, eight rows at once: what CsvDecoder has where rows are plain.
//
//   const CsvNumberReaders readers = csv_number_readers();
//   if (readers.f64 != nullptr) done = readers.f64(column);     // rows 0 to done - 1 are put
//
// The fields' borders are known, so of each of eight rows the last 16 bytes are loaded, and their
// digits are put together by the same instructions for all eight (number_text.hpp has the steps for
// one). A reader stops ahead of the first eight that it can't read so: an empty field, more than 16
// characters, an exponent, a dot at another place than in the first of the eight, a number that is
// too large. They are the caller's, who may go on behind them with another call.
//
// Compiled for v3 and v4; on v2 there are none.
//
// Thread: functions without state. Cost: without a branch on what a field is.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hummer::formats {

// REQUIRES: 16 bytes can be read before each field's end.
struct CsvFields {
  const char* text;             // that the borders are places in
  const std::uint32_t* border;  // the first row's: the field's end; the one before it is its begin
  std::size_t step;             // to the next row's
  std::size_t rows;
  char* field;  // of the first row's record
  std::size_t stride;
  bool is_last;  // of its row: a '\r' at its end is none of it
};

constexpr std::size_t csv_numbers_at_once = 8;

// How many rows were put: a multiple of eight.
using CsvNumberReader = std::size_t (*)(const CsvFields& column);

struct CsvNumberReaders {
  CsvNumberReader f64 = nullptr;
  CsvNumberReader i64 = nullptr;
  CsvNumberReader i32 = nullptr;
  CsvNumberReader u64 = nullptr;
  CsvNumberReader u32 = nullptr;
};

CsvNumberReaders csv_number_readers_v3();
CsvNumberReaders csv_number_readers_v4();

// The best that run here.
CsvNumberReaders csv_number_readers();

}  // namespace hummer::formats
