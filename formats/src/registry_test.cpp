// Messages that name their schemas by number, beside the small registry of
// formats/golden/registry_server.py, whose address is in REGISTRY_URL.
#include <hummer/formats/registry.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <mutex>

#include <hummer/formats/avro.hpp>
#include <hummer/formats/protobuf.hpp>
#include <hummer/formats/registered_json.hpp>
#include <hummer/hummer.hpp>

namespace hummer::formats::registry_test {
namespace {

struct Old {
  std::string name;
  std::int32_t size = 0;
};
struct New {
  std::int64_t size = 0;
  std::string name;
  std::optional<double> price;
};
struct Other {
  std::string title;
};

using Language = SchemaRegistry::Language;
using Lines = std::vector<std::string>;

RegistryOptions options(const std::string& path = "") {
  const char* const url = std::getenv("REGISTRY_URL");
  return {.url = std::string(url == nullptr ? "" : url) + path, .attempts = 5};
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> messages_of(const std::vector<Old>& records,
                                     const std::shared_ptr<const Format>& format) {
  std::vector<std::string> messages;
  EnvironmentOptions environment;
  environment.parallelism = 1;
  StreamExecutionEnvironment env(environment);
  encode_messages(env.from_collection(records), format).for_each([&](std::string_view message) {
    messages.emplace_back(message);
  });
  const JobResult result = env.execute("write");
  EXPECT_TRUE(result.ok()) << result.status.to_string();
  return messages;
}

template <typename T>
Status read(const std::vector<std::string>& messages, const std::shared_ptr<const Format>& format,
            const FailurePolicy& policy, std::vector<T>& records, int parallelism = 1) {
  std::mutex mutex;
  EnvironmentOptions environment;
  environment.parallelism = parallelism;
  StreamExecutionEnvironment env(environment);
  const DataStream<std::string_view> texts = env.from_collection(messages).rebalance();
  decode<T>(texts, format).on_failure(policy).for_each([&](const T& record) {
    const std::lock_guard lock(mutex);
    records.push_back(record);
  });
  return env.execute("read").status;
}

TEST(Registry, MessagesOfEachLanguageAreReadByTheSchemaThatTheyName) {
  const std::vector<Old> old{{"a", 1}, {"b", -2}};
  for (const std::string language : {"avro", "protobuf", "json"}) {
    const auto format = [&](const std::shared_ptr<SchemaRegistry>& schemas,
                            const std::string& subject) {
      return language == "avro"       ? avro(schemas, {.subject = subject})
             : language == "protobuf" ? protobuf(schemas, {.subject = subject})
                                      : registered_json(schemas, subject);
    };
    const auto messages = messages_of(old, format(registry(options()), language + "-value"));
    ASSERT_EQ(messages.size(), 2u);
    EXPECT_EQ(messages[0][0], 0);
    std::vector<New> records;
    const Status status = read<New>(messages, format(registry(options()), ""), fail_job(), records);
    ASSERT_TRUE(status.ok()) << status.to_string();
    ASSERT_EQ(records.size(), 2u) << language;
    EXPECT_EQ(records[1].name + std::to_string(records[1].size), "b-2");
    EXPECT_FALSE(records[1].price);
    // Where a field is wanted that the schema has not, the messages are bad.
    std::vector<Other> others;
    EXPECT_TRUE(
        has(read<Other>(messages, format(registry(options()), ""), fail_job(), others).to_string(),
            "title"));
  }
}

TEST(Registry, ASchemaIsAskedForOncePerNumberAndByAllSubtasksTogether) {
  const std::vector<Old> old(1000, Old{"n", 3});
  const auto messages = messages_of(old, avro(registry(options()), {.subject = "many"}));
  std::vector<New> records;
  const Status status =
      read<New>(messages, avro(registry(options("/once"))), fail_job(), records, 3);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(records.size(), 1000u);
  const auto id = static_cast<unsigned char>(messages[0][4]);
  const Result<std::string> asked = registry(options("/asked"))->schema(id, Language::avro);
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(*asked, "1");
}

TEST(Registry, AServerThatComesBackIsAskedAgain) {
  const auto messages = messages_of({{"a", 1}}, avro(registry(options()), {.subject = "again"}));
  std::vector<New> records;
  // The first three requests are in vain.
  const Status status = read<New>(messages, avro(registry(options("/away"))), fail_job(), records);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(records.size(), 1u);
}

TEST(Registry, AServerThatIsAwayFailsTheJobWhateverThePolicyIs) {
  const auto messages = messages_of({{"a", 1}}, avro(registry(options()), {.subject = "away"}));
  RegistryOptions down = options("/down");
  down.attempts = 2;
  std::vector<New> records;
  const Status status = read<New>(messages, avro(registry(down)), skip_failures(), records);
  EXPECT_TRUE(has(status.to_string(), "/down/schemas/ids/")) << status.to_string();
  EXPECT_TRUE(has(status.to_string(), "status 503"));
  RegistryOptions nowhere{.url = "http://127.0.0.1:1", .attempts = 1};
  EXPECT_FALSE(read<New>(messages, avro(registry(nowhere)), skip_failures(), records).ok());
}

TEST(Registry, WhatNamesNoSchemaIsABadRecord) {
  auto messages = messages_of({{"a", 1}, {"b", 2}}, avro(registry(options()), {.subject = "bad"}));
  messages.push_back(std::string("\0\x7f\0\0\1", 5));
  messages.push_back("");
  messages.push_back("text");
  messages.push_back(messages[0].substr(0, 4));
  messages.push_back(messages[0] + "x");
  messages.push_back(messages[0]);
  std::vector<New> records;
  const Status status = read<New>(messages, avro(registry(options())), skip_failures(), records);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(records.size(), 3u);
  std::vector<New> none;
  const Status failed = read<New>(messages, registered_json(registry(options())), fail_job(), none);
  EXPECT_TRUE(has(failed.to_string(), "it is of the language AVRO, and not JSON"))
      << failed.to_string();
}

TEST(Registry, PasswordsAndTokensOpenWhatIsClosed) {
  RegistryOptions closed = options("/closed");
  const auto refused = registry(closed)->add("s", Language::avro, "\"int\"");
  EXPECT_EQ(refused.status().code(), ErrorCode::permission_denied);
  EXPECT_TRUE(has(refused.status().message(), "who are you?"));
  closed.user = "user";
  closed.password = "secret";
  EXPECT_TRUE(registry(closed)->add("s", Language::avro, "\"int\"").ok());
  RegistryOptions token = options("/closed");
  token.token_file = testing::TempDir() + "registry_token";
  std::ofstream(token.token_file) << "token-1\n";
  EXPECT_TRUE(registry(token)->add("s", Language::avro, "\"int\"").ok());
}

TEST(Registry, AnswersThatMakeNoSenseAreRefused) {
  EXPECT_EQ(registry(options("/huge"))->schema(1, Language::avro).status().code(),
            ErrorCode::limit_exceeded);
  EXPECT_EQ(registry(options("/odd"))->schema(1, Language::avro).status().code(),
            ErrorCode::protocol_error);
  EXPECT_EQ(registry(options())->schema(999'999, Language::avro).status().code(),
            ErrorCode::not_found);
}

TEST(Registry, AnIncompatibleSchemaFailsTheJobBeforeItsFirstRecord) {
  ASSERT_TRUE(registry(options())->add("frozen", Language::avro, "\"int\"").ok());
  EnvironmentOptions environment;
  environment.parallelism = 1;
  StreamExecutionEnvironment env(environment);
  encode_messages(env.from_collection(std::vector<Old>{{"a", 1}}),
                  avro(registry(options()), {.subject = "frozen"}))
      .for_each([](std::string_view) {});
  const Status status = env.execute("write").status;
  EXPECT_TRUE(has(status.to_string(), "subject 'frozen'")) << status.to_string();
  EXPECT_TRUE(has(status.to_string(), "incompatible")) << status.to_string();
}

}  // namespace
}  // namespace hummer::formats::registry_test
