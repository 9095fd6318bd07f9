#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <hummer/formats/look.hpp>

#include "avro_codec.hpp"
#include "avro_container.hpp"
#include "avro_json.hpp"
#include "avro_record_reader.hpp"

namespace hummer::formats {
namespace {

class AvroLook final : public RecordLook {
 public:
  std::string_view unit_name() const override { return "block"; }

  Result<std::size_t> begin(std::string_view text) override {
    const Result<AvroHead> head = read_avro_head(text);
    if (!head.ok()) return head.status();
    if (head->size == RecordFraming::unknown) return unknown;
    const Result<AvroOptions::Codec> codec = avro_codec_of(head->codec);
    if (!codec.ok()) return codec.status();
    Result<AvroSchema> schema = AvroSchema::parse(head->schema);
    if (!schema.ok()) return schema.status();
    schema_ = std::move(*schema);
    codec_.reset();
    if (*codec != AvroOptions::Codec::null) codec_.emplace(*codec);
    mark_ = head->mark;
    return head->size;
  }

  Result<Unit> unit(std::string_view text) const override {
    const Result<AvroBlock> block = read_avro_block(text);
    if (!block.ok()) return block.status();
    return Unit{block->size, block->records};
  }

  Status records(std::string_view unit, const Listener& each) override {
    const Result<AvroBlock> block = read_avro_block(unit);
    if (!block.ok()) return block.status();
    if (!unit.ends_with(mark_)) {
      return {ErrorCode::corrupt_record, "it does not end with the file's mark"};
    }
    std::string_view data = block->data;
    if (codec_) {
      const Result<std::string_view> unpacked = codec_->unpack(data, AvroOptions().max_block_bytes);
      if (!unpacked.ok()) return unpacked.status();
      data = *unpacked;
    }
    const AvroType& root = schema_->root();
    const std::uint64_t most = root.least_bytes > 0 ? data.size() / root.least_bytes
                                                    : AvroRecordReader::most_empty_elements;
    if (block->records > most) {
      return {ErrorCode::corrupt_record, "it says that it has " + std::to_string(block->records) +
                                             " records in " + std::to_string(data.size()) +
                                             " bytes, which can't be"};
    }
    const char* at = data.data();
    const char* const end = at + data.size();
    json_.begin(end);
    for (std::uint64_t i = 0; i < block->records; ++i) {
      text_.clear();
      at = json_.append(root, at, text_);
      if (at == nullptr) {
        return {ErrorCode::corrupt_record, "record " + std::to_string(i + 1) + " of its " +
                                               std::to_string(block->records) + ": " + json_.why()};
      }
      each(text_);
    }
    if (at == end) return {};
    return {ErrorCode::corrupt_record,
            "it has " + std::to_string(end - at) + " bytes behind its last record"};
  }

 private:
  std::optional<AvroSchema> schema_;
  std::optional<AvroCodec> codec_;  // none: blocks are not packed
  std::string mark_;
  AvroJson json_;
  std::string text_;  // of one record, again and again
};

}  // namespace

std::unique_ptr<RecordLook> look_at_avro() { return std::make_unique<AvroLook>(); }

}  // namespace hummer::formats
