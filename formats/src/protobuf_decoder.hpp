// ProtobufDecoder: files of messages with their lengths, and messages by themselves, to records, on
// the contract of hummer/formats/format.hpp; made by protobuf().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include <hummer/detail/record_framing.hpp>
#include <hummer/formats/protobuf.hpp>

#include "protobuf_plan.hpp"
#include "protobuf_reader.hpp"
#include "record_run.hpp"

namespace hummer::formats {

// A length, and the message.
const RecordFraming& protobuf_framing();

class ProtobufDecoder final : public Decoder {
 public:
  // `plan`: of messages that do not name their schema; null: they do.
  ProtobufDecoder(const RecordShape& shape, std::shared_ptr<const ProtobufPlan> plan,
                  std::shared_ptr<SchemaRegistry> registry)
      : shape_(shape), plan_(std::move(plan)), registry_(std::move(registry)) {}

  Status begin(const TextBlock& block, std::size_t& at) override;
  Outcome decode(std::string_view text, std::size_t& at, Batch& batch, std::size_t limit) override;
  std::size_t end_of_record(std::string_view text, std::size_t at) const override;
  std::string_view skip_record(std::string_view text, std::size_t& at) override;
  bool has_lines() const override { return false; }

 private:
  // The message that begins at `at`, where it is whole.
  static bool read_delimited(std::string_view text, std::size_t at, std::string_view& message);
  Outcome decode_message(std::string_view text, std::size_t& at, RecordRun& run, Batch& batch);
  // Takes what names the schema. Null: why_ says why, and `outcome` what that means.
  const ProtobufPlan* plan_of_message(std::string_view& text, Outcome& outcome);
  Result<std::unique_ptr<ProtobufPlan>> plan_by_number(std::uint32_t id, const std::string& place);

  const RecordShape& shape_;
  const std::shared_ptr<const ProtobufPlan> plan_;
  const std::shared_ptr<SchemaRegistry> registry_;
  ProtobufReader reader_;
  bool is_file_ = false;

  // By what stands ahead of a message.
  struct Known {
    std::unique_ptr<ProtobufPlan> plan;  // null: it can't be read
    std::string why;
  };
  std::unordered_map<std::string, Known> known_;
  std::string newest_;
  const ProtobufPlan* newest_plan_ = nullptr;
};

}  // namespace hummer::formats
