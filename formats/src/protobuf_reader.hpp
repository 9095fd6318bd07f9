// ProtobufReader: the bytes of one message to the struct, by a plan (protobuf_plan.hpp).
//
//   ProtobufReader reader;
//   reader.begin(plan, batch);
//   if (!reader.read(text, record)) …                    // reader.why()
//
// No byte behind the text is read. What is unknown is passed over (protobuf_wire.hpp).
//
// Thread: one at a time. Views point into the text, or into the batch where they are defaults.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <hummer/batch.hpp>

#include "protobuf_plan.hpp"

namespace hummer::formats {

class ProtobufReader {
 public:
  void begin(const ProtobufPlan& plan, Batch& batch) {
    plan_ = &plan;
    batch_ = &batch;
  }
  bool read(std::string_view text, char* record) {
    const ProtobufMessagePlan& message = plan_->messages.front();
    if (!message.defaults.empty()) set_defaults(message, record);
    return read_message(message, text.data(), text.data() + text.size(), record);
  }
  const std::string& why() const { return why_; }

 private:
  bool read_message(const ProtobufMessagePlan& plan, const char* at, const char* end, char* base);
  // One value, behind its tag.
  const char* read_value(const ProtobufField& field, const char* at, const char* end, char* base,
                         const ProtobufMessagePlan& plan);
  const char* read_scalar(const ProtobufField& field, const char* at, const char* end, void* to);
  const char* read_text(const ProtobufField& field, const char* at, const char* end, void* to);
  const char* read_nested(const ProtobufField& field, const char* at, const char* end, char* base);
  const char* read_packed(const ProtobufField& field, const char* at, const char* end, char* base);
  const char* skip(std::uint32_t tag, const char* at, const char* end);
  void set_defaults(const ProtobufMessagePlan& plan, char* base);
  bool set_misfit(const ProtobufField& field, std::int64_t value);
  bool wrong(const ProtobufField* field, const char* what);

  const ProtobufPlan* plan_ = nullptr;
  Batch* batch_ = nullptr;
  std::string why_;
};

}  // namespace hummer::formats
