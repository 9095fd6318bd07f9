// AvroDecoder: container files and messages to records, on the contract of
// hummer/formats/format.hpp; made by avro().
//
// In a file `at` is the record's place where the block is not packed, else that of the block's
// data: how far it is in there, the decoder knows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <hummer/formats/avro.hpp>

#include "avro_codec.hpp"
#include "avro_record_reader.hpp"
#include "record_run.hpp"

namespace hummer::formats {

class AvroDecoder final : public Decoder {
 public:
  AvroDecoder(const RecordShape& shape, const AvroOptions& options);

  Status begin(const TextBlock& block, std::size_t& at) override;
  Outcome decode(std::string_view text, std::size_t& at, Batch& batch, std::size_t limit) override;
  std::size_t end_of_record(std::string_view text, std::size_t) const override {
    return text.size();
  }
  std::string_view skip_record(std::string_view text, std::size_t& at) override;
  bool has_lines() const override { return false; }

 private:
  Result<std::unique_ptr<const AvroPlan>> make_plan(std::string_view schema) const;

  Outcome decode_blocks(std::string_view text, std::size_t& at, RecordRun& run, Batch& batch);
  bool open_block(std::string_view text, std::size_t at);
  std::size_t place(std::string_view text) const;
  Outcome decode_message(std::string_view text, std::size_t& at, RecordRun& run, Batch& batch);
  // Takes what names the schema. Null: why_ says why, and `outcome` what that means.
  const AvroPlan* plan_of_message(std::string_view& text, Outcome& outcome);
  const AvroPlan* plan_by_number(std::uint32_t id, Outcome& outcome);
  const AvroPlan* plan_by_fingerprint(std::uint64_t fingerprint);

  const RecordShape& shape_;
  const AvroOptions options_;
  const AvroRules rules_;
  AvroRecordReader reader_;
  bool is_file_ = false;

  // Of the file at hand.
  std::string head_;
  std::unique_ptr<const AvroPlan> plan_;
  std::optional<AvroCodec> codec_;  // none: blocks are not packed
  // Of the block at hand.
  std::uint64_t records_ = 0;   // in it
  std::uint64_t left_ = 0;      // of these
  const char* next_ = nullptr;  // where the next one begins
  const char* end_ = nullptr;   // of its data
  std::size_t data_at_ = 0;     // in the text
  std::size_t block_end_ = 0;   // in the text, behind the mark
  std::string_view bad_;        // the record that was

  // Of messages.
  std::unique_ptr<const AvroPlan> plain_;
  std::unordered_map<std::uint64_t, std::unique_ptr<const AvroPlan>> plans_;
  std::unordered_map<std::uint64_t, std::string> refused_;  // and why
  std::uint64_t newest_ = 0;                                // the schema of the last message
  const AvroPlan* newest_plan_ = nullptr;
};

}  // namespace hummer::formats
