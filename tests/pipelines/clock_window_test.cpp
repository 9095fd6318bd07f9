// Windows and triggers of processing time through the public API, embedded: each record is in the
// windows that the clock gives it, and none is lost.
#include <map>
#include <set>

#include "pipelines/on_platforms.hpp"

namespace hummer::clock_window_test {
namespace {

class ClockWindows : public OnPlatforms {};
INSTANTIATE_TEST_SUITE_P(Settings, ClockWindows, OnPlatforms::everywhere(),
                         testing::PrintToStringParamName());
class VirtualClockWindows : public OnPlatforms {};
INSTANTIATE_TEST_SUITE_P(Settings, VirtualClockWindows, OnPlatforms::simulated_only(),
                         testing::PrintToStringParamName());

// Window, and a record in it.
using InWindow = std::tuple<std::uint32_t, TimeWindow, std::uint64_t>;
constexpr std::uint64_t ticks = 400;
constexpr auto user_of = [](std::uint64_t i) { return static_cast<std::uint32_t>(i % 3); };
constexpr auto each_record = [](std::uint32_t user, const TimeWindow& window,
                                std::span<const std::uint64_t> records, Collector<InWindow>& out) {
  for (const std::uint64_t record : records) out(InWindow(user, window, record));
};

DataStream<std::uint64_t> ticking(StreamExecutionEnvironment& env) {
  return env.generate([](std::uint64_t i) { return i; },
                      {.count = ticks, .records_per_second = 2000.0});
}
// By user: the windows; and that each record is in `times` of them.
std::map<std::uint32_t, std::set<TimeWindow>> windows_of(const std::vector<InWindow>& all,
                                                         std::size_t times) {
  std::map<std::uint32_t, std::set<TimeWindow>> windows;
  std::map<std::uint64_t, std::set<TimeWindow>> of_record;
  for (const auto& [user, window, record] : all) {
    EXPECT_EQ(user, user_of(record));
    EXPECT_TRUE(of_record[record].insert(window).second) << "record " << record << " twice";
    windows[user].insert(window);
  }
  EXPECT_EQ(of_record.size(), ticks);
  for (const auto& [record, own] : of_record) EXPECT_EQ(own.size(), times) << "record " << record;
  return windows;
}

TEST_P(ClockWindows, WindowsOfTheClockHoldEachRecordOnce) {
  StreamExecutionEnvironment env(options());
  Collected<InWindow> tumbling, sliding, sessions;
  Collected<std::uint64_t> counts, all_counts;
  const auto stream = ticking(env);
  const auto keyed = stream.key_by(user_of);
  const auto twenty = TumblingWindows::of(20, 5).in_processing_time();
  const auto forty = SlidingWindows::of(40, 10).in_processing_time();
  keyed.window(twenty).process(each_record).for_each(tumbling.sink());
  keyed.window(forty).process(each_record).for_each(sliding.sink());
  keyed.window(SessionWindows::with_gap(3).in_processing_time())
      .process(each_record)
      .for_each(sessions.sink());
  keyed.window(forty)
      .count()
      .map([](const auto& one) { return one.value; })
      .for_each(counts.sink());
  stream.window_all(twenty)
      .count()
      .map([](const auto& one) { return one.value; })
      .for_each(all_counts.sink());
  run(env);
  const auto sum_of = [](const std::vector<std::uint64_t>& some) {
    std::uint64_t sum = 0;
    for (const std::uint64_t one : some) sum += one;
    return sum;
  };
  EXPECT_EQ(sum_of(counts.sorted()), 4 * ticks);
  EXPECT_EQ(sum_of(all_counts.sorted()), ticks);
  for (const auto& [user, windows] : windows_of(tumbling.sorted(), 1)) {
    for (const TimeWindow& window : windows) {
      EXPECT_EQ((window.start_ms - 5) % 20, 0);
      EXPECT_EQ(window.end_ms, window.start_ms + 20);
    }
    if (simulated()) {
      EXPECT_GE(windows.size(), 10u) << "200 ms";
    }
  }
  for (const auto& [user, windows] : windows_of(sliding.sorted(), 4)) {
    for (const TimeWindow& window : windows) {
      EXPECT_EQ(window.start_ms % 10, 0);
      EXPECT_EQ(window.end_ms, window.start_ms + 40);
    }
  }
  for (const auto& [user, windows] : windows_of(sessions.sorted(), 1)) {
    Timestamp end = no_timestamp;
    for (const TimeWindow& window : windows) {
      EXPECT_GE(window.start_ms, end) << "sessions that meet are one";
      EXPECT_GE(window.end_ms, window.start_ms + 3);
      end = window.end_ms;
    }
  }
}

TEST_P(ClockWindows, ContinuousOnesByTheClockMissNothing) {
  StreamExecutionEnvironment env(options());
  Collected<InWindow> once_of_clock, once_of_events;
  Collected<std::tuple<std::uint32_t, TimeWindow, std::uint64_t>> counts;
  const auto trigger = ContinuousTrigger::every(7).in_processing_time();
  const auto row = [](const auto& one) { return InWindow(one.key, one.window, one.value); };
  ticking(env)
      .key_by(user_of)
      .window(TumblingWindows::of(50).in_processing_time())
      .trigger(PurgingTrigger(trigger))
      .process(each_record)
      .for_each(once_of_clock.sink());
  const auto of_events =
      env.generate([](std::uint64_t i) { return i; },
                   {.count = ticks, .records_per_second = 2000.0, .watermark_interval = 10},
                   [](std::uint64_t i) { return static_cast<Timestamp>(i); })
          .key_by(user_of)
          .window(TumblingWindows::of(150));
  of_events.trigger(PurgingTrigger(trigger)).process(each_record).for_each(once_of_events.sink());
  of_events.trigger(trigger).count().map(row).for_each(counts.sink()).parallelism(1);
  run(env);
  (void)windows_of(once_of_clock.sorted(), 1);
  const auto windows = windows_of(once_of_events.sorted(), 1);
  std::map<std::pair<std::uint32_t, TimeWindow>, std::uint64_t> last;
  for (const auto& [user, window, count] : counts.in_order()) {
    std::uint64_t& before = last[{user, window}];
    EXPECT_GE(count, before);
    before = count;
  }
  std::uint64_t sum = 0;
  for (const auto& [at, count] : last) sum += count;
  EXPECT_EQ(sum, ticks) << "the last result of a window is of all its records";
  if (simulated()) {
    EXPECT_GE(counts.sorted().size(), 3 * last.size()) << "75 ms each";
  }
}

// Times that lag behind the clock ever more: the first window waits for the clock, the rest are
// over when their records come.
TEST_P(VirtualClockWindows, WindowsOfEventsThatGoOutByTheClock) {
  const Timestamp begin = platform_->wall_time_ms() / 100 * 100 + 100;
  StreamExecutionEnvironment env(options());
  Collected<std::pair<Timestamp, std::uint64_t>> lots;
  env.generate([](std::uint64_t i) { return i; },
               {.count = ticks, .records_per_second = 1000.0, .watermark_interval = 10},
               [begin](std::uint64_t i) { return begin + static_cast<Timestamp>(i / 4); })
      .window_all(TumblingWindows::of(50))
      .trigger(PurgingTrigger(ProcessingTimeTrigger()))
      .count()
      .map([](const auto& one) { return std::pair(one.window.start_ms, one.value); })
      .for_each(lots.sink());
  run(env);
  std::map<Timestamp, std::uint64_t> windows;
  for (const auto& [start, count] : lots.sorted()) windows[start] += count;
  EXPECT_EQ(windows, (std::map<Timestamp, std::uint64_t>{{begin, 200}, {begin + 50, 200}}));
  EXPECT_LT(lots.sorted().size(), ticks) << "some waited for the clock";
  EXPECT_GT(lots.sorted().size(), 2u) << "some did not have to";
}

}  // namespace
}  // namespace hummer::clock_window_test
