// libhummer_kafka.so: topics as the program hummer looks at them: kafka://host:9092,host:9092/topic
//
// Options are librdkafka's, and token_file, as settings.hpp has it. Nothing is committed to any
// group. What is not committed of transactions is not seen, unless isolation.level says so; a
// message without a value is passed over.
#include "platform/message_source.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "client.hpp"
#include "source_options.hpp"
#include "topics.hpp"

namespace hummer::kafka {
namespace {

constexpr int poll_ms = 200;

using MessageHandle = std::unique_ptr<rd_kafka_message_t, DestroyedBy<rd_kafka_message_destroy>>;

Result<SourceSettings> settings_of(const MessageRequest& request) {
  const std::size_t begin = request.address.find("://") + 3;
  const std::size_t slash = std::min(request.address.find('/', begin), request.address.size());
  SourceSettings settings{
      .connection = {.brokers = request.address.substr(begin, slash - begin),
                     .options = request.options},
      .topics = {request.address.substr(std::min(slash + 1, request.address.size()))},
      .end = Offsets::latest()};
  if (settings.connection.brokers.empty() || settings.topics[0].empty()) {
    return Status(ErrorCode::invalid_argument, "it names no topic: write kafka://HOST:PORT/TOPIC");
  }
  std::map<std::string, std::string>& options = settings.connection.options;
  if (const auto token = options.find("token_file"); token != options.end()) {
    settings.connection.token_file = token->second;
    options.erase(token);
  }
  HUMMER_TRY(settings.check());
  return settings;
}

// What is kept of a partition until all have been read to where they ended.
struct Partition {
  std::deque<std::string> messages = {};
  std::int64_t end = 0;
  bool read = false;
};

class Look {
 public:
  Look(const MessageRequest& request, const MessageListener& listener)
      : request_(request), listener_(listener) {}

  Status run() {
    Result<SourceSettings> settings = settings_of(request_);
    if (!settings.ok()) return settings.status();
    topic_ = settings->topics[0];
    Result<Client> client = make_client(RD_KAFKA_CONSUMER, settings->connection, source_options(),
                                        fixed_source_options(*settings));
    if (!client.ok()) return client.status();
    client_ = std::move(*client);
    rd_kafka_poll_set_consumer(client_.get());
    const Result<std::vector<TopicPartition>> partitions =
        find_partitions(client_, *settings, settings->connection.timeout_ms);
    if (!partitions.ok()) return partitions.status();
    HUMMER_TRY(assign(*partitions, settings->connection.timeout_ms));
    HUMMER_TRY(read_to_the_ends());
    for (auto& [number, partition] : partitions_) {
      for (const std::string& message : partition.messages) say(number, message);
      partition.messages.clear();
    }
    while (request_.follow && listener_.listens()) HUMMER_TRY(take_next());
    return {};
  }

 private:
  Status assign(const std::vector<TopicPartition>& found, int timeout_ms) {
    const PartitionList list = list_of(found);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::int32_t number = found[i].second;
      std::int64_t low = 0;
      std::int64_t high = 0;
      const rd_kafka_resp_err_t error = rd_kafka_query_watermark_offsets(
          client_.get(), topic_.c_str(), number, &low, &high, timeout_ms);
      if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return failure(error, "where partition " + std::to_string(number) + " ends",
                       client_.events->last_error());
      }
      // Marks of transactions count as messages, so a few less may come.
      const auto last = static_cast<std::int64_t>(std::min<std::uint64_t>(
          request_.last, static_cast<std::uint64_t>(std::max<std::int64_t>(high - low, 0))));
      list->elems[i].offset = high - last;
      partitions_[number] = {.end = high, .read = last == 0};
    }
    const rd_kafka_resp_err_t error = rd_kafka_assign(client_.get(), list.get());
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
    return failure(error, "topic '" + topic_ + "' can't be read");
  }

  Status read_to_the_ends() {
    while (listener_.listens() && std::any_of(partitions_.begin(), partitions_.end(),
                                              [](const auto& each) { return !each.second.read; })) {
      HUMMER_TRY(take_next());
    }
    all_read_ = true;
    return {};
  }

  Status take_next() {
    const MessageHandle message(rd_kafka_consumer_poll(client_.get(), poll_ms));
    if (message == nullptr) return {};
    Partition& partition = partitions_[message->partition];
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      partition.read = true;
      return {};
    }
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return failure(message->err, "reading topic '" + topic_ + "'", client_.events->last_error());
    }
    partition.read |= message->offset + 1 >= partition.end;
    if (message->payload == nullptr) return {};
    const std::string_view value(static_cast<const char*>(message->payload), message->len);
    if (all_read_) {
      say(message->partition, value);
      return {};
    }
    partition.messages.emplace_back(value);
    if (!request_.follow && partition.messages.size() > request_.last) {
      partition.messages.pop_front();
    }
    return {};
  }

  void say(std::int32_t partition, std::string_view message) {
    listener_.message(topic_ + "/" + std::to_string(partition), message);
  }

  const MessageRequest& request_;
  const MessageListener& listener_;
  std::string topic_;
  Client client_;
  std::map<std::int32_t, Partition> partitions_;
  bool all_read_ = false;
};

Status look(const MessageRequest& request, const MessageListener& listener) {
  return Look(request, listener).run();
}

}  // namespace
}  // namespace hummer::kafka

extern "C" {
extern const hummer::MessageSourcePlugin hummer_message_source;
const hummer::MessageSourcePlugin hummer_message_source = {
    .abi = HUMMER_ABI,
    .look = &hummer::kafka::look,
};
}
