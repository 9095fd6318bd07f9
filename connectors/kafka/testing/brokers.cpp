#include "testing/brokers.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "src/client.hpp"
#include "src/topics.hpp"
#include "support/test_paths.hpp"

namespace hummer::kafka {
namespace {

constexpr int timeout_ms = 30'000;
constexpr int skip_code = 77;

std::string& why() {
  static std::string text;
  return text;
}

using EventHandle = std::unique_ptr<rd_kafka_event_t, DestroyedBy<rd_kafka_event_destroy>>;

Client client_of(rd_kafka_type_t type, const Connection& connection, const Options& options) {
  Result<Client> made = make_client(type, connection, {}, options);
  HUMMER_ASSERT(made.ok());
  return std::move(*made);
}

void expect_done(const QueueHandle& queue) {
  const EventHandle event(rd_kafka_queue_poll(queue.get(), timeout_ms));
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(rd_kafka_event_error(event.get()), RD_KAFKA_RESP_ERR_NO_ERROR)
      << rd_kafka_event_error_string(event.get());
}

void produce(rd_kafka_t* client, const std::string& topic, const Written& record) {
  rd_kafka_headers_t* headers = rd_kafka_headers_new(record.headers.size());
  for (const auto& [name, text] : record.headers) {
    rd_kafka_header_add(headers, name.c_str(), -1, text.data(), static_cast<ssize_t>(text.size()));
  }
  std::string value = record.value.value_or("");
  void* const bytes = record.value ? value.data() : nullptr;
  const auto error = rd_kafka_producev(
      client, RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_PARTITION(record.partition),
      RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_BLOCK),
      RD_KAFKA_V_KEY(record.key.data(), record.key.size()), RD_KAFKA_V_VALUE(bytes, value.size()),
      RD_KAFKA_V_TIMESTAMP(record.time_ms), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
  ASSERT_EQ(error, RD_KAFKA_RESP_ERR_NO_ERROR) << rd_kafka_err2str(error);
}

}  // namespace

Brokers* Brokers::shared() {
  static const std::unique_ptr<Brokers> brokers = start(1);
  return brokers.get();
}

std::unique_ptr<Brokers> Brokers::start(int count, const std::vector<std::string>& arguments) {
  std::unique_ptr<Brokers> brokers(new Brokers);
  if (!brokers->begin(count, arguments)) return nullptr;
  return brokers;
}

std::unique_ptr<Brokers> Brokers::at(const std::string& addresses) {
  std::unique_ptr<Brokers> brokers(new Brokers);
  brokers->addresses_ = addresses;
  return brokers;
}

std::string Brokers::why_not() { return why(); }

bool Brokers::begin(int count, const std::vector<std::string>& arguments) {
  std::string place = testing::TempDir() + "hummer-kafka-XXXXXX";
  HUMMER_ASSERT(::mkdtemp(place.data()) != nullptr);
  directory_ = place;
  int to[2], from[2];
  HUMMER_ASSERT(::pipe2(to, O_CLOEXEC) == 0 && ::pipe2(from, O_CLOEXEC) == 0);
  process_ = ::fork();
  if (process_ == 0) {
    ::dup2(to[0], STDIN_FILENO);
    ::dup2(from[1], STDOUT_FILENO);
    std::vector<std::string> words{test_path("cluster"), "run", directory_, "--brokers",
                                   std::to_string(count)};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  ::close(to[0]);
  ::close(from[1]);
  commands_ = ::fdopen(to[1], "w");
  answers_ = ::fdopen(from[0], "r");
  char line[512] = "";
  if (std::fgets(line, sizeof line, answers_) != nullptr &&
      std::string(line).starts_with("ready ")) {
    addresses_ = std::string(line).substr(6);
    addresses_.pop_back();
    return true;
  }
  int status = 0;
  ::waitpid(process_, &status, 0);
  process_ = -1;
  const bool lacks = WIFEXITED(status) && WEXITSTATUS(status) == skip_code;
  EXPECT_TRUE(lacks) << "the brokers did not start";
  why() = "no Java, or no Maven, to run Apache Kafka with";
  return false;
}

Brokers::~Brokers() {
  if (commands_ != nullptr) std::fclose(commands_);
  if (process_ > 0) ::waitpid(process_, nullptr, 0);
  if (answers_ != nullptr) std::fclose(answers_);
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

std::string Brokers::address(int number) const {
  std::string rest = addresses_;
  for (; number > 1; --number) rest = rest.substr(rest.find(',') + 1);
  return rest.substr(0, rest.find(','));
}

void Brokers::tell(const std::string& command) {
  std::fprintf(commands_, "%s\n", command.c_str());
  std::fflush(commands_);
  char line[64] = "";
  ASSERT_NE(std::fgets(line, sizeof line, answers_), nullptr) << command;
  ASSERT_EQ(std::string(line), "done\n") << command;
}

std::string Brokers::make_topic(const std::string& name, int partitions,
                                const std::vector<std::pair<std::string, std::string>>& settings) {
  static int number = 0;
  std::string topic = name + "-" + std::to_string(::getpid()) + "-" + std::to_string(++number);
  const Client client = client_of(RD_KAFKA_PRODUCER, {addresses_, options_, token_file_}, {});
  rd_kafka_NewTopic_t* wanted = rd_kafka_NewTopic_new(topic.c_str(), partitions, -1, nullptr, 0);
  for (const auto& [key, value] : settings) {
    rd_kafka_NewTopic_set_config(wanted, key.c_str(), value.c_str());
  }
  const QueueHandle queue(rd_kafka_queue_new(client.get()));
  rd_kafka_CreateTopics(client.get(), &wanted, 1, nullptr, queue.get());
  expect_done(queue);
  rd_kafka_NewTopic_destroy(wanted);
  // Until a broker knows of it, too.
  for (int left = 100;; --left) {
    const auto found = find_partitions(client, {.connection = {}, .topics = {topic}}, timeout_ms);
    if (found.ok()) break;
    EXPECT_GT(left, 0) << found.status().to_string();
    if (left == 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return topic;
}

void Brokers::add_partitions(const std::string& topic, int partitions) {
  const Client client = client_of(RD_KAFKA_PRODUCER, {addresses_, options_, token_file_}, {});
  rd_kafka_NewPartitions_t* wanted =
      rd_kafka_NewPartitions_new(topic.c_str(), static_cast<std::size_t>(partitions), nullptr, 0);
  const QueueHandle queue(rd_kafka_queue_new(client.get()));
  rd_kafka_CreatePartitions(client.get(), &wanted, 1, nullptr, queue.get());
  expect_done(queue);
  rd_kafka_NewPartitions_destroy(wanted);
}

void Brokers::delete_records(const std::string& topic, std::int32_t partition,
                             std::int64_t before) {
  const Client client = client_of(RD_KAFKA_PRODUCER, {addresses_, options_, token_file_}, {});
  const PartitionList list = list_of({{topic, partition}});
  list->elems[0].offset = before;
  rd_kafka_DeleteRecords_t* wanted = rd_kafka_DeleteRecords_new(list.get());
  const QueueHandle queue(rd_kafka_queue_new(client.get()));
  rd_kafka_DeleteRecords(client.get(), &wanted, 1, nullptr, queue.get());
  expect_done(queue);
  rd_kafka_DeleteRecords_destroy(wanted);
}

void Brokers::write(const std::string& topic, const std::vector<Written>& records) {
  const Client client = client_of(RD_KAFKA_PRODUCER, {addresses_, options_, token_file_},
                                  {{"partitioner", "murmur2"}, {"enable.idempotence", "true"}});
  for (const Written& record : records) produce(client.get(), topic, record);
  EXPECT_EQ(rd_kafka_flush(client.get(), timeout_ms), RD_KAFKA_RESP_ERR_NO_ERROR);
  EXPECT_TRUE(client.events->undelivered().ok()) << client.events->undelivered().to_string();
}

void Brokers::write_aborted(const std::string& topic, const std::vector<Written>& records) {
  const Client client = client_of(RD_KAFKA_PRODUCER, {addresses_, options_, token_file_},
                                  {{"transactional.id", "aborted-" + topic}});
  const auto expect_none = [](rd_kafka_error_t* error) {
    EXPECT_EQ(error, nullptr) << rd_kafka_error_string(error);
  };
  expect_none(rd_kafka_init_transactions(client.get(), timeout_ms));
  expect_none(rd_kafka_begin_transaction(client.get()));
  for (const Written& record : records) produce(client.get(), topic, record);
  EXPECT_EQ(rd_kafka_flush(client.get(), timeout_ms), RD_KAFKA_RESP_ERR_NO_ERROR);
  expect_none(rd_kafka_abort_transaction(client.get(), timeout_ms));
}

std::vector<Written> Brokers::read(const std::string& topic) {
  const Client client = client_of(RD_KAFKA_CONSUMER, {addresses_, options_, token_file_},
                                  {{"isolation.level", "read_committed"},
                                   {"enable.auto.commit", "false"},
                                   {"enable.partition.eof", "true"},
                                   {"auto.offset.reset", "earliest"},
                                   {"group.id", "reader"}});
  rd_kafka_poll_set_consumer(client.get());
  const auto partitions =
      find_partitions(client, {.connection = {}, .topics = {topic}}, timeout_ms);
  HUMMER_ASSERT(partitions.ok());
  const PartitionList list = list_of(*partitions);
  for (int i = 0; i < list->cnt; ++i) list->elems[i].offset = RD_KAFKA_OFFSET_BEGINNING;
  // A commit is answered before its marks are written, and only then do readers see its records: up
  // to what is there already, whether they may see it or not, is waited for.
  const Client uncommitted =
      client_of(RD_KAFKA_CONSUMER, {addresses_, options_, token_file_},
                {{"isolation.level", "read_uncommitted"}, {"group.id", "reader"}});
  auto ends = find_offsets(uncommitted, *partitions, Offsets::latest(), timeout_ms);
  // A broker that has just become a partition's leader says so a little later.
  for (int left = 100; !ends.ok() && left > 0; --left) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ends = find_offsets(uncommitted, *partitions, Offsets::latest(), timeout_ms);
  }
  HUMMER_ASSERT(ends.ok());
  EXPECT_EQ(rd_kafka_assign(client.get(), list.get()), RD_KAFKA_RESP_ERR_NO_ERROR);
  std::vector<std::vector<Written>> found(partitions->size());
  for (std::size_t open = partitions->size(); open > 0;) {
    rd_kafka_message_t* const message = rd_kafka_consumer_poll(client.get(), timeout_ms);
    if (message == nullptr) {
      ADD_FAILURE() << "no record of " << topic << " for long";
      break;
    }
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF &&
        message->offset >= (*ends)[static_cast<std::size_t>(message->partition)]) {
      --open;
    }
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      Written record{.key = {static_cast<const char*>(message->key), message->key_len},
                     .value = std::nullopt,
                     .partition = message->partition,
                     .time_ms = rd_kafka_message_timestamp(message, nullptr)};
      if (message->payload != nullptr) {
        record.value = {static_cast<const char*>(message->payload), message->len};
      }
      rd_kafka_headers_t* headers = nullptr;
      const char* name = nullptr;
      const void* value = nullptr;
      std::size_t length = 0;
      if (rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        for (std::size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &length) ==
                                RD_KAFKA_RESP_ERR_NO_ERROR;
             ++i) {
          record.headers.emplace_back(name, std::string(static_cast<const char*>(value), length));
        }
      }
      found[static_cast<std::size_t>(message->partition)].push_back(std::move(record));
    }
    rd_kafka_message_destroy(message);
  }
  rd_kafka_consumer_close(client.get());
  std::vector<Written> all;
  for (auto& partition : found) {
    for (Written& record : partition) all.push_back(std::move(record));
  }
  return all;
}

std::vector<std::int64_t> Brokers::committed(const std::string& group, const std::string& topic,
                                             int partitions) {
  const Client client =
      client_of(RD_KAFKA_CONSUMER, {addresses_, options_, token_file_}, {{"group.id", group}});
  const PartitionList list(rd_kafka_topic_partition_list_new(partitions));
  for (int i = 0; i < partitions; ++i) {
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), i);
  }
  EXPECT_EQ(rd_kafka_committed(client.get(), list.get(), timeout_ms), RD_KAFKA_RESP_ERR_NO_ERROR);
  std::vector<std::int64_t> offsets;
  for (int i = 0; i < partitions; ++i) offsets.push_back(list->elems[i].offset);
  return offsets;
}

}  // namespace hummer::kafka
