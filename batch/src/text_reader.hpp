// TextReader: lines of a split. The format's description: hummer/batch/record_reader.hpp.
//
// Thread: one. Memory: 256 KiB, or as much as the longest line takes. Errors: limit_exceeded, a
// line of more than 1 GiB.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <hummer/batch/record_reader.hpp>

namespace hummer::batch {

class TextReader final : public RecordReader {
 public:
  Status open(std::unique_ptr<SplitInput> input) override;
  Result<std::span<const RecordView>> next() override;
  std::string place_of(const RecordView& record) const override;
  std::uint64_t bytes_read() const override { return input_->bytes_read(); }

 private:
  // Where buffer_[at] is in the file.
  std::uint64_t offset_of(std::size_t at) const { return buffer_offset_ + at; }
  // More bytes behind those that were not handed out; has_ended_ where there are none.
  Status fill();
  // Past the rest of the line that the split before has.
  Status pass_over_line();
  // As many views as there are whole lines of the split in the buffer, up to one span.
  void cut_lines();
  void add_line(std::size_t begin, std::size_t end);

  std::unique_ptr<SplitInput> input_;
  std::vector<char> buffer_;
  std::uint64_t buffer_offset_ = 0;
  std::size_t at_ = 0;      // the first byte that was not handed out
  std::size_t filled_ = 0;  // bytes that there are
  bool has_ended_ = false;  // the file
  std::vector<RecordView> views_;
  std::vector<std::array<char, 8>> keys_;
};

}  // namespace hummer::batch
