// Rows of TeraSort's input, as TeraGen of Hadoop makes them: 100 bytes, of which 10 are the key.
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
//   auto rows = tera_rows_input(1'000'000);   // an input format without files
//
// Thread: a reader one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <hummer/batch/record_reader.hpp>

namespace hummer::batch {

inline constexpr std::uint32_t tera_key_bytes = 10;
inline constexpr std::uint32_t tera_value_bytes = 90;
inline constexpr std::size_t tera_record_bytes = tera_key_bytes + tera_value_bytes;

__extension__ using WideNumber = unsigned __int128;

class TeraRows {
 public:
  // From this row on.
  explicit TeraRows(std::uint64_t row);
  // 100 bytes.
  void next(char* to);

 private:
  std::uint64_t row_;
  WideNumber state_ = 0;
};

class TeraRowReader final : public RecordReader {
 public:
  Status open(std::unique_ptr<SplitInput> input) override;
  Result<std::span<const RecordView>> next() override;
  std::string place_of(const RecordView& record) const override;
  std::uint64_t bytes_read() const override { return 0; }

 private:
  std::unique_ptr<SplitInput> input_;
  std::unique_ptr<TeraRows> rows_;
  std::uint64_t at_ = 0;
  std::vector<char> buffer_;
  std::vector<RecordView> views_;
};

InputFormat tera_rows_input(std::uint64_t rows);

}  // namespace hummer::batch
