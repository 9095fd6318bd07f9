// Windows through the public API, embedded, against a naive computation: random
// streams, random windows, both strategies, parallelism 1, 2 and 4.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "pipelines/collected.hpp"
#include "platform/simulation.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::window_test {
namespace {

struct Click {
  std::int64_t time_ms;
  std::uint32_t user;
  std::int32_t value;
};
using Row = std::tuple<std::uint32_t, Timestamp, Timestamp, std::int64_t>;
constexpr auto row = [](const auto& result) {
  return Row(result.key, result.window.start_ms, result.window.end_ms,
             static_cast<std::int64_t>(result.value));
};

// Shuffled within `disorder_ms`, as a pure function of the index.
struct Clicks {
  std::uint64_t seed;
  std::int64_t disorder_ms;
  std::uint32_t users;
  Click operator()(std::uint64_t index) const {
    std::uint64_t x = (index + seed * 1'000'003) * 0x9E3779B97F4A7C15u;
    x ^= x >> 29;
    x *= 0xBF58476D1CE4E5B9u;
    x ^= x >> 32;
    return {static_cast<std::int64_t>(index * 3) - 500 -
                static_cast<std::int64_t>(x % static_cast<std::uint64_t>(disorder_ms + 1)),
            static_cast<std::uint32_t>(x >> 20) % users, static_cast<std::int32_t>(x >> 40) % 1000};
  }
};

struct Setting {
  std::uint64_t seed;  // of the simulated platform; 0: Linux
  int parallelism;
  WindowStrategy strategy;
};
std::ostream& operator<<(std::ostream& out, const Setting& setting) {
  return out << (setting.seed == 0 ? "linux" : "seed" + std::to_string(setting.seed)) << "_p"
             << setting.parallelism
             << (setting.strategy == WindowStrategy::late_merge ? "_late_merge" : "_repartition");
}

class Windows : public testing::TestWithParam<Setting> {
 protected:
  Windows()
      : platform_(GetParam().seed == 0 ? nullptr
                                       : make_simulated_platform({.seed = GetParam().seed})) {}
  EnvironmentOptions options() {
    EnvironmentOptions options;
    options.parallelism = GetParam().parallelism;
    options.batch_records = GetParam().seed % 2 == 0 ? 1024 : 7;
    options.channel_credits = 2;
    options.platform = platform_.get();
    options.window_strategy = GetParam().strategy;
    options.partial_state_bytes = GetParam().seed % 3 == 0 ? 64 << 20 : 1;
    return options;
  }
  std::unique_ptr<SimulatedPlatform> platform_;
};

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const WindowStrategy strategy : {WindowStrategy::repartition, WindowStrategy::late_merge}) {
    std::uint64_t seed = 0;
    for (const int parallelism : {1, 2, 4}) {
      all.push_back({0, parallelism, strategy});
      for (std::uint64_t i = 0; i < drawn_cases(3); ++i) {
        all.push_back({++seed, parallelism, strategy});
      }
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Settings, Windows, testing::ValuesIn(settings()),
                         testing::PrintToStringParamName());

constexpr std::uint64_t record_count = 2000;

// Every window by itself, from all records.
template <typename Add>
std::vector<Row> windowed(const Clicks& clicks, const WindowGrid& grid, Add&& add) {
  std::map<std::tuple<std::uint32_t, Timestamp, Timestamp>, std::int64_t> results;
  for (std::uint64_t i = 0; i < record_count; ++i) {
    const Click click = clicks(i);
    Timestamp start = grid.offset_ms - ((2000 + grid.size_ms) / grid.slide_ms + 1) * grid.slide_ms;
    while (start + grid.size_ms <= click.time_ms) start += grid.slide_ms;
    for (; start <= click.time_ms; start += grid.slide_ms) {
      const auto [at, is_new] = results.try_emplace({click.user, start, start + grid.size_ms}, 0);
      add(at->second, is_new, click);
    }
  }
  std::vector<Row> rows;
  for (const auto& [at, value] : results) {
    rows.emplace_back(std::get<0>(at), std::get<1>(at), std::get<2>(at), value);
  }
  return rows;
}
constexpr auto add_one = [](std::int64_t& value, bool, const Click&) { ++value; };
constexpr auto add_value = [](std::int64_t& value, bool, const Click& c) { value += c.value; };
constexpr auto keep_max = [](std::int64_t& value, bool is_new, const Click& click) {
  value = is_new ? click.value : std::max<std::int64_t>(value, click.value);
};

TEST_P(Windows, GridsEqualTheNaiveComputation) {
  std::mt19937_64 random(GetParam().seed + 17 * static_cast<std::uint64_t>(GetParam().parallelism));
  for (std::uint64_t turn = 0; turn < drawn_cases(6); ++turn) {
    const auto size = static_cast<std::int64_t>(1 + random() % 300);
    const auto slide = static_cast<std::int64_t>(1 + random() % 60);
    const auto offset = static_cast<std::int64_t>(random() % 100) - 50;
    const Clicks clicks{random(), static_cast<std::int64_t>(random() % 200),
                        static_cast<std::uint32_t>(1 + random() % 40)};
    StreamExecutionEnvironment env(options());
    auto keyed =
        env.generate(clicks, {.count = record_count})
            .assign_timestamps(&Click::time_ms, WatermarkStrategy::bounded(clicks.disorder_ms))
            .key_by(&Click::user);
    const auto tumbling = TumblingWindows::of(size, offset % size);
    const auto sliding = SlidingWindows::of(size, slide, offset % slide);
    Collected<Row> counts, sums, maxima, bags;
    keyed.window(tumbling).count().map(row).for_each(counts.sink());
    keyed.window(sliding).sum(&Click::value).map(row).for_each(sums.sink());
    keyed.window(sliding).max(&Click::value).map(row).for_each(maxima.sink());
    keyed.window(sliding)
        .process([](std::uint32_t user, const TimeWindow& window, std::span<const Click> all,
                    Collector<Row>& out) {
          std::int64_t sum = 0;
          for (const Click& click : all) sum += click.value;
          out(Row(user, window.start_ms, window.end_ms, sum));
        })
        .for_each(bags.sink());
    const JobResult result = env.execute("windows");
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    const std::string what = "size " + std::to_string(size) + " slide " + std::to_string(slide) +
                             " offset " + std::to_string(offset) + " disorder " +
                             std::to_string(clicks.disorder_ms);
    EXPECT_EQ(counts.sorted(), windowed(clicks, tumbling, add_one)) << what;
    const std::vector<Row> expected = windowed(clicks, sliding, add_value);
    EXPECT_EQ(sums.sorted(), expected) << what;
    EXPECT_EQ(bags.sorted(), expected) << what;
    EXPECT_EQ(maxima.sorted(), windowed(clicks, sliding, keep_max)) << what;
  }
}

TEST_P(Windows, SessionsEqualTheNaiveComputation) {
  std::mt19937_64 random(GetParam().seed + 3);
  for (int turn = 0; turn < 3; ++turn) {
    const auto gap = static_cast<std::int64_t>(1 + random() % 400);
    const Clicks clicks{random(), static_cast<std::int64_t>(random() % 200), 20};
    StreamExecutionEnvironment env(options());
    Collected<Row> sums;
    env.generate(clicks, {.count = record_count})
        .assign_timestamps(&Click::time_ms, WatermarkStrategy::bounded(clicks.disorder_ms))
        .key_by(&Click::user)
        .window(SessionWindows::with_gap(gap))
        .sum(&Click::value)
        .map(row)
        .for_each(sums.sink());
    const JobResult result = env.execute("sessions");
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    std::map<std::uint32_t, std::vector<Click>> users;
    for (std::uint64_t i = 0; i < record_count; ++i) users[clicks(i).user].push_back(clicks(i));
    std::vector<Row> expected;
    for (auto& [user, all] : users) {
      std::sort(all.begin(), all.end(),
                [](const Click& a, const Click& b) { return a.time_ms < b.time_ms; });
      for (std::size_t i = 0; i < all.size();) {
        const Timestamp start = all[i].time_ms;
        Timestamp end = start;
        std::int64_t sum = 0;
        for (; i < all.size() && (end == start || all[i].time_ms < end); ++i) {
          end = all[i].time_ms + gap;
          sum += all[i].value;
        }
        expected.emplace_back(user, start, end, sum);
      }
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(sums.sorted(), expected) << "gap " << gap;
  }
}

// The last result of each window is the same as if nothing had been late.
TEST_P(Windows, LatenessRefinesToTheSameResults) {
  const Clicks clicks{5, 150, 10};
  const auto sliding = SlidingWindows::of(120, 40, 7);
  StreamExecutionEnvironment env(options());
  Collected<Row> out;
  env.generate(clicks, {.count = record_count})
      .assign_timestamps(&Click::time_ms, WatermarkStrategy::ascending())
      .key_by(&Click::user)
      .window(sliding)
      .allowed_lateness(10'000)
      .sum(&Click::value)
      .map(row)
      .for_each(out.sink())
      .parallelism(1);
  ASSERT_TRUE(env.execute("refined").ok());
  std::map<std::tuple<std::uint32_t, Timestamp, Timestamp>, std::int64_t> last;
  for (const auto& [user, start, end, sum] : out.in_order()) last[{user, start, end}] = sum;
  std::vector<Row> rows;
  for (const auto& [at, sum] : last) {
    rows.emplace_back(std::get<0>(at), std::get<1>(at), std::get<2>(at), sum);
  }
  EXPECT_EQ(rows, windowed(clicks, sliding, add_value));
}

constexpr SideOutput<Click> too_late{"too late"};

TEST_P(Windows, LateRecordsAreCountedAndGoToTheSide) {
  constexpr std::uint64_t many = 20'000;  // enough batches for watermarks between them
  const Clicks clicks{9, 1500, 10};
  StreamExecutionEnvironment env(options());
  Collected<Row> out;
  Collected<std::int64_t> late;
  auto counted = env.generate(clicks, {.count = many})
                     .assign_timestamps(&Click::time_ms, WatermarkStrategy::bounded(100))
                     .key_by(&Click::user)
                     .window(TumblingWindows::of(50))
                     .late_output(too_late)
                     .count();
  counted.map(row).for_each(out.sink());
  counted.side_output(too_late)
      .map([](const Click& click) { return click.time_ms; })
      .for_each(late.sink());
  const JobResult result = env.execute("late");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  std::int64_t in_windows = 0;
  for (const Row& one : out.sorted()) in_windows += std::get<3>(one);
  EXPECT_GT(late.sorted().size(), 0u);
  EXPECT_EQ(static_cast<std::uint64_t>(in_windows) + late.sorted().size(), many);
  std::uint64_t records_late = 0;
  for (const VertexSummary& vertex : result.vertices) {
    for (const OperatorSummary& op : vertex.operators) records_late += op.records_late;
  }
  EXPECT_EQ(records_late, late.sorted().size());
}

TEST(WindowMistakes, LateRecordsWhereThereAreNone) {
  StreamExecutionEnvironment env;
  const auto counted = env.generate(Clicks{1, 1, 1}, {.count = 10})
                           .key_by(&Click::user)
                           .window(TumblingWindows::of(50).in_processing_time())
                           .late_output(too_late)
                           .count();
  counted.map(row).print();
  counted.side_output(too_late).map([](const Click& click) { return click.time_ms; }).print();
  const Status status = env.execute("late").status;
  EXPECT_EQ(status.code(), ErrorCode::invalid_graph);
  EXPECT_NE(status.message().find("late_output(\"too late\") of window_count"), std::string::npos)
      << status.to_string();
  EXPECT_NE(status.message().find("in_processing_time"), std::string::npos);
}

TEST(WindowMistakes, ASideOutputThatNobodyListed) {
  StreamExecutionEnvironment env;
  const auto counted = env.generate(Clicks{1, 1, 1}, {.count = 10})
                           .assign_timestamps(&Click::time_ms, WatermarkStrategy::ascending())
                           .key_by(&Click::user)
                           .window(TumblingWindows::of(50))
                           .count();
  counted.side_output(too_late).map([](const Click& click) { return click.time_ms; }).print();
  const Status status = env.execute("unlisted").status;
  EXPECT_EQ(status.code(), ErrorCode::invalid_graph);
  EXPECT_NE(status.message().find("side_output(\"too late\")"), std::string::npos)
      << status.to_string();
}

TEST_P(Windows, LateRecordsOfSessionsGoToTheSide) {
  constexpr std::uint64_t many = 20'000;
  const Clicks clicks{9, 1500, 300};
  StreamExecutionEnvironment env(options());
  Collected<Row> out;
  Collected<std::int64_t> late;
  auto counted = env.generate(clicks, {.count = many})
                     .assign_timestamps(&Click::time_ms, WatermarkStrategy::bounded(100))
                     .key_by(&Click::user)
                     .window(SessionWindows::with_gap(50))
                     .late_output(too_late)
                     .count();
  counted.map(row).for_each(out.sink());
  counted.side_output(too_late)
      .map([](const Click& click) { return click.time_ms; })
      .for_each(late.sink());
  const JobResult result = env.execute("late");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  std::int64_t in_windows = 0;
  for (const Row& one : out.sorted()) in_windows += std::get<3>(one);
  EXPECT_GT(late.sorted().size(), 0u);
  EXPECT_EQ(static_cast<std::uint64_t>(in_windows) + late.sorted().size(), many);
  EXPECT_EQ(result.records_late, late.sorted().size());
}

TEST_P(Windows, WindowAllAndCountWindowsAndTriggers) {
  const Clicks clicks{4, 90, 10};
  StreamExecutionEnvironment env(options());
  Collected<std::pair<Timestamp, std::int64_t>> all, purged;
  Collected<std::pair<std::uint32_t, std::uint64_t>> fives;
  auto timed = env.generate(clicks, {.count = record_count})
                   .assign_timestamps(&Click::time_ms, WatermarkStrategy::bounded(90));
  const auto pair_of = [](const WindowedAll<std::int64_t>& one) {
    return std::pair(one.window.start_ms, one.value);
  };
  timed.window_all(TumblingWindows::of(100)).sum(&Click::value).map(pair_of).for_each(all.sink());
  timed.window_all(TumblingWindows::of(100))
      .trigger(PurgingTrigger(CountTrigger::of(3)))
      .sum(&Click::value)
      .map(pair_of)
      .for_each(purged.sink());
  timed.key_by(&Click::user)
      .window(CountWindows::of(5))
      .count()
      .map([](const auto& one) { return std::pair(one.key, one.value); })
      .for_each(fives.sink());
  const JobResult result = env.execute("all");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  std::map<Timestamp, std::int64_t> expected;
  std::map<std::uint32_t, std::uint64_t> users;
  for (std::uint64_t i = 0; i < record_count; ++i) {
    const Click click = clicks(i);
    expected[(click.time_ms + 1'000'000) / 100 * 100 - 1'000'000] += click.value;
    ++users[click.user];
  }
  EXPECT_EQ(all.sorted(),
            (std::vector<std::pair<Timestamp, std::int64_t>>(expected.begin(), expected.end())));
  EXPECT_GT(purged.sorted().size(), expected.size());
  std::vector<std::pair<std::uint32_t, std::uint64_t>> all_fives;
  for (const auto& [user, seen] : users) all_fives.insert(all_fives.end(), seen / 5, {user, 5});
  EXPECT_EQ(fives.sorted(), all_fives);
}

TEST_P(Windows, SourceTimesAndTextKeys) {
  StreamExecutionEnvironment env(options());
  Collected<std::string> out;
  const auto word = [](std::uint64_t i) { return "word " + std::to_string(i % 7); };
  env.generate(word, {.count = 700, .watermark_interval = 10},
               [](std::uint64_t i) { return static_cast<Timestamp>(i); })
      .key_by(identity)
      .window(TumblingWindows::of(350))
      .count()
      .map([](const Windowed<std::string_view, std::uint64_t>& one) {
        std::string line;
        format_record(one, line);
        return line;
      })
      .for_each(out.sink());
  const JobResult result = env.execute("words");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  std::vector<std::string> expected;
  for (int i = 0; i < 7; ++i) {
    expected.push_back("word " + std::to_string(i) + "\t0\t350\t50");
    expected.push_back("word " + std::to_string(i) + "\t350\t700\t50");
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(out.sorted(), expected);
}

// One of two inputs is silent: results come by the other, once it counts as inactive.
TEST(WindowsWithIdleness, ASilentInputDoesNotHoldTheOthers) {
  auto platform = make_simulated_platform({.seed = 7});
  EnvironmentOptions options;
  options.parallelism = 2;
  options.platform = platform.get();
  StreamExecutionEnvironment env(options);
  Collected<Timestamp> out;
  const auto time_of = [](std::uint64_t i) { return static_cast<Timestamp>(i); };
  const auto strategy = WatermarkStrategy::ascending().with_idleness(50);
  auto busy = env.generate([](std::uint64_t i) { return i; }, {.records_per_second = 1000.0})
                  .assign_timestamps(time_of, strategy);
  auto silent = env.generate([](std::uint64_t i) { return i; }, {.records_per_second = 0.0001})
                    .assign_timestamps(time_of, strategy);
  busy.union_with(silent)
      .window_all(TumblingWindows::of(100))
      .count()
      .map([](const auto& one) { return one.window.start_ms; })
      .for_each(out.sink());
  JobHandle job = env.execute_async("idleness");
  (void)platform->run_until([] { return false; }, platform->now() + milliseconds(2000));
  EXPECT_GE(out.in_order().size(), 10u);
  job.cancel();
  (void)job.wait();
}

// The results of a silent input's pending calls come when it counts as inactive: they don't hold
// the others' watermarks for good.
struct AnswersLate {
  std::shared_ptr<std::vector<AsyncResult<std::uint64_t>>> asked =
      std::make_shared<std::vector<AsyncResult<std::uint64_t>>>();
  void operator()(std::uint64_t, AsyncResult<std::uint64_t> result) const {
    asked->push_back(std::move(result));
  }
  std::uint64_t on_timeout(std::uint64_t number) const { return number; }
};

TEST(WindowsWithIdleness, ResultsOfASilentInputDoNotMakeItActive) {
  auto platform = make_simulated_platform({.seed = 9});
  EnvironmentOptions options;
  options.parallelism = 1;
  options.platform = platform.get();
  StreamExecutionEnvironment env(options);
  Collected<Timestamp> out;
  const auto time_of = [](std::uint64_t i) { return static_cast<Timestamp>(i); };
  const auto strategy = WatermarkStrategy::ascending().with_idleness(50);
  const auto same = [](std::uint64_t i) { return i; };
  auto busy = env.generate(same, {.records_per_second = 1000.0})
                  .assign_timestamps(time_of, WatermarkStrategy::ascending());
  auto silent = env.generate(same, {.records_per_second = 0.0001})
                    .assign_timestamps(time_of, strategy)
                    .async_map(rebuildable(AnswersLate()), {.timeout_ms = 200});
  busy.union_with(silent)
      .window_all(TumblingWindows::of(100))
      .count()
      .map([](const auto& one) { return one.window.start_ms; })
      .for_each(out.sink());
  JobHandle job = env.execute_async("idleness");
  (void)platform->run_until([] { return false; }, platform->now() + milliseconds(2000));
  EXPECT_GE(out.in_order().size(), 10u);
  job.cancel();
  (void)job.wait();
}

// A process function that emits by the clock, behind an input that is inactive.
struct EmitsByTheClock {
  void process(const std::uint64_t& number, KeyedOutput<std::uint64_t>& out) {
    last.set(number);
    out.set_processing_timer(out.processing_time() + 200);
  }
  void on_processing_timer(Timestamp, KeyedOutput<std::uint64_t>& out) {
    out.emit(last.get_or(0), 0);
  }
  ValueState<std::uint64_t> last{"last"};
};

TEST(WindowsWithIdleness, TimersBehindASilentInputDoNotMakeItActive) {
  auto platform = make_simulated_platform({.seed = 10});
  EnvironmentOptions options;
  options.parallelism = 1;
  options.platform = platform.get();
  StreamExecutionEnvironment env(options);
  Collected<Timestamp> out;
  const auto time_of = [](std::uint64_t i) { return static_cast<Timestamp>(i); };
  const auto same = [](std::uint64_t i) { return i; };
  auto busy = env.generate(same, {.records_per_second = 1000.0})
                  .assign_timestamps(time_of, WatermarkStrategy::ascending());
  auto silent = env.generate(same, {.records_per_second = 0.0001})
                    .assign_timestamps(time_of, WatermarkStrategy::ascending().with_idleness(50))
                    .key_by(identity)
                    .process(EmitsByTheClock());
  busy.union_with(silent)
      .window_all(TumblingWindows::of(100))
      .count()
      .map([](const auto& one) { return one.window.start_ms; })
      .for_each(out.sink());
  JobHandle job = env.execute_async("idleness");
  (void)platform->run_until([] { return false; }, platform->now() + milliseconds(2000));
  EXPECT_GE(out.in_order().size(), 10u);
  job.cancel();
  (void)job.wait();
}

// The fast input may not run away from the slow one.
TEST(WindowsWithAlignment, FastInputsWaitForSlowOnes) {
  auto platform = make_simulated_platform({.seed = 8});
  EnvironmentOptions options;
  options.parallelism = 1;
  options.batch_records = 10;
  options.platform = platform.get();
  StreamExecutionEnvironment env(options);
  Collected<std::uint64_t> fast, slow;
  const auto time_of = [](std::uint64_t i) { return static_cast<Timestamp>(i); };
  const auto strategy = WatermarkStrategy::ascending().aligned(WatermarkAlignment(), 100);
  const auto same = [](std::uint64_t i) { return i; };
  env.generate(same, {}).assign_timestamps(time_of, strategy).for_each(fast.sink());
  env.generate(same, {.records_per_second = 1000.0})
      .assign_timestamps(time_of, strategy)
      .for_each(slow.sink());
  JobHandle job = env.execute_async("alignment");
  (void)platform->run_until([] { return false; }, platform->now() + milliseconds(300));
  EXPECT_GT(slow.in_order().size(), 100u);
  EXPECT_GT(fast.in_order().size(), slow.in_order().size());
  EXPECT_LE(fast.in_order().size(), slow.in_order().size() + 200);
  job.cancel();
  (void)job.wait();
}

}  // namespace
}  // namespace hummer::window_test
