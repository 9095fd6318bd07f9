#include "producer.hpp"

#include <array>
#include <chrono>

#include "sink_options.hpp"
#include "topics.hpp"

namespace hummer::kafka {
namespace {

using HeadersHandle = std::unique_ptr<rd_kafka_headers_t, DestroyedBy<rd_kafka_headers_destroy>>;

HeadersHandle headers_of(const std::vector<Header>& headers) {
  HeadersHandle made(rd_kafka_headers_new(headers.size()));
  for (const Header& header : headers) {
    rd_kafka_header_add(made.get(), header.name.data(), static_cast<ssize_t>(header.name.size()),
                        header.value ? header.value->data() : nullptr,
                        header.value ? static_cast<ssize_t>(header.value->size()) : 0);
  }
  return made;
}

Status queue_full() { return {ErrorCode::limit_exceeded, "the queue is full"}; }

}  // namespace

Result<std::unique_ptr<Producer>> Producer::make(const SinkSettings& settings,
                                                 const Options& fixed) {
  Options all = fixed_sink_options(settings);
  for (const auto& [name, value] : fixed) all[name] = value;
  Result<Client> client =
      make_client(RD_KAFKA_PRODUCER, settings.connection, sink_options(settings), all);
  if (!client.ok()) return client.status();
  return std::unique_ptr<Producer>(new Producer(std::move(*client)));
}

bool says_fenced(rd_kafka_resp_err_t error) {
  return error == RD_KAFKA_RESP_ERR__FENCED || error == RD_KAFKA_RESP_ERR_PRODUCER_FENCED ||
         error == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH;
}

Status Producer::init_transactions(const std::string& id, int timeout_ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  for (;;) {
    const ErrorHandle error(rd_kafka_init_transactions(client_.get(), timeout_ms));
    if (!error) return {};
    if (rd_kafka_error_is_retriable(error.get()) && std::chrono::steady_clock::now() < end)
      continue;
    Status status = failure(error.get(), "fencing the producers of transactional id '" + id + "'");
    const std::string last = client_.events->last_error();
    return last.empty() ? status : Status(status.code(), status.message() + " (" + last + ")");
  }
}

Status Producer::transaction_failure() {
  // There is no question for it: but one that is open, and well, refuses to begin by its state.
  const ErrorHandle error(rd_kafka_begin_transaction(client_.get()));
  if (!error || rd_kafka_error_code(error.get()) == RD_KAFKA_RESP_ERR__STATE) return {};
  Status status = failure(error.get(), "the transaction");
  if (!says_fenced(rd_kafka_error_code(error.get()))) return status;
  return {ErrorCode::operator_failed, status.message() + why_fenced};
}

Status Producer::require_topic(const std::string& name, int timeout_ms) {
  const SourceSettings asked{.connection = {}, .topics = {name}};
  return find_partitions(client_, asked, timeout_ms).status();
}

Result<rd_kafka_topic_t*> Producer::topic(std::string_view name) {
  if (last_ != nullptr && name == last_name_) return last_;
  if (name.empty()) {
    return Status(
        ErrorCode::invalid_argument,
        "a record names no topic, and neither does the sink: call message.topic(), or set "
        "SinkSettings::topic");
  }
  last_name_ = name;
  TopicHandle& known = topics_[last_name_];
  if (!known) known.reset(rd_kafka_topic_new(client_.get(), last_name_.c_str(), nullptr));
  last_ = known.get();
  if (last_ == nullptr) return failure(rd_kafka_last_error(), "topic '" + last_name_ + "'");
  return last_;
}

Status Producer::produce(std::string_view name, std::span<rd_kafka_message_t>& records,
                         bool copy_values) {
  const Result<rd_kafka_topic_t*> to = topic(name);
  if (!to.ok()) return to.status();
  const auto taken = static_cast<std::size_t>(
      rd_kafka_produce_batch(*to, RD_KAFKA_PARTITION_UA, copy_values ? RD_KAFKA_MSG_F_COPY : 0,
                             records.data(), static_cast<int>(records.size())));
  if (taken == records.size()) {
    records = {};
    return {};
  }
  std::size_t first = 0;
  while (records[first].err == RD_KAFKA_RESP_ERR_NO_ERROR) ++first;
  const rd_kafka_resp_err_t error = records[first].err;
  records = records.subspan(first);
  if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) return queue_full();
  return failure(error, "a record for topic '" + last_name_ + "'");
}

Status Producer::produce(const Outgoing& record, bool copies_value) {
  const Result<rd_kafka_topic_t*> to = topic(record.topic);
  if (!to.ok()) return to.status();
  std::array<rd_kafka_vu_t, 7> parts{};
  std::size_t count = 0;
  const auto part = [&](rd_kafka_vtype_t type) -> auto& {
    parts[count].vtype = type;
    return parts[count++].u;
  };
  part(RD_KAFKA_VTYPE_RKT).rkt = *to;
  part(RD_KAFKA_VTYPE_MSGFLAGS).i = copies_value ? RD_KAFKA_MSG_F_COPY : 0;
  if (record.partition >= 0) part(RD_KAFKA_VTYPE_PARTITION).i32 = record.partition;
  if (record.key.has_value()) {
    auto& key = part(RD_KAFKA_VTYPE_KEY).mem;
    key.ptr = const_cast<char*>(record.key->data());
    key.size = record.key->size();
  }
  if (record.value.has_value()) {
    auto& value = part(RD_KAFKA_VTYPE_VALUE).mem;
    value.ptr = const_cast<char*>(record.value->data());
    value.size = record.value->size();
  }
  if (record.time_ms != no_timestamp) part(RD_KAFKA_VTYPE_TIMESTAMP).i64 = record.time_ms;
  HeadersHandle headers;
  if (!record.headers.empty()) {
    headers = headers_of(record.headers);
    part(RD_KAFKA_VTYPE_HEADERS).headers = headers.get();
  }
  const ErrorHandle error(rd_kafka_produceva(client_.get(), parts.data(), count));
  if (!error) {
    (void)headers.release();  // is librdkafka's now
    return {};
  }
  if (rd_kafka_error_code(error.get()) == RD_KAFKA_RESP_ERR__QUEUE_FULL) return queue_full();
  return failure(error.get(), "a record for topic '" + last_name_ + "'");
}

Status Producer::poll(int timeout_ms) {
  rd_kafka_poll(client_.get(), timeout_ms);
  return client_.events->undelivered();
}

Outgoing outgoing_of(const Message& message, const std::string& default_topic) {
  Outgoing record{.topic = message.topic().empty() ? default_topic : message.topic(),
                  .partition = message.partition(),
                  .time_ms = message.time(),
                  .key = message.key(),
                  .value = message.value(),
                  .headers = {}};
  for (const auto& [name, value] : message.headers()) {
    record.headers.push_back({.name = name, .value = value});
  }
  return record;
}

}  // namespace hummer::kafka
