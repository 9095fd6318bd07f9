#include "chunk_sender.hpp"

#include <span>

namespace hummer::kafka {
namespace {

constexpr std::size_t most_gathered = 1'000;
constexpr int full_queue_ms = 10;

bool has_key_and_value_alone(const Outgoing& record) {
  return record.partition < 0 && record.time_ms == no_timestamp && record.headers.empty();
}

rd_kafka_message_t message_of(const Outgoing& record) {
  rd_kafka_message_t message{};
  if (record.key.has_value()) {
    message.key = const_cast<char*>(record.key->data());
    message.key_len = record.key->size();
  }
  if (record.value.has_value()) {
    message.payload = const_cast<char*>(record.value->data());
    message.len = record.value->size();
  }
  return message;
}

bool may_wait(const Status& status, const std::atomic<bool>* hurries) {
  return status.code() == ErrorCode::limit_exceeded && (hurries == nullptr || !*hurries);
}

}  // namespace

Status ChunkSender::send(const EpochChunk& chunk, Producer& producer,
                         const std::atomic<bool>* hurries) {
  const Result<std::string_view> found = chunk.bytes(space_);
  if (!found.ok()) return found.status();
  const bool copies = chunk.held() == nullptr;
  if (!copies) kept_.push_back(chunk.held());
  gathered_.clear();
  for (std::string_view bytes = *found; !bytes.empty();) {
    if (!decode(bytes, record_)) {
      return {ErrorCode::corrupt_record, "a record of an epoch cannot be decoded"};
    }
    const bool is_plain = has_key_and_value_alone(record_);
    if (!is_plain || gathered_.size() == most_gathered || record_.topic != topic_) {
      HUMMER_TRY(send_gathered(producer, copies, hurries));
      topic_ = record_.topic;
    }
    if (is_plain) {
      gathered_.push_back(message_of(record_));
      continue;
    }
    for (;;) {
      Status status = producer.produce(record_, copies);
      if (status.ok()) break;
      if (!may_wait(status, hurries)) return status;
      HUMMER_TRY(producer.poll(full_queue_ms));
    }
  }
  return send_gathered(producer, copies, hurries);
}

Status ChunkSender::send_gathered(Producer& producer, bool copies,
                                  const std::atomic<bool>* hurries) {
  for (std::span<rd_kafka_message_t> left(gathered_); !left.empty();) {
    Status status = producer.produce(topic_, left, copies);
    if (!status.ok() && !may_wait(status, hurries)) return status;
    HUMMER_TRY(producer.poll(status.ok() ? 0 : full_queue_ms));
  }
  gathered_.clear();
  return {};
}

}  // namespace hummer::kafka
