// SequenceFileReader: records of a split of Hadoop's SequenceFile, version 6, in each of its three
// forms; of keys and values it gives the contents (writable_form.hpp).
//
//   file      "SEQ", 6, key class, value class, is compressed, in blocks, codec, metadata, sync,
//             then records or blocks
//   record    length of it, length of the key, key, value; the value may be compressed
//   block     number of records, then four parts: lengths of keys, keys, lengths of values, values,
//             each compressed, with its length in front
//   sync      16 bytes, which -1 precedes: in front of some records, and of each block
//
// Which records are a split's is Hadoop's rule. Reading begins at the first sync behind the split's
// begin. A block is the split's when it begins in front of its end; of records also those are that
// follow until the first one with a sync.
//
// Errors: corrupt_file, by path and byte, for what no such file has; limit_exceeded for a part that
// decompresses to more than 1 GiB; invalid_argument for another version, or a codec that has no
// native form; those of the input.
//
// Thread: one. Memory: 256 KiB or the largest record; of a block what its parts decompress to. No
// memory is taken on the word of a length alone.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <hummer/batch/record_reader.hpp>

#include "batch/codec.hpp"
#include "writable_form.hpp"

namespace hummer::hadoop {

class SequenceFileReader final : public batch::RecordReader {
 public:
  Status open(std::unique_ptr<batch::SplitInput> input) override;
  Result<std::span<const batch::RecordView>> next() override;
  std::string place_of(const batch::RecordView& record) const override;
  std::uint64_t bytes_read() const override { return input_->bytes_read(); }

 private:
  static constexpr std::size_t sync_bytes = 16;
  enum class Form : std::uint8_t { plain, compressed_values, blocks };

  std::uint64_t offset() const { return buffer_offset_ + at_; }
  Status corrupt(std::string_view what) const;
  // So many bytes from at_ on. False: the file ends before.
  Result<bool> have(std::uint64_t bytes);
  Status need(std::uint64_t bytes);
  void jump_to(std::uint64_t offset);

  Result<std::uint32_t> read_number();  // 4 bytes
  Result<std::uint64_t> read_length();  // a vint that is no less than 0
  Result<std::string> read_text();
  Status read_header();
  Status find_sync(std::uint64_t from);
  Status check_sync();

  Status read_records();
  // False: the split has ended.
  Result<bool> read_record();
  Status read_block();
  Status read_part(std::string& into);
  Status decompress(std::string_view stored, std::string& into);
  Status cut_block(std::uint64_t records);

  std::unique_ptr<batch::SplitInput> input_;
  RecordForms forms_;
  Form form_ = Form::plain;
  std::unique_ptr<batch::Decompressor> decompressor_;
  std::array<char, sync_bytes> sync_{};
  std::uint64_t header_bytes_ = 0;

  std::vector<char> buffer_;
  std::uint64_t buffer_offset_ = 0;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  bool has_ended_ = false;  // the split, or the file
  bool is_at_end_of_file_ = false;
  std::uint64_t span_offset_ = 0;  // where the span at hand begins, for what is said of a failure

  // Of the span at hand: where a key or value lies, in the buffer or in `values_`.
  std::vector<batch::RecordView> views_;
  std::string values_;
  std::string key_lengths_;
  std::string keys_;
  std::string value_lengths_;
};

}  // namespace hummer::hadoop
