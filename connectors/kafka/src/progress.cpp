#include "progress.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <thread>

#include "topics.hpp"

namespace hummer::kafka {
namespace {

constexpr int progress_timeout_ms = 60'000;
constexpr int poll_ms = 500;
constexpr std::chrono::milliseconds topic_retry{200};

using NewTopicHandle = std::unique_ptr<rd_kafka_NewTopic_t, DestroyedBy<rd_kafka_NewTopic_destroy>>;
using NewPartitionsHandle =
    std::unique_ptr<rd_kafka_NewPartitions_t, DestroyedBy<rd_kafka_NewPartitions_destroy>>;
using EventHandle = std::unique_ptr<rd_kafka_event_t, DestroyedBy<rd_kafka_event_destroy>>;
using MessageHandle = std::unique_ptr<rd_kafka_message_t, DestroyedBy<rd_kafka_message_destroy>>;

// Of the one topic that was asked for.
rd_kafka_resp_err_t result_of(rd_kafka_event_t* event, std::string& text) {
  if (event == nullptr) return RD_KAFKA_RESP_ERR__TIMED_OUT;
  std::size_t count = 0;
  const rd_kafka_topic_result_t** results = nullptr;
  if (const auto* created = rd_kafka_event_CreateTopics_result(event)) {
    results = rd_kafka_CreateTopics_result_topics(created, &count);
  } else if (const auto* grown = rd_kafka_event_CreatePartitions_result(event)) {
    results = rd_kafka_CreatePartitions_result_topics(grown, &count);
  }
  if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR || count != 1) {
    text = rd_kafka_event_error_string(event);
    return rd_kafka_event_error(event);
  }
  if (const char* why = rd_kafka_topic_result_error_string(results[0])) text = why;
  return rd_kafka_topic_result_error(results[0]);
}

rd_kafka_resp_err_t create(const Client& client, const std::string& name, int partitions,
                           std::string& text) {
  char message[256];
  const NewTopicHandle topic(
      rd_kafka_NewTopic_new(name.c_str(), partitions, -1, message, sizeof message));
  if (!topic) {
    text = message;
    return RD_KAFKA_RESP_ERR__INVALID_ARG;
  }
  rd_kafka_NewTopic_set_config(topic.get(), "cleanup.policy", "compact");
  // A small topic that is read whole: it is compacted early.
  rd_kafka_NewTopic_set_config(topic.get(), "segment.bytes", "4194304");
  rd_kafka_NewTopic_set_config(topic.get(), "min.cleanable.dirty.ratio", "0.1");
  const QueueHandle queue(rd_kafka_queue_new(client.get()));
  rd_kafka_NewTopic_t* topics[] = {topic.get()};
  rd_kafka_CreateTopics(client.get(), topics, 1, nullptr, queue.get());
  const EventHandle event(rd_kafka_queue_poll(queue.get(), progress_timeout_ms));
  return result_of(event.get(), text);
}

rd_kafka_resp_err_t grow(const Client& client, const std::string& name, int partitions,
                         std::string& text) {
  char message[256];
  const NewPartitionsHandle wanted(rd_kafka_NewPartitions_new(
      name.c_str(), static_cast<std::size_t>(partitions), message, sizeof message));
  if (!wanted) {
    text = message;
    return RD_KAFKA_RESP_ERR__INVALID_ARG;
  }
  const QueueHandle queue(rd_kafka_queue_new(client.get()));
  rd_kafka_NewPartitions_t* all[] = {wanted.get()};
  rd_kafka_CreatePartitions(client.get(), all, 1, nullptr, queue.get());
  const EventHandle event(rd_kafka_queue_poll(queue.get(), progress_timeout_ms));
  return result_of(event.get(), text);
}

template <typename Number>
bool parse_number(std::string_view text, Number& number, int base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

std::string hexadecimal(std::uint64_t number) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return {digits.data(), end};
}

}  // namespace

std::string progress_topic(const SinkSettings& settings) {
  return settings.transactional_id + "-progress";
}

Status make_progress_topic(const Client& client, const SinkSettings& settings, int partitions) {
  const std::string name = progress_topic(settings);
  std::string text;
  const rd_kafka_resp_err_t created = create(client, name, partitions, text);
  if (created != RD_KAFKA_RESP_ERR_NO_ERROR && created != RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) {
    return failure(created, "making the topic '" + name + "'", text);
  }
  // All subtasks do the same, and each sees to it that its own partition is there.
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(progress_timeout_ms);
  for (;;) {
    const Result<std::vector<TopicPartition>> found =
        find_partitions(client, {.connection = {}, .topics = {name}}, progress_timeout_ms);
    const bool is_late = std::chrono::steady_clock::now() > end;
    // Brokers hear of a new topic one after the other.
    if (found.status().code() == ErrorCode::not_found && !is_late) {
      std::this_thread::sleep_for(topic_retry);
      continue;
    }
    if (!found.ok()) return found.status();
    if (found->size() >= static_cast<std::size_t>(partitions)) return {};
    const rd_kafka_resp_err_t grown = grow(client, name, partitions, text);
    if (is_late) {
      return failure(grown,
                     "giving the topic '" + name + "' " + std::to_string(partitions) +
                         " partitions, one per subtask",
                     text);
    }
    std::this_thread::sleep_for(topic_retry);
  }
}

bool parse_note(std::string_view key, std::string_view value, EpochName& name) {
  const std::size_t dash = key.find('-');
  return dash != std::string_view::npos && parse_number(key.substr(0, dash), name.run, 16) &&
         parse_number(key.substr(dash + 1), name.attempt, 10) &&
         parse_number(value, name.epoch, 10);
}

Status note_progress(Producer& producer, const SinkSettings& settings, std::uint32_t writer,
                     const EpochName& name) {
  const std::string topic = progress_topic(settings);
  const std::string key = hexadecimal(name.run) + "-" + std::to_string(name.attempt);
  const std::string value = std::to_string(name.epoch);
  return producer.produce({.topic = topic,
                           .partition = static_cast<std::int32_t>(writer),
                           .time_ms = no_timestamp,
                           .key = key,
                           .value = value,
                           .headers = {}});
}

namespace {

Result<Progress> read_notes(const SinkSettings& settings, std::uint32_t writer,
                            const char* isolation) {
  const std::string topic = progress_topic(settings);
  const std::string what = "reading topic '" + topic + "', partition " + std::to_string(writer);
  // Options of producers alone would be warned of by a consumer, and do it no harm.
  Result<Client> made = make_client(RD_KAFKA_CONSUMER, settings.connection, {{"log_level", "3"}},
                                    {{"isolation.level", isolation},
                                     {"enable.auto.commit", "false"},
                                     {"enable.partition.eof", "true"},
                                     {"auto.offset.reset", "earliest"},
                                     {"fetch.wait.max.ms", "10"},
                                     {"group.id", "hummer"}});
  if (!made.ok()) return made.status();
  const Client& client = *made;
  rd_kafka_poll_set_consumer(client.get());
  const PartitionList list = list_of({{topic, static_cast<std::int32_t>(writer)}});
  list->elems[0].offset = RD_KAFKA_OFFSET_BEGINNING;
  if (const auto error = rd_kafka_assign(client.get(), list.get())) return failure(error, what);
  Progress progress;
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(progress_timeout_ms);
  for (;;) {
    const MessageHandle message(rd_kafka_consumer_poll(client.get(), poll_ms));
    if (!message) {
      if (std::chrono::steady_clock::now() < end) continue;
      return failure(RD_KAFKA_RESP_ERR__TIMED_OUT, what, client.events->last_error());
    }
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) break;
    if (message->err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED) {
      return failure(message->err, what);
    }
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) continue;  // passing: librdkafka tries again
    EpochName name;
    if (!parse_note({static_cast<const char*>(message->key), message->key_len},
                    {static_cast<const char*>(message->payload), message->len}, name)) {
      return Status(ErrorCode::corrupt_record,
                    what + ": the record at offset " + std::to_string(message->offset) +
                        " is no note of a Hummer sink; who else writes to this topic?");
    }
    progress.add(name);
  }
  rd_kafka_consumer_close(client.get());
  return progress;
}

}  // namespace

Result<Progress> read_progress(const SinkSettings& settings, std::uint32_t writer) {
  return read_notes(settings, writer, "read_committed");
}

Status refuse_beside_later(const SinkSettings& settings, std::uint32_t writer,
                           const AttemptName& self) {
  const Result<Progress> noted = read_notes(settings, writer, "read_uncommitted");
  if (!noted.ok()) return noted.status();
  if (!noted->has_later(self)) return {};
  return {ErrorCode::operator_failed,
          "a later attempt of this job writes as '" + settings.transactional_id + "', subtask " +
              std::to_string(writer) + ": this one (" + std::to_string(self.attempt) +
              ") was given up, and leaves it alone"};
}

}  // namespace hummer::kafka
