// Producer: a client that writes, and the topics that it writes to.
//
// produce() copies the record, or all of it but its value, which then has to stay where it is until
// the record has arrived or the producer is gone. Thread: one. Cost: a lock of librdkafka's per
// record, and an allocation.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include <hummer/kafka/record.hpp>

#include "client.hpp"

namespace hummer::kafka {

// What is written, by views.
struct Outgoing {
  std::string_view topic;
  std::int32_t partition = -1;
  Timestamp time_ms = no_timestamp;
  std::optional<std::string_view> key;
  std::optional<std::string_view> value;
  std::vector<Header> headers;
};

class Producer {
 public:
  // `fixed`: options beside those of all sinks, such as the transactional id.
  static Result<std::unique_ptr<Producer>> make(const SinkSettings& settings, const Options& fixed);

  // Ok; E3004 (limit_exceeded) when the queue is full; else the record can't be written.
  Status produce(const Outgoing& record, bool copies_value = true);
  // Of many for one topic, which have key and value alone: takes those that it can off the front.
  // E3004: some are left, since the queue is full.
  Status produce(std::string_view topic, std::span<rd_kafka_message_t>& records, bool copy_values);
  // Serves reports; the first record that was not delivered.
  Status poll(int timeout_ms);
  // What has not arrived.
  int under_way() const { return rd_kafka_outq_len(client_.get()); }
  // Of one with a transactional id: fences whoever wrote as it before, and ends what that had open.
  Status init_transactions(const std::string& id, int timeout_ms);
  // Whether its transaction, which is open, can only be aborted; and why.
  Status transaction_failure();
  // Fails where the brokers do not answer, or do not have the topic.
  Status require_topic(const std::string& name, int timeout_ms);
  const Client& client() const { return client_; }

 private:
  explicit Producer(Client client) : client_(std::move(client)) {}
  Result<rd_kafka_topic_t*> topic(std::string_view name);

  Client client_;
  std::unordered_map<std::string, TopicHandle> topics_;  // gone before the client
  std::string last_name_;
  rd_kafka_topic_t* last_ = nullptr;
};

// Another producer has come with the same transactional id, or the coordinator has ended the
// transaction since its time was up.
bool says_fenced(rd_kafka_resp_err_t error);
inline constexpr const char* why_fenced =
    ": another job, or an attempt that has taken this one's place, writes with this transactional "
    "id "
    "(give each sink its own), or transaction.timeout.ms was over ahead of the checkpoint";

Outgoing outgoing_of(const Message& message, const std::string& default_topic);

}  // namespace hummer::kafka
