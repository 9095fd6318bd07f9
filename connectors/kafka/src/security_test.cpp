// TLS and SASL, against brokers that demand them.
#include <hummer/kafka/source.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>

#include <hummer/hummer.hpp>
#include <hummer/kafka/sink.hpp>

#include "coordinator.hpp"
#include "testing/brokers.hpp"

namespace hummer::kafka {
namespace {

class KafkaSecurity : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "kafka-security-" + std::to_string(::getpid());
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  bool run(const std::string& command) const {
    return std::system(("cd " + directory_ + " && " + command + " > log 2>&1").c_str()) == 0;
  }
  // Writes through one guarantee's sink, and reads back.
  void expect_works(Brokers& brokers, const Connection& connection, const std::string& topic,
                    Guarantee guarantee) {
    {
      StreamExecutionEnvironment env;
      to_topics(env.from_collection<std::string>({"one", "two"}), "sink",
                {.connection = connection,
                 .topic = topic,
                 .guarantee = guarantee,
                 .transactional_id = topic + "-sink"},
                [](std::string_view text, Message& message) { message.value(text); });
      const JobResult result = env.execute("write");
      ASSERT_TRUE(result.ok()) << result.status.to_string();
    }
    EXPECT_EQ(brokers.read(topic).size(), 2u);  // waits until they can be seen
    std::mutex mutex;
    std::vector<std::string> found;
    StreamExecutionEnvironment env;
    from_topics(env, "source",
                {.connection = connection, .topics = {topic}, .end = Offsets::latest()},
                [](const Record& record) { return *record.value; })
        .for_each([&](std::string_view text) {
          const std::lock_guard lock(mutex);
          found.emplace_back(text);
        });
    const JobResult result = env.execute("read");
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_EQ(found, (std::vector<std::string>{"one", "two"}));
  }
  // By the connection of our own: a transaction is made by it and known to it.
  void expect_commits(Brokers& brokers, const Connection& connection) {
    expect_works(brokers, connection, brokers.make_topic("open", 1), Guarantee::exactly_once_open);
    Coordinator coordinator(connection);
    EXPECT_TRUE(coordinator.fence("own", 10'000).ok());
    const Result<DescribedTransaction> now = coordinator.describe("own");
    ASSERT_TRUE(now.ok()) << now.status().to_string();
    EXPECT_EQ(now->state, "Empty");
    const auto answer = coordinator.commit("own", now->producer);
    ASSERT_TRUE(answer.ok()) << answer.status().to_string();
    EXPECT_EQ(*answer, RD_KAFKA_RESP_ERR_INVALID_TXN_STATE);
  }
  static std::string own_failure_of(const Connection& connection) {
    return Coordinator(connection).describe("own").status().to_string();
  }
  static std::string failure_of(Connection connection, const std::string& topic) {
    connection.timeout_ms = 3'000;
    StreamExecutionEnvironment env;
    from_topics(env, "source",
                {.connection = connection, .topics = {topic}, .end = Offsets::latest()},
                [](const Record& record) { return record.offset; })
        .for_each([](std::int64_t) {});
    return env.execute("read").status.to_string();
  }

  std::string directory_;
};

TEST_F(KafkaSecurity, TlsWithAClientCertificate) {
  const auto make_certificate = [&](const std::string& name) {
    return run("openssl req -newkey rsa:2048 -nodes -subj /CN=" + name +
               " -addext subjectAltName=IP:127.0.0.1 -keyout " + name + ".key -out " + name +
               ".csr && openssl x509 -req -in " + name +
               ".csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -copy_extensions copy -out " +
               name + ".pem");
  };
  ASSERT_TRUE(
      run("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ca "
          "-keyout ca.key -out ca.pem"));
  ASSERT_TRUE(make_certificate("broker") && make_certificate("job"));
  ASSERT_TRUE(
      run("openssl pkcs12 -export -in broker.pem -inkey broker.key -out broker.p12 "
          "-passout pass:secret"));
  const std::unique_ptr<Brokers> brokers =
      Brokers::start(1, {"--protocol", "SSL", "--property", "ssl.client.auth=required",
                         "--property", "ssl.keystore.type=PKCS12", "--property",
                         "ssl.keystore.location=" + directory_ + "/broker.p12", "--property",
                         "ssl.keystore.password=secret", "--property", "ssl.key.password=secret",
                         "--property", "ssl.truststore.type=PEM", "--property",
                         "ssl.truststore.location=" + directory_ + "/ca.pem"});
  if (brokers == nullptr) GTEST_SKIP() << Brokers::why_not();
  const Connection connection{.brokers = brokers->addresses(),
                              .options = {{"security.protocol", "ssl"},
                                          {"ssl.ca.location", directory_ + "/ca.pem"},
                                          {"ssl.certificate.location", directory_ + "/job.pem"},
                                          {"ssl.key.location", directory_ + "/job.key"}}};
  brokers->use(connection.options);
  const std::string topic = brokers->make_topic("secure", 1);
  expect_works(*brokers, connection, topic, Guarantee::exactly_once);
  expect_commits(*brokers, connection);

  Connection untrusting = connection;
  untrusting.options.erase("ssl.ca.location");
  const std::string refused = failure_of(untrusting, topic);
  EXPECT_NE(refused.find("certificate verify failed"), std::string::npos) << refused;
  const std::string own = own_failure_of(untrusting);
  EXPECT_NE(own.find("certificate verify failed"), std::string::npos) << own;
}

TEST_F(KafkaSecurity, PlainSasl) {
  const std::string module = "org.apache.kafka.common.security.plain.PlainLoginModule required";
  const std::unique_ptr<Brokers> brokers = Brokers::start(
      1, {"--protocol", "SASL_PLAINTEXT", "--property", "sasl.enabled.mechanisms=PLAIN",
          "--property", "sasl.mechanism.inter.broker.protocol=PLAIN", "--property",
          "listener.name.client.plain.sasl.jaas.config=" + module +
              " username=\"broker\" password=\"b\" user_broker=\"b\" user_job=\"job-secret\";"});
  if (brokers == nullptr) GTEST_SKIP() << Brokers::why_not();
  const Connection connection{.brokers = brokers->addresses(),
                              .options = {{"security.protocol", "sasl_plaintext"},
                                          {"sasl.mechanism", "PLAIN"},
                                          {"sasl.username", "job"},
                                          {"sasl.password", "job-secret"}}};
  brokers->use(connection.options);
  const std::string topic = brokers->make_topic("plain", 1);
  expect_works(*brokers, connection, topic, Guarantee::at_least_once);
  expect_commits(*brokers, connection);

  Connection wrong = connection;
  wrong.options["sasl.password"] = "guessed";
  const std::string told = failure_of(wrong, topic);
  EXPECT_NE(told.find("uthentication"), std::string::npos) << told;
  EXPECT_NE(own_failure_of(wrong).find("authentication by PLAIN failed"), std::string::npos)
      << own_failure_of(wrong);
}

// A token without a signature, which brokers take that are set up for nothing else.
std::string token_of(const std::string& name) {
  const auto encoded = [](std::string_view text) {
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::string out;
    std::uint32_t bits = 0;
    int held = 0;
    for (const char c : text) {
      bits = bits << 8 | static_cast<unsigned char>(c);
      for (held += 8; held >= 6; held -= 6) out += digits[bits >> (held - 6) & 63];
    }
    if (held > 0) out += digits[bits << (6 - held) & 63];
    return out;
  };
  const std::int64_t now = std::chrono::duration_cast<std::chrono::seconds>(
                               std::chrono::system_clock::now().time_since_epoch())
                               .count();
  return encoded(R"({"alg":"none"})") + "." +
         encoded("{\"sub\":\"" + name + "\",\"iat\":" + std::to_string(now) +
                 ",\"exp\":" + std::to_string(now + 3'600) + "}") +
         ".";
}

TEST_F(KafkaSecurity, TokenFromAFile) {
  const std::unique_ptr<Brokers> brokers = Brokers::start(
      1, {"--protocol", "SASL_PLAINTEXT", "--property", "sasl.enabled.mechanisms=OAUTHBEARER",
          "--property", "sasl.mechanism.inter.broker.protocol=OAUTHBEARER", "--property",
          "listener.name.client.oauthbearer.sasl.jaas.config=org.apache.kafka.common.security."
          "oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub=\"broker\";"});
  if (brokers == nullptr) GTEST_SKIP() << Brokers::why_not();
  Connection connection{
      .brokers = brokers->addresses(),
      .options = {{"security.protocol", "sasl_plaintext"}, {"sasl.mechanism", "OAUTHBEARER"}},
      .token_file = directory_ + "/token"};
  std::ofstream(connection.token_file) << token_of("job") << "\n";
  brokers->use(connection.options, connection.token_file);
  const std::string topic = brokers->make_topic("token", 1);
  expect_works(*brokers, connection, topic, Guarantee::exactly_once);
  expect_commits(*brokers, connection);

  connection.token_file = directory_ + "/no-such-token";
  const std::string told = failure_of(connection, topic);
  EXPECT_NE(told.find("no-such-token"), std::string::npos) << told;
  EXPECT_NE(own_failure_of(connection).find("no-such-token"), std::string::npos);
  // A token that the broker does not take is told of behind its answer.
  connection.token_file = directory_ + "/wrong-token";
  std::ofstream(connection.token_file) << "nonsense\n";
  EXPECT_NE(own_failure_of(connection).find("OAUTHBEARER failed"), std::string::npos)
      << own_failure_of(connection);
}

}  // namespace
}  // namespace hummer::kafka
