// The sinks against a real broker.
#include <hummer/kafka/sink.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

#include <hummer/hummer.hpp>

#include "epoch_records.hpp"
#include "support/test_paths.hpp"
#include "testing/brokers.hpp"
#include "transactions.hpp"

namespace hummer::kafka {
namespace {

class KafkaSink : public testing::Test {
 protected:
  void SetUp() override {
    brokers_ = Brokers::shared();
    if (brokers_ == nullptr) GTEST_SKIP() << Brokers::why_not();
  }
  SinkSettings settings(const std::string& topic, Guarantee guarantee) const {
    return {.connection = {.brokers = brokers_->addresses()},
            .topic = topic,
            .guarantee = guarantee,
            .transactional_id = topic + "-sink"};
  }
  std::vector<std::string> values(const std::string& topic) {
    std::vector<std::string> found;
    for (const Written& record : brokers_->read(topic)) found.push_back(record.value.value_or("-"));
    std::sort(found.begin(), found.end());
    return found;
  }

  Brokers* brokers_ = nullptr;
};

using Texts = std::vector<std::string>;

void write_number(std::uint64_t number, Message& message) {
  message.key("key " + std::to_string(number % 7));
  message.value(std::to_string(100'000 + number));
}

Texts numbers_to(std::uint64_t count) {
  Texts expected;
  for (std::uint64_t i = 0; i < count; ++i) expected.push_back(std::to_string(100'000 + i));
  return expected;
}

TEST_F(KafkaSink, WritesAllThatAMessageHas) {
  for (const Guarantee guarantee :
       {Guarantee::at_least_once, Guarantee::exactly_once, Guarantee::exactly_once_open}) {
    const std::string topic = brokers_->make_topic("whole", 2);
    const std::string other = brokers_->make_topic("other", 1);
    StreamExecutionEnvironment env;
    const auto numbers = env.from_collection<int>({1, 2, 3});
    to_topics(numbers, "sink", settings(topic, guarantee),
              [other](const int& number, Message& message) {
                if (number == 3) return message.topic(other), message.value("elsewhere");
                message.partition(number - 1);
                message.key("k" + std::to_string(number));
                if (number == 1) message.value("v");
                message.time(1'000 + number);
                message.header("name", "text");
                message.header("name", "");
              });
    const JobResult result = env.execute("write");
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    const std::vector<std::pair<std::string, std::string>> headers{{"name", "text"}, {"name", ""}};
    EXPECT_EQ(brokers_->read(topic),
              (std::vector<Written>{
                  {.key = "k1", .value = "v", .partition = 0, .time_ms = 1'001, .headers = headers},
                  {.key = "k2",
                   .value = std::nullopt,
                   .partition = 1,
                   .time_ms = 1'002,
                   .headers = headers}}));
    EXPECT_EQ(values(other), Texts{"elsewhere"});
  }
}

// The numbers are those of Java's Utils.murmur2, as its own tests have them.
TEST_F(KafkaSink, KeysGoWhereJavaSendsThem) {
  const std::string topic = brokers_->make_topic("hashed", 7);
  StreamExecutionEnvironment env;
  to_topics(env.from_collection<std::string>({"21", "foobar", "a-little-bit-long-string", "abc"}),
            "sink", settings(topic, Guarantee::at_least_once),
            [](std::string_view key, Message& message) { message.key(key); });
  ASSERT_TRUE(env.execute("write").ok());
  std::map<std::string, int> found;
  for (const Written& record : brokers_->read(topic)) found[record.key] = record.partition;
  const auto partition = [](std::int32_t hash) { return (hash & 0x7fffffff) % 7; };
  EXPECT_EQ(found, (std::map<std::string, int>{{"21", partition(-973932308)},
                                               {"foobar", partition(-790332482)},
                                               {"a-little-bit-long-string", partition(-985981536)},
                                               {"abc", partition(479470107)}}));
}

struct Order {
  std::string country;
  std::int64_t number = 0;
};

void write_order(const Order& order, Message& message) {
  message.key(std::to_string(order.number));
  message.value(order.country);
}

// Of "21" and "abc" murmur2 is -973932308 and 479470107, as above; of 42 as a LongSerializer writes
// it, 506863552 (kafka-clients' Utils.murmur2).
TEST_F(KafkaSink, APartitionerChooses) {
  constexpr int partitions = 5;
  const auto written = [&](const auto&... partitioner) {
    const std::string topic = brokers_->make_topic("chosen", partitions);
    const SinkSettings settings = this->settings(topic, Guarantee::at_least_once);
    StreamExecutionEnvironment env;
    const auto orders =
        env.from_collection<Order>({{"21", 42}, {"abc", 42}, {"21", 42}, {"x", 42}, {"x", 42}});
    to_topics(orders, "sink", settings, write_order, partitioner...);
    const JobResult result = env.execute("partitioned");
    std::vector<std::pair<int, std::string>> found;
    for (const Written& record : brokers_->read(topic)) {
      found.emplace_back(record.partition, *record.value);
    }
    std::sort(found.begin(), found.end());
    return result.ok() ? found : decltype(found){{-1, result.status.to_string()}};
  };
  const auto in = [](std::int32_t hash) { return (hash & 0x7fffffff) % partitions; };
  const auto by_country = written(by_field([](const Order& order) { return order.country; }));
  EXPECT_EQ(std::count(by_country.begin(), by_country.end(),
                       std::pair(in(-973932308), std::string("21"))),
            2);
  EXPECT_EQ(std::count(by_country.begin(), by_country.end(),
                       std::pair(in(479470107), std::string("abc"))),
            1);
  for (const auto& each : written(by_field([](const Order& order) { return order.number; }))) {
    EXPECT_EQ(each.first, in(506863552)) << each.second;
  }
  EXPECT_EQ(written(RoundRobin{}), (std::vector<std::pair<int, std::string>>{
                                       {0, "21"}, {1, "abc"}, {2, "21"}, {3, "x"}, {4, "x"}}));
  const auto own = written(
      [](const Order& order, std::int32_t count) { return order.country == "x" ? count - 1 : 0; });
  EXPECT_EQ(std::count(own.begin(), own.end(), std::pair(4, std::string("x"))), 2);
  EXPECT_EQ(std::count_if(own.begin(), own.end(), [](const auto& each) { return each.first == 0; }),
            3);
  const auto wrong = written([](const Order&, std::int32_t count) { return count; });
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_NE(wrong[0].second.find("chose partition 5 of topic"), std::string::npos)
      << wrong[0].second;
}

// What docs/connectors.md shows.
TEST_F(KafkaSink, EqualFieldsGoToTheSamePartition) {
  const SinkSettings settings =
      this->settings(brokers_->make_topic("fields", 3), Guarantee::exactly_once_open);
  StreamExecutionEnvironment env;
  const auto orders = env.from_collection<Order>({{"a", 1}, {"b", 2}, {"a", 3}, {"b", 4}});
  to_topics(orders, "sink", settings, write_order,
            kafka::by_field([](const Order& order) { return order.country; }));
  const JobResult result = env.execute("fields");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  std::map<std::string, std::set<int>> found;
  for (const Written& record : brokers_->read(settings.topic)) {
    found[*record.value].insert(record.partition);
  }
  EXPECT_EQ(found["a"].size(), 1u);
  EXPECT_EQ(found["b"].size(), 1u);
}

TEST_F(KafkaSink, ARestartedJobWritesEachRecordOnce) {
  constexpr std::uint64_t count = 20'000;
  struct Form {
    Guarantee guarantee;
    std::size_t held_bytes;
    std::size_t key_bytes;  // with large ones much is sent ahead of its barrier
  };
  for (const Form form :
       {Form{Guarantee::exactly_once, 64 << 20, 1}, Form{Guarantee::exactly_once, 64 << 20, 2'000},
        Form{Guarantee::exactly_once, 1'000, 2'000}, Form{Guarantee::exactly_once_open, 0, 1}}) {
    const std::string topic = brokers_->make_topic("restarted", 3);
    const std::string directory =
        testing::TempDir() + "kafka-checkpoints-" + std::to_string(::getpid());
    std::filesystem::remove_all(directory);
    EnvironmentOptions options;
    options.parallelism = 2;
    options.checkpoints.directory = directory;
    options.checkpoints.interval_ms = 50;
    options.restart = RestartStrategy::fixed_delay(3, 10);
    StreamExecutionEnvironment env(options);
    std::atomic<int> failures{0};
    std::atomic<std::uint64_t> seen{0};
    const auto numbers =
        env.generate([](std::uint64_t i) { return i; },
                     GeneratorOptions{.count = count, .records_per_second = 20'000})
            .map([&](const std::uint64_t& number) {
              if (++seen % 7'000 == 0 && ++failures <= 2) throw std::runtime_error("planted");
              return number;
            });
    SinkSettings to = settings(topic, form.guarantee);
    to.held_bytes = form.held_bytes;
    to_topics(numbers, "sink", to,
              [more = std::string(form.key_bytes, 'x')](std::uint64_t number, Message& message) {
                write_number(number, message);
                message.key(std::to_string(number % 7) + more);
              });
    const JobResult result = env.execute("restarted");
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_GE(failures, 2);
    std::filesystem::remove_all(directory);
    EXPECT_EQ(values(topic), numbers_to(count));
  }
}

// An attempt that was given up may still be on its way to open its sink.
TEST_F(KafkaSink, AnAttemptThatOpensLateDoesNotEndItsSuccessor) {
  const SinkSettings settings =
      this->settings(brokers_->make_topic("late", 1), Guarantee::exactly_once);
  EpochRecords records(testing::TempDir(), 1 << 20);
  ASSERT_TRUE(records
                  .add({.topic = settings.topic,
                        .partition = 0,
                        .time_ms = no_timestamp,
                        .key = std::nullopt,
                        .value = "once",
                        .headers = {}})
                  .ok());
  Transactions successor(settings, 0);
  ASSERT_TRUE(successor.open(1, {.run = 7, .attempt = 1}).ok());
  Transactions late(settings, 0);
  ASSERT_TRUE(late.open(1, {.run = 7, .attempt = 0}).ok());
  // Of another run, which has nothing to do with it.
  Transactions other(settings, 1);
  ASSERT_TRUE(other.open(2, {.run = 9, .attempt = 0}).ok());
  ASSERT_TRUE(other.write(records, {9, 0, 1}).ok());
  successor.begin(records, {7, 1, 1});
  const Status first = successor.write(records, {7, 1, 1});
  EXPECT_TRUE(first.ok()) << first.to_string();
  const Status fenced = late.write(records, {7, 0, 1});
  EXPECT_NE(fenced.to_string().find("a later attempt"), std::string::npos) << fenced.to_string();
  Transactions later(settings, 0);
  const Status refused = later.open(1, {.run = 7, .attempt = 0});
  EXPECT_NE(refused.to_string().find("a later attempt"), std::string::npos) << refused.to_string();
  const Status second = successor.write(records, {7, 1, 2});
  EXPECT_TRUE(second.ok()) << second.to_string();
  // Who has committed does not come back: it may be the one who was given up.
  Transactions third(settings, 0);
  ASSERT_TRUE(third.open(1, {.run = 7, .attempt = 2}).ok());
  EXPECT_NE(successor.write(records, {7, 1, 3}).to_string().find("another job"), std::string::npos);
  EXPECT_EQ(values(settings.topic), (Texts{"once", "once", "once"}));
}

// A chunk for each number.
void add_large(EpochRecords& records, const std::string& topic, int first, int end) {
  for (int i = first; i < end; ++i) {
    const std::string value = std::to_string(i) + std::string(300'000, 'x');
    const Status status = records.add({.topic = topic,
                                       .partition = -1,
                                       .time_ms = no_timestamp,
                                       .key = std::nullopt,
                                       .value = value,
                                       .headers = {}});
    ASSERT_TRUE(status.ok()) << status.to_string();
  }
  ASSERT_TRUE(records.is_at_chunk());
}

TEST_F(KafkaSink, WhatIsSentAheadOfItsBarrierIsWrittenOnceAndInOrder) {
  SinkSettings settings = this->settings(brokers_->make_topic("ahead", 1), Guarantee::exactly_once);
  const auto heads = [&] {
    Texts found;
    for (const Written& record : brokers_->read(settings.topic)) {
      found.push_back(record.value->substr(0, record.value->find('x')));
    }
    return found;
  };
  const auto records_of = [&](int first, int end) {
    auto records = std::make_unique<EpochRecords>(testing::TempDir(), 700'000);  // some in a file
    add_large(*records, settings.topic, first, end);
    return records;
  };
  Transactions first(settings, 0);
  ASSERT_TRUE(first.open(1, {.run = 7, .attempt = 0}).ok());
  const auto one = records_of(0, 4);
  for (std::size_t i = 0; i < 3; ++i) first.send(i, one->chunks()[i]);
  first.begin(*one, {7, 0, 1});
  const auto two = records_of(4, 8);
  first.send(0, two->chunks()[0]);  // too early: the one before it is not written
  ASSERT_TRUE(first.write(*one, {7, 0, 1}).ok());
  first.send(1, two->chunks()[1]);  // a gap: nobody has sent what is before it
  first.begin(*two, {7, 0, 2});
  ASSERT_TRUE(first.write(*two, {7, 0, 2}).ok());
  EXPECT_EQ(heads(), (Texts{"0", "1", "2", "3", "4", "5", "6", "7"}));

  // Its checkpoint is not complete when the job ends, and when it dies.
  const auto three = records_of(8, 10);
  first.send(0, three->chunks()[0]);
  first.abort();
  first.begin(*three, {7, 0, 3});
  first.abort();
  first.send(0, three->chunks()[0]);
  Transactions second(settings, 0);
  ASSERT_TRUE(second.open(1, {.run = 7, .attempt = 1}).ok());
  EXPECT_EQ(heads().size(), 8u);
  ASSERT_TRUE(second.write(*three, {7, 0, 3}).ok());

  // Half of the time of its transaction is over.
  settings.connection.options["transaction.timeout.ms"] = "4000";
  Transactions third(settings, 0);
  ASSERT_TRUE(third.open(1, {.run = 7, .attempt = 2}).ok());
  const auto four = records_of(10, 12);
  third.send(0, four->chunks()[0]);
  std::this_thread::sleep_for(std::chrono::milliseconds(2'100));
  third.send(1, four->chunks()[1]);
  third.begin(*four, {7, 2, 4});
  ASSERT_TRUE(third.write(*four, {7, 2, 4}).ok());
  EXPECT_EQ(heads(), (Texts{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"}));
}

// The program that docs/connectors.md shows.
TEST_F(KafkaSink, TheExampleCountsWords) {
  const std::string lines = brokers_->make_topic("lines", 2);
  brokers_->write(lines, {{.key = "", .value = "to be or", .partition = 0},
                          {.key = "", .value = "not to be", .partition = 1}});
  for (const std::string guarantee : {"exactly_once", "at_least_once"}) {
    const std::string counts = brokers_->make_topic("counts", 2);
    const std::string command = test_path("word_count") + " --brokers " + brokers_->addresses() +
                                " --from " + lines + " --to " + counts + " --guarantee " +
                                guarantee + " --transactional-id " + counts + "-sink --quiet";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    std::map<std::string, std::string> found;
    for (const Written& record : brokers_->read(counts)) found[record.key] = *record.value;
    EXPECT_EQ(found, (std::map<std::string, std::string>{
                         {"be", "2"}, {"not", "1"}, {"or", "1"}, {"to", "2"}}));
  }
}

TEST_F(KafkaSink, SaysWhatIsWrongWithItsSettings) {
  const auto refused = [&](const SinkSettings& settings) {
    StreamExecutionEnvironment env;
    to_topics(env.from_collection<int>({1}), "numbers", settings, [](int, Message&) {});
    return env.execute("refused").status.to_string();
  };
  SinkSettings unnamed = settings("x", Guarantee::exactly_once);
  unnamed.transactional_id.clear();
  EXPECT_NE(refused(unnamed).find("transactional_id"), std::string::npos) << refused(unnamed);
  SinkSettings unknown = settings("x", Guarantee::at_least_once);
  unknown.connection.options["no.such.option"] = "1";
  EXPECT_NE(refused(unknown).find("no.such.option"), std::string::npos) << refused(unknown);
  SinkSettings fixed = settings("x", Guarantee::at_least_once);
  fixed.connection.options["enable.idempotence"] = "false";
  EXPECT_NE(refused(fixed).find("enable.idempotence"), std::string::npos) << refused(fixed);
}

TEST_F(KafkaSink, NamesATopicThatIsNotThere) {
  StreamExecutionEnvironment env;
  to_topics(env.from_collection<int>({1}), "numbers",
            settings("no-such-topic", Guarantee::at_least_once), [](int, Message&) {});
  const std::string status = env.execute("refused").status.to_string();
  EXPECT_NE(status.find("no-such-topic"), std::string::npos) << status;
}

}  // namespace
}  // namespace hummer::kafka
