// What librdkafka does by itself, for throughput_job to be measured beside: records of 100 bytes.
//
//   kafka_bare write BROKERS TOPIC RECORDS     idempotent, with the connector's options; each
//                                              record is reported
//   kafka_bare commit BROKERS TOPIC RECORDS    the same in one transaction
//   kafka_bare read BROKERS TOPIC RECORDS      in batches, through one queue
//   kafka_bare delete BROKERS TOPIC...         what was measured, so that it is in nobody's way
#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int wait_ms = 60'000;
constexpr std::size_t key_digits = 10;
constexpr std::size_t value_bytes = 90;

[[noreturn]] void give_up(const char* why) {
  std::fprintf(stderr, "kafka_bare: %s\n", why);
  std::exit(1);
}

void expect_none(rd_kafka_error_t* error) {
  if (error != nullptr) give_up(rd_kafka_error_string(error));
}

long delivered = 0;

void count_delivered(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) ++delivered;
}

rd_kafka_t* make(rd_kafka_type_t type,
                 const std::vector<std::pair<const char*, std::string>>& options) {
  rd_kafka_conf_t* const conf = rd_kafka_conf_new();
  char message[512];
  for (const auto& [name, value] : options) {
    if (rd_kafka_conf_set(conf, name, value.c_str(), message, sizeof message) != RD_KAFKA_CONF_OK) {
      give_up(message);
    }
  }
  if (type == RD_KAFKA_PRODUCER) rd_kafka_conf_set_dr_msg_cb(conf, count_delivered);
  rd_kafka_t* const client = rd_kafka_new(type, conf, message, sizeof message);
  if (client == nullptr) give_up(message);
  return client;
}

void write(const std::string& brokers, const std::string& topic, long records, bool commits) {
  std::vector<std::pair<const char*, std::string>> options{
      {"bootstrap.servers", brokers},
      {"enable.idempotence", "true"},
      {"linger.ms", "5"},
      {"queue.buffering.max.messages", "500000"},
      {"partitioner", "murmur2_random"}};
  if (commits) options.push_back({"transactional.id", topic + "-bare"});
  rd_kafka_t* const client = make(RD_KAFKA_PRODUCER, options);
  rd_kafka_topic_t* const to = rd_kafka_topic_new(client, topic.c_str(), nullptr);
  if (commits) {
    expect_none(rd_kafka_init_transactions(client, wait_ms));
    expect_none(rd_kafka_begin_transaction(client));
  }
  char value[value_bytes];
  std::memset(value, 'x', sizeof value);
  char key[24];
  for (long i = 0; i < records; ++i) {
    std::snprintf(key, sizeof key, "%010ld", i);
    while (rd_kafka_produce(to, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, value, sizeof value,
                            key, key_digits, nullptr) != 0) {
      rd_kafka_poll(client, 10);
    }
    if (i % 1024 == 0) rd_kafka_poll(client, 0);
  }
  const auto flushed = rd_kafka_flush(client, wait_ms);
  if (flushed != RD_KAFKA_RESP_ERR_NO_ERROR || delivered != records) give_up("not delivered");
  if (commits) expect_none(rd_kafka_commit_transaction(client, wait_ms));
  rd_kafka_topic_destroy(to);
  rd_kafka_destroy(client);
}

void read(const std::string& brokers, const std::string& topic, long records) {
  rd_kafka_t* const client =
      make(RD_KAFKA_CONSUMER,
           {{"bootstrap.servers", brokers}, {"group.id", "bare"}, {"enable.auto.commit", "false"}});
  rd_kafka_poll_set_consumer(client);
  rd_kafka_topic_t* const asked = rd_kafka_topic_new(client, topic.c_str(), nullptr);
  const rd_kafka_metadata_t* metadata = nullptr;
  if (rd_kafka_metadata(client, 0, asked, &metadata, wait_ms) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    give_up("no metadata");
  }
  const int partitions = metadata->topics[0].partition_cnt;
  rd_kafka_metadata_destroy(metadata);
  rd_kafka_topic_destroy(asked);
  rd_kafka_topic_partition_list_t* const list = rd_kafka_topic_partition_list_new(partitions);
  for (int i = 0; i < partitions; ++i) {
    rd_kafka_topic_partition_list_add(list, topic.c_str(), i)->offset = RD_KAFKA_OFFSET_BEGINNING;
  }
  rd_kafka_assign(client, list);
  rd_kafka_topic_partition_list_destroy(list);
  rd_kafka_queue_t* const queue = rd_kafka_queue_get_consumer(client);
  std::vector<rd_kafka_message_t*> messages(1024);
  std::uint64_t bytes = 0;
  for (long left = records; left > 0;) {
    const ssize_t count =
        rd_kafka_consume_batch_queue(queue, 100, messages.data(), messages.size());
    for (ssize_t i = 0; i < count; ++i) {
      rd_kafka_message_t* const message = messages[static_cast<std::size_t>(i)];
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        bytes += message->len + message->key_len;
        --left;
      }
      rd_kafka_message_destroy(message);
    }
  }
  std::printf("%llu bytes\n", static_cast<unsigned long long>(bytes));
  rd_kafka_queue_destroy(queue);
  rd_kafka_consumer_close(client);
  rd_kafka_destroy(client);
}

void delete_topics(const std::string& brokers, const std::vector<std::string>& topics) {
  rd_kafka_t* const client = make(RD_KAFKA_PRODUCER, {{"bootstrap.servers", brokers}});
  std::vector<rd_kafka_DeleteTopic_t*> asked;
  for (const std::string& topic : topics) asked.push_back(rd_kafka_DeleteTopic_new(topic.c_str()));
  rd_kafka_queue_t* const queue = rd_kafka_queue_new(client);
  rd_kafka_DeleteTopics(client, asked.data(), asked.size(), nullptr, queue);
  rd_kafka_event_t* const answer = rd_kafka_queue_poll(queue, wait_ms);
  if (answer == nullptr || rd_kafka_event_error(answer) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    give_up("topics are not deleted");
  }
  rd_kafka_event_destroy(answer);
  rd_kafka_DeleteTopic_destroy_array(asked.data(), asked.size());
  rd_kafka_queue_destroy(queue);
  rd_kafka_destroy(client);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc < 4 ? "" : argv[1];
  if (what == "delete") {
    delete_topics(argv[2], {argv + 3, argv + argc});
    return 0;
  }
  if (argc != 5) {
    give_up("kafka_bare write|commit|read BROKERS TOPIC RECORDS, or delete BROKERS TOPIC...");
  }
  if (what == "read") {
    read(argv[2], argv[3], std::atol(argv[4]));
  } else {
    write(argv[2], argv[3], std::atol(argv[4]), what == "commit");
  }
  return 0;
}
