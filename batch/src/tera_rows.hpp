// The input of teragen: rows that are made, not read (tera_row_layout.hpp).
//
//   auto rows = tera_rows_input(1'000'000);   // an input format without files
//
// Thread: a reader one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <hummer/batch/record_reader.hpp>

#include "batch/tera_row_layout.hpp"

namespace hummer::batch {

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
