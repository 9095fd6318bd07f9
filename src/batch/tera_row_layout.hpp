// TeraRows: rows of TeraSort's input, as TeraGen of Hadoop makes them: 100 bytes, of which 10 are
// the key.
//
//   0   10   random bytes
//   10   2   00 11
//   12  32   number of the row, in hexadecimal digits
//   44   4   88 99 AA BB
//   48  48   12 random hexadecimal digits, each four times
//   96   4   CC DD EE FF
//
// The random bytes of row n are the 128-bit state of a linear congruential generator after n + 1
// steps from 0, so any row can be made by itself; the key of row 0 is "JimGrayRIP".
//
//   TeraRows rows(0);
//   rows.next(record);   // 100 bytes
//
// For benchmarks without the engine, too: nothing but the standard library is used here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hummer::batch {

inline constexpr std::uint32_t tera_key_bytes = 10;
inline constexpr std::uint32_t tera_value_bytes = 90;
inline constexpr std::size_t tera_record_bytes = tera_key_bytes + tera_value_bytes;

__extension__ using WideNumber = unsigned __int128;

constexpr WideNumber wide_number(std::uint64_t high, std::uint64_t low) {
  return (WideNumber{high} << 64) | low;
}

class TeraRows {
 public:
  // From this row on.
  explicit TeraRows(std::uint64_t row) : row_(row) {
    // Steps are put together as powers are: that of twice as many is the step of a step.
    WideNumber factor = multiplier;
    WideNumber addend = increment;
    for (std::uint64_t left = row; left != 0; left >>= 1) {
      if ((left & 1) != 0) state_ = state_ * factor + addend;
      addend = factor * addend + addend;
      factor *= factor;
    }
  }

  void next(char* to) {
    state_ = state_ * multiplier + increment;
    for (std::size_t i = 0; i < tera_key_bytes; ++i)
      to[i] = static_cast<char>(state_ >> (120 - 8 * i));
    std::memcpy(to + 10, "\x00\x11", 2);
    std::memset(to + 12, '0', 16);
    for (std::size_t i = 0; i < 16; ++i) to[28 + i] = digits[(row_ >> (60 - 4 * i)) & 15];
    std::memcpy(to + 44, "\x88\x99\xAA\xBB", 4);
    for (std::size_t i = 0; i < 12; ++i) {
      std::memset(to + 48 + 4 * i, digits[static_cast<unsigned>(state_ >> (44 - 4 * i)) & 15], 4);
    }
    std::memcpy(to + 96, "\xCC\xDD\xEE\xFF", 4);
    ++row_;
  }

 private:
  static constexpr WideNumber multiplier = wide_number(0x2360ed051fc65da4, 0x4385df649fccf645);
  static constexpr WideNumber increment = wide_number(0x4a696d4772617952, 0x4950202020202001);
  static constexpr const char* digits = "0123456789ABCDEF";

  std::uint64_t row_;
  WideNumber state_ = 0;
};

}  // namespace hummer::batch
