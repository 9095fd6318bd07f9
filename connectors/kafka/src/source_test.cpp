// The source against a real broker.
#include <hummer/kafka/source.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>

#include <hummer/hummer.hpp>

#include "testing/brokers.hpp"

namespace hummer::kafka {
namespace {

class KafkaSource : public testing::Test {
 protected:
  void SetUp() override {
    brokers_ = Brokers::shared();
    if (brokers_ == nullptr) GTEST_SKIP() << Brokers::why_not();
  }
  SourceSettings settings(const std::string& topic) const {
    return {.connection = {.brokers = brokers_->addresses()},
            .topics = {topic},
            .end = Offsets::latest()};
  }
  static EnvironmentOptions options(int parallelism) {
    EnvironmentOptions options;
    options.parallelism = parallelism;
    return options;
  }
  // Every record as text, sorted.
  std::vector<std::string> read(const SourceSettings& settings, int parallelism = 1) {
    std::mutex mutex;
    std::vector<std::string> found;
    StreamExecutionEnvironment env(options(parallelism));
    from_topics(env, "source", settings, [](const Record& record) {
      return std::string(record.key.value_or("-")) + "=" +
             std::string(record.value.value_or("none"));
    }).for_each([&](std::string_view text) {
      const std::lock_guard lock(mutex);
      found.emplace_back(text);
    });
    const JobResult result = env.execute("read");
    EXPECT_TRUE(result.ok()) << result.status.to_string();
    std::sort(found.begin(), found.end());
    return found;
  }

  Brokers* brokers_ = nullptr;
};

using Texts = std::vector<std::string>;

TEST_F(KafkaSource, ReadsAllPartitionsUpToTheirEnd) {
  const std::string topic = brokers_->make_topic("all", 3);
  brokers_->write(topic, {{.key = "a", .value = "1", .partition = 0},
                          {.key = "b", .value = "2", .partition = 1},
                          {.key = "c", .value = std::nullopt, .partition = 1}});
  const Texts expected{"a=1", "b=2", "c=none"};
  EXPECT_EQ(read(settings(topic)), expected);
  EXPECT_EQ(read(settings(topic), 2), expected);
  EXPECT_EQ(read(settings(topic), 5), expected);  // subtasks without a partition
}

}  // namespace
}  // namespace hummer::kafka
