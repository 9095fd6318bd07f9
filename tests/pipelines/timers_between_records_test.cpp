// When event timers fire, against a model that handles each record by itself: where batches end
// makes no difference.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "pipelines/collected.hpp"
#include "platform/simulation.hpp"

namespace hummer::timers_between_records_test {
namespace {

struct Beat {
  std::uint32_t key;
  Timestamp time_ms;
};
using Alert = std::tuple<std::uint32_t, Timestamp>;

constexpr std::uint64_t beats = 6'000;
constexpr std::int64_t silence_ms = 40;
constexpr std::int64_t disorder_ms = 25;

constexpr auto beat = [](std::uint64_t index) {
  const std::uint64_t drawn = index * 0x9E3779B97F4A7C15 >> 40;
  return Beat{static_cast<std::uint32_t>(drawn % 7),
              static_cast<Timestamp>(index * 3 + drawn % disorder_ms)};
};

// Tells a key that says nothing for a while.
struct Silence {
  using Output = Alert;
  ValueState<Timestamp> due{"due"};

  void process(const Beat& latest, KeyedOutput<Alert>& out) {
    const Timestamp time = std::max(due.get_or(0), latest.time_ms + silence_ms);
    due.set(time);
    out.set_event_timer(time);
  }
  void on_timer(Timestamp time, KeyedOutput<Alert>& out) {
    if (due.get_or(0) != time) return;
    out.emit(Alert{out.key<std::uint32_t>(), time});
    due.clear();
  }
};

// The same with a watermark behind every n-th record.
class Model {
 public:
  explicit Model(std::uint64_t every) : every_(every) {}
  std::vector<Alert> run() {
    for (std::uint64_t i = 0; i < beats; ++i) {
      const Beat one = beat(i);
      latest_ = std::max(latest_, one.time_ms);
      Timestamp& due = due_[one.key];
      due = std::max(due, one.time_ms + silence_ms);
      timers_.insert({due, one.key});
      if ((i + 1) % every_ == 0) fire(latest_ - disorder_ms);
    }
    fire(latest_ - disorder_ms);
    fire(end_of_time);
    std::sort(alerts_.begin(), alerts_.end());
    return alerts_;
  }

 private:
  void fire(Timestamp watermark) {
    while (!timers_.empty() && timers_.begin()->first <= watermark) {
      const auto [time, key] = *timers_.begin();
      timers_.erase(timers_.begin());
      if (due_[key] != time) continue;
      alerts_.emplace_back(key, time);
      due_.erase(key);
    }
  }

  const std::uint64_t every_;
  Timestamp latest_ = 0;
  std::map<std::uint32_t, Timestamp> due_;
  std::set<std::pair<Timestamp, std::uint32_t>> timers_;
  std::vector<Alert> alerts_;
};

class TimersBetweenRecords : public testing::TestWithParam<std::uint32_t> {
 protected:
  template <typename Generator>
  std::vector<Alert> alerts(WatermarkSettings<Generator> watermarks, bool chaining = true) {
    EnvironmentOptions options;
    const auto node = make_simulated_platform({.seed = GetParam()});
    options.platform = node.get();
    options.parallelism = 1;
    options.batch_records = GetParam();
    options.chaining = chaining;
    StreamExecutionEnvironment env(options);
    Collected<Alert> collected;
    env.generate(beat, {.count = beats})
        .filter([](const Beat&) { return true; })
        .assign_timestamps(&Beat::time_ms, watermarks)
        .key_by(&Beat::key)
        .process(Silence{})
        .for_each(collected.sink());
    const JobResult result = env.execute("silence");
    EXPECT_TRUE(result.ok()) << result.status.to_string();
    return collected.sorted();
  }
};
INSTANTIATE_TEST_SUITE_P(BatchRecords, TimersBetweenRecords, testing::Values(1u, 2u, 7u, 1024u));

TEST_P(TimersBetweenRecords, WithEveryRecordTheyAreThoseOfTheModel) {
  const std::vector<Alert> expected = Model(1).run();
  ASSERT_NE(expected, Model(1024).run()) << "the model shows nothing";
  EXPECT_EQ(alerts(WatermarkStrategy::bounded(disorder_ms).every(1)), expected);
  EXPECT_EQ(alerts(WatermarkStrategy::bounded(disorder_ms).every(1), false), expected);
}

TEST_P(TimersBetweenRecords, WithoutAWordTheWatermarkFollowsEvery1024thRecord) {
  EXPECT_EQ(alerts(WatermarkStrategy::bounded(disorder_ms)), Model(1024).run());
  EXPECT_EQ(alerts(WatermarkStrategy::bounded(disorder_ms).every(100)), Model(100).run());
}

TEST_P(TimersBetweenRecords, PunctuatedWatermarksFollowTheirRecord) {
  const auto punctuated = WatermarkStrategy::punctuated(
      [](const Beat&, Timestamp time) { return std::optional(time - disorder_ms); });
  EXPECT_EQ(alerts(punctuated), Model(1).run());
}

TEST(WatermarkSettings, EveryZerothRecordMakesNoSense) {
  EnvironmentOptions options;
  const auto node = make_simulated_platform({.seed = 1});
  options.platform = node.get();
  StreamExecutionEnvironment env(options);
  env.generate(beat, {.count = 10})
      .assign_timestamps(&Beat::time_ms, WatermarkStrategy::ascending().every(0))
      .for_each([](const Beat&) {});
  EXPECT_EQ(env.execute("every zeroth").status.code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace hummer::timers_between_records_test
