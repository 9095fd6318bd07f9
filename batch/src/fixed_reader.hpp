// FixedReader: records of one length. The format's description: hummer/batch/record_reader.hpp.
//
// Thread: one. Memory: about 1 MiB. Errors: corrupt_file where the file ends within a record.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <hummer/batch/record_reader.hpp>

namespace hummer::batch {

class FixedReader final : public RecordReader {
 public:
  FixedReader(std::uint32_t key_bytes, std::uint32_t value_bytes)
      : key_bytes_(key_bytes), record_bytes_(std::size_t{key_bytes} + value_bytes) {}

  Status open(std::unique_ptr<SplitInput> input) override;
  Result<std::span<const RecordView>> next() override;
  std::string place_of(const RecordView& record) const override;
  std::uint64_t bytes_read() const override { return input_->bytes_read(); }

 private:
  const std::uint32_t key_bytes_;
  const std::size_t record_bytes_;
  std::unique_ptr<SplitInput> input_;
  std::vector<char> buffer_;
  std::uint64_t buffer_offset_ = 0;  // of what was handed out last
  std::uint64_t next_offset_ = 0;
  std::vector<RecordView> views_;
};

}  // namespace hummer::batch
