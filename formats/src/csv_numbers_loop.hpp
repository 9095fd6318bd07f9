// The loop of csv_numbers.hpp, for each instruction set: `Digits` has the characters of four rows.
//
// Included by csv_numbers_v*.cpp, inside of whose anonymous namespaces nothing else may be called.
//
//   struct Digits {
//     // The fields that end at border[i * step], and begin behind the border before, of rows 0 to
//     // 3 and 4 to 7: their last 16 characters, less '0', behind zeros. False: one is empty or
//     // longer.
//     static bool load(const char* text, const std::uint32_t* border, std::size_t step,
//                      Digits& low, Digits& high);
//     // 16 bits for each row:
//     std::uint64_t others() const;                // those that are no digits
//     std::uint64_t equal(char c) const;
//     std::uint64_t first() const;                 // the first character of each field
//     Digits without_minus() const;                // zeros for all of them
//     Digits shuffled(const std::uint8_t* from) const;  // within each row
//     static void put_together(Digits low, Digits high, std::uint64_t* numbers);
//   };
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "csv_numbers.hpp"
#include "number_text.hpp"

namespace hummer::formats {
namespace {

constexpr std::uint64_t last_characters = 0x8000'8000'8000'8000;

// Of the bits that belong to each row's field.
inline std::uint64_t first_of(std::uint64_t field) {
  return field & ~(field << 1 & 0xFFFE'FFFE'FFFE'FFFE);
}

// Borders of eight rows, next to each other, without what ends a line of Windows.
inline void copy_trimmed(const CsvFields& column, const std::uint32_t* border,
                         std::uint32_t* copied) {
  for (std::size_t i = 0; i < csv_numbers_at_once; ++i, border += column.step) {
    std::uint32_t end = *border;
    if (end > border[-1] + 1 && column.text[end - 1] == '\r') --end;
    const std::uint64_t both = std::uint64_t{end} << 32 | border[-1];
    std::memcpy(copied + 2 * i, &both, sizeof both);
  }
}

// Whole numbers that a double has exactly.
template <typename Number>
constexpr std::uint64_t largest_magnitude = (std::uint64_t{1} << 53) - 1;
template <std::integral Number>
constexpr std::uint64_t largest_magnitude<Number> = std::numeric_limits<Number>::max();

template <typename Digits, typename Number>
std::size_t read_numbers(const CsvFields& column) {
  constexpr std::size_t rows = csv_numbers_at_once;
  constexpr std::uint64_t once_per_row = 0x0001'0001'0001'0001;
  const std::uint32_t* border = column.border;
  char* field = column.field;
  std::size_t done = 0;
  for (; column.rows - done >= rows; done += rows) {
    std::uint32_t trimmed[2 * rows];
    if (column.is_last) copy_trimmed(column, border, trimmed);
    Digits low;
    Digits high;
    if (!Digits::load(column.text, column.is_last ? trimmed + 1 : border,
                      column.is_last ? 2 : column.step, low, high)) [[unlikely]] {
      break;
    }
    border += rows * column.step;
    const std::uint64_t others_low = low.others();
    const std::uint64_t others_high = high.others();
    // A dot is at the same place in all rows or in none, and has a digit behind it.
    std::uint64_t dots = 0;
    if constexpr (std::is_floating_point_v<Number>) {
      dots = low.equal('.');
      const std::uint64_t dot = dots & 0xFFFF;
      if (dots != dot * once_per_row || high.equal('.') != dots || (dot & (dot - 1)) != 0 ||
          dot == 0x8000) [[unlikely]] {
        break;
      }
    }
    std::uint64_t minus_low = 0;
    std::uint64_t minus_high = 0;
    if (others_low != dots || others_high != dots) {
      if constexpr (!std::is_signed_v<Number>) break;
      minus_low = low.equal('-') & low.first() & ~last_characters;
      minus_high = high.equal('-') & high.first() & ~last_characters;
      if (others_low != (dots | minus_low) || others_high != (dots | minus_high)) break;
      low = low.without_minus();
      high = high.without_minus();
    }
    double power = 1;
    if constexpr (std::is_floating_point_v<Number>) {
      const auto at = static_cast<std::size_t>(__builtin_ctzll((dots & 0xFFFF) | 0x10000));
      power = number_tables.powers[at];
      low = low.shuffled(number_tables.without[at]);
      high = high.shuffled(number_tables.without[at]);
    }
    alignas(64) std::uint64_t magnitudes[rows];
    Digits::put_together(low, high, magnitudes);
    std::uint64_t too_large = 0;
    alignas(64) Number numbers[rows];
    for (std::size_t i = 0; i < rows; ++i) {
      too_large |= magnitudes[i] > largest_magnitude<Number> ? 1 : 0;
      numbers[i] = static_cast<Number>(static_cast<std::int64_t>(magnitudes[i]));
      if constexpr (std::is_floating_point_v<Number>) numbers[i] /= power;
    }
    if (too_large != 0) [[unlikely]]
      break;
    if ((minus_low | minus_high) != 0) {
      for (std::size_t i = 0; i < rows; ++i) {
        const std::uint64_t minus = (i < 4 ? minus_low : minus_high) >> (i % 4 * 16) & 0xFFFF;
        if (minus != 0) numbers[i] = static_cast<Number>(-numbers[i]);
      }
    }
    for (std::size_t i = 0; i < rows; ++i, field += column.stride) {
      std::memcpy(field, &numbers[i], sizeof(Number));
    }
  }
  return done;
}

template <typename Digits>
constexpr CsvNumberReaders readers_of{.f64 = &read_numbers<Digits, double>,
                                      .i64 = &read_numbers<Digits, std::int64_t>,
                                      .i32 = &read_numbers<Digits, std::int32_t>,
                                      .u64 = &read_numbers<Digits, std::uint64_t>,
                                      .u32 = &read_numbers<Digits, std::uint32_t>};

}  // namespace
}  // namespace hummer::formats
