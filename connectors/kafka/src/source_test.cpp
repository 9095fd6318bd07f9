// The source against a real broker.
#include <hummer/kafka/source.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <stdexcept>

#include <hummer/hummer.hpp>

#include "support/test_paths.hpp"
#include "testing/brokers.hpp"

namespace hummer::kafka {
namespace {

using Texts = std::vector<std::string>;

// What a job's sink has seen. Thread: any.
class Seen {
 public:
  void add(std::string_view text) {
    const std::lock_guard lock(mutex_);
    texts_.emplace_back(text);
    came_.notify_all();
  }
  // Waits for so many.
  bool wait(std::size_t count) {
    std::unique_lock lock(mutex_);
    return came_.wait_for(lock, std::chrono::seconds(60), [&] { return texts_.size() >= count; });
  }
  Texts take() {
    const std::lock_guard lock(mutex_);
    Texts texts = std::exchange(texts_, {});
    std::sort(texts.begin(), texts.end());
    return texts;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  Texts texts_;
};

std::string key_and_value(const Record& record) {
  return std::string(record.key.value_or("-")) + "=" + std::string(record.value.value_or("none"));
}

class KafkaSource : public testing::Test {
 protected:
  void SetUp() override {
    brokers_ = Brokers::shared();
    if (brokers_ == nullptr) GTEST_SKIP() << Brokers::why_not();
    directory_ = testing::TempDir() + "kafka-source-" + std::to_string(::getpid());
    std::filesystem::remove_all(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  SourceSettings unbounded(const std::string& topic) const {
    return {.connection = {.brokers = brokers_->addresses()}, .topics = {topic}};
  }
  SourceSettings bounded(const std::string& topic) const {
    SourceSettings settings = unbounded(topic);
    settings.end = Offsets::latest();
    return settings;
  }
  EnvironmentOptions options(int parallelism) const {
    EnvironmentOptions options;
    options.parallelism = parallelism;
    options.checkpoints.directory = directory_;
    return options;
  }
  static void build(StreamExecutionEnvironment& env, const SourceSettings& settings, Seen& seen) {
    from_topics(env, "source", settings, key_and_value).for_each([&seen](std::string_view text) {
      seen.add(text);
    });
  }
  // Every record as text, sorted.
  Texts read(const SourceSettings& settings, int parallelism = 1) {
    Seen seen;
    StreamExecutionEnvironment env(options(parallelism));
    build(env, settings, seen);
    const JobResult result = env.execute("read");
    EXPECT_TRUE(result.ok()) << result.status.to_string();
    return seen.take();
  }
  std::string failure(const SourceSettings& settings) {
    Seen seen;
    StreamExecutionEnvironment env(options(1));
    env.options().restart = RestartStrategy::no_restart();
    build(env, settings, seen);
    return env.execute("read").status.to_string();
  }
  // Reads until it has seen so many, and stops with a savepoint; the savepoint.
  std::string read_until(const SourceSettings& settings, int parallelism, const std::string& from,
                         std::size_t count, Texts& texts) {
    Seen seen;
    EnvironmentOptions with = options(parallelism);
    with.checkpoints.restore = from;
    StreamExecutionEnvironment env(with);
    build(env, settings, seen);
    JobHandle job = env.execute_async("read");
    EXPECT_TRUE(seen.wait(count));
    const Result<std::string> savepoint = job.stop_with_savepoint();
    EXPECT_TRUE(savepoint.ok()) << savepoint.status().to_string();
    EXPECT_TRUE(job.wait().ok());
    texts = seen.take();
    return savepoint.ok() ? *savepoint : std::string();
  }

  Brokers* brokers_ = nullptr;
  std::string directory_;
};

std::vector<Written> numbered(int from, int to, int partitions) {
  std::vector<Written> records;
  for (int i = from; i < to; ++i) {
    records.push_back({.key = "k", .value = std::to_string(i), .partition = i % partitions});
  }
  return records;
}

Texts texts_of(int from, int to) {
  Texts texts;
  for (int i = from; i < to; ++i) texts.push_back("k=" + std::to_string(i));
  std::sort(texts.begin(), texts.end());
  return texts;
}

TEST_F(KafkaSource, ReadsAllPartitionsUpToTheirEnd) {
  const std::string topic = brokers_->make_topic("all", 3);
  brokers_->write(topic, {{.key = "a", .value = "1", .partition = 0},
                          {.key = "b", .value = "2", .partition = 1},
                          {.key = "c", .value = std::nullopt, .partition = 1}});
  const Texts expected{"a=1", "b=2", "c=none"};
  EXPECT_EQ(read(bounded(topic)), expected);
  EXPECT_EQ(read(bounded(topic), 2), expected);
  EXPECT_EQ(read(bounded(topic), 5), expected);  // subtasks without a partition
}

TEST_F(KafkaSource, HandsOverAllThatARecordHas) {
  const std::string topic = brokers_->make_topic("whole", 1);
  brokers_->write(topic, {{.key = "", .value = "", .partition = 0, .time_ms = 7'000},
                          {.key = "k",
                           .value = "v",
                           .partition = 0,
                           .time_ms = 8'000,
                           .headers = {{"name", "text"}, {"name", "again"}}}});
  Seen seen;
  StreamExecutionEnvironment env(options(1));
  from_topics(env, "source", bounded(topic), [](const Record& record) {
    std::string text = std::string(record.topic) + "/" + std::to_string(record.partition) + "/" +
                       std::to_string(record.offset) + "@" + std::to_string(record.time_ms);
    for (const Header& header : record.headers()) {
      text += " " + std::string(header.name) + ":" + std::string(header.value.value_or("-"));
    }
    return text;
  }).for_each([&](std::string_view text) { seen.add(text); });
  ASSERT_TRUE(env.execute("read").ok());
  EXPECT_EQ(seen.take(), (Texts{topic + "/0/0@7000", topic + "/0/1@8000 name:text name:again"}));
}

// What was fetched is handed on in many small batches, with leftovers each time.
TEST_F(KafkaSource, SmallBatchesLeaveNothingBehind) {
  const std::string topic = brokers_->make_topic("small", 2);
  brokers_->write(topic, numbered(0, 5'000, 2));
  Seen seen;
  StreamExecutionEnvironment env(options(1));
  env.options().batch_records = 7;
  build(env, bounded(topic), seen);
  JobHandle job = env.execute_async("read");
  EXPECT_TRUE(seen.wait(5'000));
  job.stop();
  EXPECT_TRUE(job.wait().ok());
  EXPECT_EQ(seen.take(), texts_of(0, 5'000));
}

// Of a record type with views the text is copied; some records are left out.
TEST_F(KafkaSource, MayReturnViewsAndLeaveRecordsOut) {
  const std::string topic = brokers_->make_topic("views", 2);
  brokers_->write(topic, numbered(0, 5'000, 2));
  Seen seen;
  StreamExecutionEnvironment env(options(1));
  env.options().check_views = CheckViews::on;
  using Pair = std::pair<std::string_view, std::string_view>;
  from_topics(env, "source", bounded(topic), [](const Record& record) -> std::optional<Pair> {
    if (record.offset % 2 == 1) return std::nullopt;
    return Pair(*record.key, *record.value);
  }).for_each([&](const Pair& pair) {
    seen.add(std::string(pair.first) + "=" + std::string(pair.second));
  });
  const JobResult result = env.execute("read");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  Texts expected;
  for (int i = 0; i < 5'000; ++i) {
    if (i / 2 % 2 == 0) expected.push_back("k=" + std::to_string(i));
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(seen.take(), expected);
}

TEST_F(KafkaSource, BeginsAndEndsWhereItIsTold) {
  const std::string topic = brokers_->make_topic("places", 2);
  for (int i = 0; i < 10; ++i) {
    brokers_->write(
        topic,
        {{.key = "k", .value = std::to_string(i), .partition = i % 2, .time_ms = 1'000 + i * 10}});
  }
  SourceSettings settings = bounded(topic);
  settings.start = Offsets::at_time(1'055);  // offsets 3 of both partitions
  EXPECT_EQ(read(settings), texts_of(6, 10));
  settings.start = Offsets::at_time(9'999);
  EXPECT_EQ(read(settings), Texts());
  settings.start = Offsets::at({{{topic, 0}, 4}});  // partition 1 from its beginning
  EXPECT_EQ(read(settings), (Texts{"k=1", "k=3", "k=5", "k=7", "k=8", "k=9"}));
  settings.start = Offsets::latest();
  EXPECT_EQ(read(settings), Texts());
  settings.start = Offsets::earliest();
  settings.end = Offsets::at_time(1'025);
  EXPECT_EQ(read(settings), texts_of(0, 3));
  settings.end = Offsets::at({{{topic, 0}, 1}, {{topic, 1}, 0}});
  EXPECT_EQ(read(settings), Texts{"k=0"});
}

TEST_F(KafkaSource, ReadsCommittedTransactionsOnlyUnlessItIsTold) {
  const std::string topic = brokers_->make_topic("transactions", 1);
  brokers_->write(topic, {{.key = "k", .value = "0", .partition = 0}});
  brokers_->write_aborted(topic, {{.key = "k", .value = "1", .partition = 0}});
  // Behind the last record lie the marks of a transaction: the end is reached all the same.
  EXPECT_EQ(read(bounded(topic)), Texts{"k=0"});
  SourceSettings all = bounded(topic);
  all.connection.options["isolation.level"] = "read_uncommitted";
  EXPECT_EQ(read(all), texts_of(0, 2));
}

TEST_F(KafkaSource, FindsTopicsByPatternAndNewOnesWhileItRuns) {
  const std::string first = brokers_->make_topic("pattern-a", 1);
  (void)brokers_->make_topic("pattern-c", 1);
  brokers_->write(first, numbered(0, 2, 1));
  SourceSettings settings = unbounded("");
  settings.topics.clear();
  settings.topic_pattern = "pattern-[ab]-" + std::to_string(::getpid()) + "-\\d+";
  settings.discovery_interval_ms = 100;
  Seen seen;
  StreamExecutionEnvironment env(options(2));
  build(env, settings, seen);
  JobHandle job = env.execute_async("read");
  ASSERT_TRUE(seen.wait(2));
  const std::string second = brokers_->make_topic("pattern-b", 2);
  brokers_->write(second, numbered(2, 6, 2));
  ASSERT_TRUE(seen.wait(6));
  brokers_->add_partitions(first, 3);
  brokers_->write(first, {{.key = "k", .value = "6", .partition = 1},
                          {.key = "k", .value = "7", .partition = 2}});
  EXPECT_TRUE(seen.wait(8));
  EXPECT_EQ(seen.take(), texts_of(0, 8));
  job.cancel();
  (void)job.wait();
}

TEST_F(KafkaSource, ARestoreGoesOnAtAnyParallelism) {
  const std::string topic = brokers_->make_topic("rescaled", 5);
  brokers_->write(topic, numbered(0, 1'000, 5));
  Texts texts;
  const std::string one = read_until(unbounded(topic), 2, "", 1'000, texts);
  EXPECT_EQ(texts, texts_of(0, 1'000));
  brokers_->write(topic, numbered(1'000, 2'000, 5));
  const std::string two = read_until(unbounded(topic), 3, one, 1'000, texts);
  EXPECT_EQ(texts, texts_of(1'000, 2'000));
  // Partitions that have appeared meanwhile are new.
  brokers_->add_partitions(topic, 7);
  brokers_->write(topic, numbered(2'000, 3'000, 7));
  SourceSettings latest = unbounded(topic);
  latest.start = Offsets::latest();
  (void)read_until(latest, 1, two, 1'000, texts);
  EXPECT_EQ(texts, texts_of(2'000, 3'000));
}

TEST_F(KafkaSource, OffsetsThatAreGoneAreToldOf) {
  const std::string topic = brokers_->make_topic("lost", 1);
  brokers_->write(topic, numbered(0, 10, 1));
  Texts texts;
  const std::string savepoint = read_until(unbounded(topic), 1, "", 10, texts);
  brokers_->write(topic, numbered(10, 30, 1));
  brokers_->delete_records(topic, 0, 20);

  SourceSettings settings = unbounded(topic);
  settings.start = Offsets::at({{{topic, 0}, 5}});
  const std::string told = failure(settings);
  EXPECT_NE(told.find(topic), std::string::npos) << told;
  EXPECT_NE(told.find("offset 5 is gone"), std::string::npos) << told;

  settings.lost_offsets = LostOffsets::earliest;
  (void)read_until(settings, 1, savepoint, 10, texts);
  EXPECT_EQ(texts, texts_of(20, 30));
}

TEST_F(KafkaSource, TellsItsGroupOfOffsetsOfCompleteCheckpoints) {
  const std::string topic = brokers_->make_topic("group", 2);
  const std::string group = topic + "-group";
  brokers_->write(topic, numbered(0, 100, 2));
  EXPECT_EQ(brokers_->committed(group, topic, 2), (std::vector<std::int64_t>{-1001, -1001}));
  SourceSettings settings = unbounded(topic);
  settings.group = group;
  Texts texts;
  (void)read_until(settings, 1, "", 100, texts);
  EXPECT_EQ(brokers_->committed(group, topic, 2), (std::vector<std::int64_t>{50, 50}));

  // Who begins there, and ends at the end, has no record twice and says how far it came.
  brokers_->write(topic, numbered(100, 120, 2));
  settings.start = Offsets::committed();
  settings.end = Offsets::latest();
  EXPECT_EQ(read(settings), texts_of(100, 120));
  EXPECT_EQ(brokers_->committed(group, topic, 2), (std::vector<std::int64_t>{60, 60}));
}

TEST_F(KafkaSource, AFailureNamesTheRecord) {
  const std::string topic = brokers_->make_topic("poisoned", 1);
  brokers_->write(topic, numbered(0, 10, 1));
  const auto failure_of = [&](bool in_source) {
    StreamExecutionEnvironment env(options(1));
    env.options().restart = RestartStrategy::no_restart();
    from_topics(env, "source", bounded(topic),
                [=](const Record& record) {
                  const int number = std::stoi(std::string(*record.value));
                  if (in_source && number == 7) throw std::runtime_error("planted");
                  return number;
                })
        .map([=](const int& number) {
          if (!in_source && number == 7) throw std::runtime_error("planted");
          return number;
        })
        .for_each([](const int&) {});
    return env.execute("poisoned").status.to_string();
  };
  for (const bool in_source : {true, false}) {
    const std::string told = failure_of(in_source);
    EXPECT_NE(told.find("planted"), std::string::npos) << told;
    EXPECT_NE(told.find("topic '" + topic + "', partition 0, offset 7"), std::string::npos) << told;
  }
}

// Two partitions an hour apart, read by one subtask: neither makes the other's records late.
TEST_F(KafkaSource, EachPartitionHasAWatermarkOfItsOwn) {
  constexpr std::int64_t hour_ms = 3'600'000;
  const std::string topic = brokers_->make_topic("watermarks", 3);  // the third has no records
  std::vector<Written> records;
  for (int n = 0; n < 2'000; ++n) {
    for (int partition = 0; partition < 2; ++partition) {
      records.push_back({.key = "k",
                         .value = std::to_string(hour_ms * (partition + 1) + n * 10),
                         .partition = partition});
    }
  }
  brokers_->write(topic, records);
  Seen seen;
  StreamExecutionEnvironment env(options(1));
  from_topics(env, "source", bounded(topic),
              [](const Record& record) { return std::stoll(std::string(*record.value)); })
      .assign_timestamps([](const long long& time) { return time; }, WatermarkStrategy::ascending())
      .key_by([](const long long& time) { return time / hour_ms; })
      .window(TumblingWindows::of(1'000))
      .count()
      .for_each([&](const auto& count) { seen.add(std::to_string(count.value)); });
  const JobResult result = env.execute("windows");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(seen.take(), Texts(40, "100"));
}

TEST_F(KafkaSource, SaysWhatIsWrongWithItsSettings) {
  SourceSettings settings = bounded("x");
  settings.topic_pattern = "y";
  EXPECT_NE(failure(settings).find("topic_pattern"), std::string::npos) << failure(settings);
  settings = bounded("x");
  settings.start = Offsets::committed();
  EXPECT_NE(failure(settings).find("group"), std::string::npos) << failure(settings);
  settings = bounded("x");
  settings.connection.options["enable.auto.commit"] = "true";
  EXPECT_NE(failure(settings).find("enable.auto.commit"), std::string::npos) << failure(settings);
  settings = bounded("no-such-topic");
  EXPECT_NE(failure(settings).find("no-such-topic"), std::string::npos) << failure(settings);
}

// What `hummer tail` prints of arguments, and its exit code behind that.
std::string tail(const std::string& arguments) {
  const std::string command = "HUMMER_PLUGIN_PATH='" + test_path("plugins") + "' '" +
                              test_path("hummer") + "' tail " + arguments + " 2>&1";
  FILE* const pipe = ::popen(command.c_str(), "r");
  std::string text;
  char space[4096];
  for (std::size_t got = 0; (got = std::fread(space, 1, sizeof space, pipe)) > 0;) {
    text.append(space, got);
  }
  const int status = ::pclose(pipe);
  return text + "exit code " + std::to_string(WEXITSTATUS(status));
}

TEST_F(KafkaSource, TheProgramLooksAtTopics) {
  const std::string topic = brokers_->make_topic("looked_at", 2);
  brokers_->write(topic, {{.key = "a", .value = "{\"n\": 1}", .partition = 0},
                          {.key = "a", .value = std::nullopt, .partition = 0},
                          {.key = "b", .value = "none", .partition = 1},
                          {.key = "b", .value = "{\"n\": 2}", .partition = 1},
                          {.key = "b", .value = "{\"n\": 3}", .partition = 1}});
  brokers_->write_aborted(topic, {{.key = "c", .value = "never", .partition = 1}});
  const std::string address = "kafka://" + brokers_->addresses() + "/" + topic;
  EXPECT_EQ(tail(address), "{\"n\": 1}\nnone\n{\"n\": 2}\n{\"n\": 3}\nexit code 0");
  const std::string parsed = tail(address + " --format json");
  EXPECT_NE(parsed.find("a bad line"), std::string::npos) << parsed;
  EXPECT_TRUE(parsed.ends_with("exit code 1")) << parsed;

  const std::string missing = tail("kafka://" + brokers_->addresses() + "/not_there");
  EXPECT_NE(missing.find("not_there"), std::string::npos) << missing;
  EXPECT_TRUE(missing.ends_with("exit code 1")) << missing;
  EXPECT_NE(tail("kafka://host:9092").find("write kafka://HOST:PORT/TOPIC"), std::string::npos);
  const std::string options = directory_ + ".properties";
  std::ofstream(options) << "# none\n\nno.such.option=1\n";
  const std::string unknown = tail(address + " --client-options " + options);
  EXPECT_NE(unknown.find("no.such.option"), std::string::npos) << unknown;
  std::filesystem::remove(options);
}

}  // namespace
}  // namespace hummer::kafka
