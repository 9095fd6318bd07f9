// Transactions that stay open over an epoch: what becomes of one whose job has gone, against a real
// broker; and the parts that need none.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "broker_options.hpp"
#include "epoch_records.hpp"
#include "epoch_transaction.hpp"
#include "testing/brokers.hpp"
#include "transaction_ids.hpp"

namespace hummer::kafka {
namespace {

class KafkaOpen : public testing::Test {
 protected:
  void SetUp() override {
    brokers_ = Brokers::shared();
    if (brokers_ == nullptr) GTEST_SKIP() << Brokers::why_not();
  }
  // A sink with a topic of its own.
  SinkSettings begin(const std::string& name) {
    SinkSettings settings{.connection = {.brokers = brokers_->addresses()},
                          .topic = brokers_->make_topic(name, 1),
                          .guarantee = Guarantee::exactly_once_open};
    settings.transactional_id = settings.topic + "-sink";
    Result<std::unique_ptr<Producer>> producer =
        Producer::make(settings, {{"transactional.id", "x"}});
    EXPECT_TRUE(producer.ok());
    EXPECT_TRUE(make_progress_topic((*producer)->client(), settings, 1).ok());
    coordinator_.emplace(settings.connection);
    return settings;
  }
  std::unique_ptr<EpochTransaction> make(const SinkSettings& settings, std::uint32_t number) {
    Result<std::unique_ptr<EpochTransaction>> made =
        EpochTransaction::make(settings, 0, number, *coordinator_);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return std::move(*made);
  }
  PreparedTransaction prepare(EpochTransaction& transaction, const SinkSettings& settings,
                              const std::string& value, std::uint64_t epoch) {
    EXPECT_TRUE(transaction
                    .write({.topic = settings.topic,
                            .partition = 0,
                            .time_ms = no_timestamp,
                            .key = std::nullopt,
                            .value = value,
                            .headers = {}})
                    .ok());
    Result<PreparedTransaction> prepared =
        transaction.prepare({.run = 7, .attempt = 0, .epoch = epoch}, *coordinator_);
    EXPECT_TRUE(prepared.ok()) << prepared.status().to_string();
    return *prepared;
  }
  Outcome conclude_now(const SinkSettings& settings, const PreparedTransaction& prepared) {
    const Result<Outcome> outcome = conclude(*coordinator_, settings, prepared);
    EXPECT_TRUE(outcome.ok()) << outcome.status().to_string();
    return outcome.ok() ? *outcome : Outcome::lost;
  }
  std::vector<std::string> values(const std::string& topic) {
    std::vector<std::string> found;
    for (const Written& record : brokers_->read(topic)) found.push_back(record.value.value_or("-"));
    return found;
  }
  std::string state_of(const std::string& id) {
    const Result<DescribedTransaction> now = coordinator_->describe(id);
    EXPECT_TRUE(now.ok()) << now.status().to_string();
    return now->state;
  }

  Brokers* brokers_ = nullptr;
  std::optional<Coordinator> coordinator_;
};

using Texts = std::vector<std::string>;

TEST_F(KafkaOpen, IsCommittedByWhoeverHasItsNameAndOnlyOnce) {
  const SinkSettings settings = begin("committed");
  std::unique_ptr<EpochTransaction> transaction = make(settings, 3);
  const PreparedTransaction prepared = prepare(*transaction, settings, "a", 1);
  transaction.reset();  // the process has gone
  EXPECT_EQ(state_of(transactional_id(settings, 0, 3)), "Ongoing");
  EXPECT_EQ(conclude_now(settings, prepared), Outcome::committed);
  EXPECT_EQ(conclude_now(settings, prepared), Outcome::committed);
  EXPECT_EQ(values(settings.topic), Texts{"a"});
}

// An older checkpoint or savepoint names a transaction whose id has been used since.
TEST_F(KafkaOpen, WhatWasCommittedIsKnownWhenItsIdHasMovedOn) {
  const SinkSettings settings = begin("moved");
  std::unique_ptr<EpochTransaction> transaction = make(settings, 0);
  const PreparedTransaction first = prepare(*transaction, settings, "a", 1);
  ASSERT_TRUE(transaction->commit());
  const PreparedTransaction second = prepare(*transaction, settings, "b", 2);
  EXPECT_EQ(first.producer, second.producer);
  // The first is committed, and that must not commit the second.
  EXPECT_EQ(conclude_now(settings, first), Outcome::committed);
  EXPECT_EQ(state_of(transactional_id(settings, 0, 0)), "Ongoing");
  // Nor is the second taken for committed since the first is.
  transaction.reset();
  ASSERT_TRUE(coordinator_->fence(transactional_id(settings, 0, 0), 60'000).ok());
  EXPECT_EQ(conclude_now(settings, first), Outcome::committed);
  EXPECT_EQ(conclude_now(settings, second), Outcome::lost);
  EXPECT_EQ(values(settings.topic), Texts{"a"});
}

TEST_F(KafkaOpen, OneWhoseTimeWasUpIsLostAndSaysSo) {
  SinkSettings settings = begin("expired");
  settings.connection.options["transaction.timeout.ms"] = "1000";
  settings.connection.options["message.timeout.ms"] = "1000";
  std::unique_ptr<EpochTransaction> transaction = make(settings, 0);
  const PreparedTransaction prepared = prepare(*transaction, settings, "a", 17);
  while (state_of(transactional_id(settings, 0, 0)) == "Ongoing") {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_FALSE(transaction->commit());
  EXPECT_EQ(conclude_now(settings, prepared), Outcome::lost);
  const std::string told = loss_of(settings, prepared).message();
  for (const std::string& part :
       {std::string("epoch 17"), "topic '" + settings.topic + "': 0",
        std::string("transaction.timeout.ms (1000)"), std::string("LostTransactions::go_on")}) {
    EXPECT_NE(told.find(part), std::string::npos) << told;
  }
  // Nor does one that is over ahead of its checkpoint get into it.
  transaction = make(settings, 1);
  ASSERT_TRUE(
      transaction->write({.topic = settings.topic, .key = "k", .value = "b", .headers = {}}).ok());
  ASSERT_EQ(rd_kafka_flush(transaction->producer().client().get(), 30'000),
            RD_KAFKA_RESP_ERR_NO_ERROR);
  while (state_of(transactional_id(settings, 0, 1)) == "Ongoing") {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  const Result<PreparedTransaction> late =
      transaction->prepare({.run = 7, .attempt = 0, .epoch = 18}, *coordinator_);
  EXPECT_FALSE(late.ok());
  EXPECT_EQ(values(settings.topic), Texts{});
}

TEST(KafkaParts, AnIdRestsUntilACheckpointBehindItsCommitIsComplete) {
  TransactionIds ids;
  EXPECT_EQ(ids.take(), 0u);
  EXPECT_EQ(ids.take(), 1u);
  ids.rest(0, 5);  // barrier 5 had passed, and its snapshot may name the transaction
  ids.complete(4);
  ids.complete(5);
  EXPECT_EQ(ids.take(), 2u);
  ids.complete(6);
  EXPECT_EQ(ids.take(), 0u);
  EXPECT_EQ(ids.take(), 3u);
  EXPECT_EQ(ids.count(), 4u);

  TransactionIds restored;
  restored.keep(2);
  restored.keep(0);
  EXPECT_EQ(restored.take(), 1u);
  EXPECT_EQ(restored.take(), 3u);
}

TEST(KafkaParts, AnEpochBeyondItsMemoryIsInAFile) {
  constexpr std::size_t held_bytes = 1 << 20;
  EpochRecords records(testing::TempDir(), held_bytes);
  std::string expected;
  for (int i = 0; i < 30'000; ++i) {
    const std::string value = std::to_string(i) + std::string(100, 'x');
    const Outgoing record{.topic = "t",
                          .partition = -1,
                          .time_ms = no_timestamp,
                          .key = std::nullopt,
                          .value = value,
                          .headers = {}};
    encode(record, expected);
    ASSERT_TRUE(records.add(record).ok());
  }
  const auto all = [](const std::vector<EpochChunk>& chunks) {
    std::string bytes;
    std::string space;
    for (const EpochChunk& chunk : chunks) bytes += *chunk.bytes(space);
    return bytes;
  };
  EXPECT_EQ(records.size_bytes(), expected.size());
  EXPECT_EQ(all(records.chunks()), expected);
  std::size_t held = 0;
  for (const EpochChunk& chunk : records.chunks()) held += chunk.held() ? chunk.size_bytes() : 0;
  EXPECT_GT(held, held_bytes / 2);
  EXPECT_LT(held, held_bytes * 3 / 2);
  // As a checkpoint has them.
  EpochRecords restored(testing::TempDir(), held_bytes);
  std::string space;
  for (const EpochChunk& chunk : records.chunks()) {
    ASSERT_TRUE(restored.add_chunk(*chunk.bytes(space)).ok());
  }
  const std::vector<EpochChunk> outliving = restored.chunks();
  EXPECT_TRUE(restored.is_at_chunk());
  EXPECT_EQ(all(outliving), expected);
}

TEST(KafkaParts, BrokersAreFoundInTheirNames) {
  EXPECT_EQ(
      parse_brokers("a:1, b ,PLAINTEXT://c:3,[::1]:4,::1,"),
      (std::vector<BrokerAddress>{{"a", 1}, {"b", 9092}, {"c", 3}, {"::1", 4}, {"::1", 9092}}));
}

TEST(KafkaParts, OptionsThatAConnectionOfOurOwnCannotFollowAreRefusedByName) {
  const auto told = [](const std::map<std::string, std::string>& options) {
    return check_broker_options({.brokers = "a", .options = options}).to_string();
  };
  EXPECT_EQ(told({{"compression.type", "zstd"}, {"security.protocol", "ssl"}}), "ok");
  EXPECT_EQ(told({{"security.protocol", "SASL_SSL"}, {"sasl.mechanism", "plain"}}), "ok");
  EXPECT_NE(told({{"security.protocol", "sasl_ssl"}}).find("GSSAPI"), std::string::npos);
  EXPECT_NE(told({{"security.protocol", "sasl_ssl"}, {"sasl.mechanisms", "SCRAM-SHA-256"}})
                .find("SCRAM-SHA-256"),
            std::string::npos);
  EXPECT_NE(told({{"ssl.keystore.location", "x.p12"}}).find("ssl.keystore.location"),
            std::string::npos);
  EXPECT_NE(told({{"security.protocol", "sasl_ssl"}, {"sasl.mechanism", "OAUTHBEARER"}})
                .find("token_file"),
            std::string::npos);
}

}  // namespace
}  // namespace hummer::kafka
