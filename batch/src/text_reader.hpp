// TextReader: lines of a split. The format's description: hummer/batch/record_reader.hpp.
//
// Lines::hadoop are those of Hadoop's TextInputFormat: a "\r" without "\n" ends a line, too, and
// the mark of UTF-8 at the begin of a file (EF BB BF) is left out.
//
// Thread: one. Memory: 256 KiB, or as much as the longest line takes. Errors: limit_exceeded, a
// line of more than 1 GiB.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <hummer/batch/record_reader.hpp>

namespace hummer::batch {

class TextReader final : public RecordReader {
 public:
  enum class Lines : std::uint8_t { plain, hadoop };

  explicit TextReader(Lines lines = Lines::plain) : lines_(lines) {}

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
  // The end of the line that begins at `at`, if it is in the buffer.
  struct LineEnd {
    std::size_t content;  // behind the line's last byte
    std::size_t next;     // where the next line begins
  };
  std::optional<LineEnd> find_end(std::size_t at);
  std::optional<LineEnd> find_hadoop_end(std::size_t at);
  // As many views as there are whole lines of the split in the buffer, up to one span.
  void cut_lines();
  void add_line(std::size_t begin, std::size_t end);
  Status pass_over_mark();

  const Lines lines_;
  std::unique_ptr<SplitInput> input_;
  std::vector<char> buffer_;
  std::uint64_t buffer_offset_ = 0;
  std::size_t at_ = 0;            // the first byte that was not handed out
  std::size_t filled_ = 0;        // bytes that there are
  std::size_t next_newline_ = 0;  // of Lines::hadoop: none is in [at_, next_newline_)
  bool has_ended_ = false;        // the file
  bool has_mark_ = false;         // the first line has the mark in front of it
  std::vector<RecordView> views_;
  std::vector<std::array<char, 8>> keys_;
};

}  // namespace hummer::batch
