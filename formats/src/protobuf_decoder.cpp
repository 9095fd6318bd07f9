#include "protobuf_decoder.hpp"

#include <cstring>
#include <utility>

#include "base64.hpp"
#include "varint.hpp"

namespace hummer::formats {
namespace {

constexpr std::size_t most_known_schemas = 1024;

class ProtobufFraming final : public RecordFraming {
 public:
  std::string_view name() const override { return "protobuf"; }
  std::size_t mark_bytes() const override { return 0; }
  Result<std::size_t> head_bytes(std::string_view) const override { return std::size_t{0}; }
  Result<std::size_t> unit_bytes(std::string_view text) const override {
    std::uint64_t size = 0;
    const char* const end = read_varint(text.data(), text.data() + text.size(), size);
    constexpr std::uint64_t largest = INT32_MAX;
    if (end == nullptr && text.size() < longest_varint_bytes) return unknown;
    if (end == nullptr || size > largest) {
      return Status(ErrorCode::corrupt_file,
                    "no length of a message stands here (is this a file of messages with their "
                    "lengths ahead?)");
    }
    return static_cast<std::size_t>(end - text.data()) + size;
  }
};

}  // namespace

const RecordFraming& protobuf_framing() {
  static const ProtobufFraming framing;
  return framing;
}

Status ProtobufDecoder::begin(const TextBlock&, std::size_t&) {
  is_file_ = true;
  return {};
}

bool ProtobufDecoder::read_delimited(std::string_view text, std::size_t at,
                                     std::string_view& message) {
  std::uint64_t size = 0;
  const char* const end = text.data() + text.size();
  const char* const begin = read_varint(text.data() + at, end, size);
  if (begin == nullptr || size > static_cast<std::size_t>(end - begin)) return false;
  message = {begin, size};
  return true;
}

Decoder::Outcome ProtobufDecoder::decode(std::string_view text, std::size_t& at, Batch& batch,
                                         std::size_t limit) {
  RecordRun run(shape_, batch, limit);
  if (!is_file_) return decode_message(text, at, run, batch);
  if (plan_ == nullptr) {
    why_ = "a file's messages do not name their schema: leave out the option registry";
    return Outcome::failed;
  }
  reader_.begin(*plan_, batch);
  while (at < text.size()) {
    if (run.full()) return Outcome::full;
    std::string_view message;
    if (!read_delimited(text, at, message)) {
      why_ = "the message is not whole";
      return Outcome::failed;
    }
    if (!reader_.read(message, run.next())) {
      why_ = reader_.why();
      return Outcome::bad_record;
    }
    run.keep();
    at = static_cast<std::size_t>(message.data() - text.data()) + message.size();
  }
  return Outcome::done;
}

std::size_t ProtobufDecoder::end_of_record(std::string_view text, std::size_t at) const {
  std::string_view message;
  if (!is_file_ || !read_delimited(text, at, message)) return text.size();
  return static_cast<std::size_t>(message.data() - text.data()) + message.size();
}

std::string_view ProtobufDecoder::skip_record(std::string_view text, std::size_t& at) {
  std::string_view message;
  const bool whole = read_delimited(text, at, message);
  const std::size_t begin = std::exchange(at, end_of_record(text, at));
  return whole ? message : text.substr(begin, at - begin);
}

Decoder::Outcome ProtobufDecoder::decode_message(std::string_view text, std::size_t& at,
                                                 RecordRun& run, Batch& batch) {
  if (run.full()) return Outcome::full;
  Outcome outcome = Outcome::bad_record;
  std::string_view message = text;
  const ProtobufPlan* const plan = plan_of_message(message, outcome);
  if (plan == nullptr) return outcome;
  reader_.begin(*plan, batch);
  if (!reader_.read(message, run.next())) {
    why_ = reader_.why();
    return Outcome::bad_record;
  }
  run.keep();
  at = text.size();
  return Outcome::done;
}

const ProtobufPlan* ProtobufDecoder::plan_of_message(std::string_view& text, Outcome& outcome) {
  if (plan_ != nullptr) return plan_.get();
  // Nothing but a few bytes to compare, as long as the schema is the one of the message before.
  if (newest_plan_ != nullptr && text.starts_with(newest_)) {
    text.remove_prefix(newest_.size());
    return newest_plan_;
  }
  constexpr std::size_t head_bytes = 5;
  constexpr std::uint64_t deepest = 64;
  why_ = "the message does not begin with a byte 0, the number of its schema and its place in it";
  if (text.size() <= head_bytes || text[0] != 0) return nullptr;
  const char* at = text.data() + head_bytes;
  const char* const end = text.data() + text.size();
  std::uint64_t count = 0;
  at = read_varint(at, end, count);
  if (at == nullptr || unfolded(count) < 0 || count / 2 > deepest) return nullptr;
  // No places at all stand for the first message.
  std::string place = count == 0 ? "0" : "";
  for (count /= 2; count > 0; --count) {
    std::uint64_t index = 0;
    at = read_varint(at, end, index);
    if (at == nullptr || unfolded(index) < 0) return nullptr;
    place += (place.empty() ? "" : ".") + std::to_string(unfolded(index));
  }
  const std::string_view head = text.substr(0, static_cast<std::size_t>(at - text.data()));
  text.remove_prefix(head.size());
  const std::string name(head);
  auto known = known_.find(name);
  if (known == known_.end()) {
    std::uint32_t id = 0;
    std::memcpy(&id, head.data() + 1, sizeof id);
    id = __builtin_bswap32(id);
    auto plan = plan_by_number(id, place);
    if (!plan.ok()) {
      why_ = "the schema " + std::to_string(id) + ": " + plan.status().message();
      const ErrorCode code = plan.status().code();
      const bool lasting = code == ErrorCode::not_found || code == ErrorCode::corrupt_record ||
                           code == ErrorCode::invalid_argument;
      if (!lasting) {
        outcome = Outcome::unavailable;
        return nullptr;
      }
    }
    // What stands there may be anything.
    if (known_.size() >= most_known_schemas) known_.clear();
    Known made{plan.ok() ? std::move(*plan) : nullptr, plan.ok() ? std::string() : why_};
    known = known_.emplace(name, std::move(made)).first;
  }
  newest_ = name;
  newest_plan_ = known->second.plan.get();
  if (newest_plan_ == nullptr) why_ = known->second.why;
  return newest_plan_;
}

Result<std::unique_ptr<ProtobufPlan>> ProtobufDecoder::plan_by_number(std::uint32_t id,
                                                                      const std::string& place) {
  const Result<std::string> text = registry_->schema(id, SchemaRegistry::Language::protobuf);
  if (!text.ok()) return text.status();
  const std::optional<std::string> bytes = from_base64(*text);
  if (!bytes) return Status(ErrorCode::corrupt_record, "it is no descriptor in base64");
  const Result<ProtoSchema> schema = read_descriptor(*bytes);
  if (!schema.ok()) return schema.status();
  const auto message = schema->places.find(place);
  if (message == schema->places.end()) {
    return Status(ErrorCode::corrupt_record, "it has no message at the place " + place);
  }
  return ProtobufPlan::of_message(*schema, message->second, shape_);
}

}  // namespace hummer::formats
