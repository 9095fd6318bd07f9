// Watermark generators, idle inputs, timers of the clock, time to live, folding states, and the
// limits of asynchronous calls, through the public API, embedded.
#include <map>
#include <set>

#include "pipelines/on_platforms.hpp"

namespace hummer::keyed_time_test {
namespace {

// ---- watermarks ----

class WatermarkJobs : public OnPlatforms {};
INSTANTIATE_TEST_SUITE_P(Settings, WatermarkJobs, OnPlatforms::everywhere(),
                         testing::PrintToStringParamName());

using Start = std::pair<Timestamp, std::uint64_t>;  // of a window, and its number of records
constexpr auto start_of = [](const WindowedAll<std::uint64_t>& one) {
  return Start(one.window.start_ms, one.value);
};
std::vector<Start> counts_by(std::int64_t size_ms, const std::vector<Sale>& sales) {
  std::map<Timestamp, std::uint64_t> counts;
  for (const Sale& sale : sales) ++counts[sale.time / size_ms * size_ms];
  return {counts.begin(), counts.end()};
}

// Moves in steps, and only when the disorder allows it.
struct InSteps {
  Timestamp latest = no_timestamp;
  void record(const Sale&, Timestamp time) { latest = std::max(latest, time); }
  Timestamp watermark() const { return time_before(latest, disorder_ms) / 100 * 100; }
  void restore(Timestamp watermark) { latest = time_after(watermark, disorder_ms); }
};
// Every tenth record or so says it.
constexpr auto said_by_some = [](const Sale& sale, Timestamp time) -> std::optional<Timestamp> {
  if (sale.value % 10 != 0) return std::nullopt;
  return time - disorder_ms;
};

TEST_P(WatermarkJobs, OwnGeneratorsAndThoseInTheRecordsMakeNoneLate) {
  const std::vector<Sale> sales = random_sales(GetParam().seed + 1, 400);
  StreamExecutionEnvironment env(options());
  Collected<Start> by_steps, by_records;
  const auto stream =
      env.generate([sales](std::uint64_t i) { return sales[i]; }, {.count = sales.size()});
  stream.assign_timestamps(&Sale::time, WatermarkStrategy::generated(InSteps()))
      .window_all(TumblingWindows::of(50))
      .count()
      .map(start_of)
      .for_each(by_steps.sink());
  stream.assign_timestamps(&Sale::time, WatermarkStrategy::punctuated(said_by_some))
      .window_all(TumblingWindows::of(50))
      .count()
      .map(start_of)
      .for_each(by_records.sink());
  EXPECT_EQ(run(env).records_late, 0u);
  EXPECT_EQ(by_steps.sorted(), counts_by(50, sales));
  EXPECT_EQ(by_records.sorted(), counts_by(50, sales));
}

// Watermarks that say too much: which records are late follows from them alone.
TEST_P(WatermarkJobs, AWatermarkOfARecordDecidesWhatIsLate) {
  const std::vector<Sale> sales = random_sales(GetParam().seed + 1, 400);
  StreamExecutionEnvironment env(record_by_record());
  Collected<Start> out;
  env.from_collection(sales)
      .assign_timestamps(
          &Sale::time, WatermarkStrategy::punctuated([](const Sale& sale, Timestamp time) {
            return sale.value % 3 == 0 ? std::optional<Timestamp>(time + 10) : std::nullopt;
          }))
      .window_all(TumblingWindows::of(20))
      .count()
      .map(start_of)
      .for_each(out.sink());
  const JobResult result = run(env);
  std::vector<Sale> in_time;
  Timestamp watermark = no_timestamp;
  for (const Sale& sale : sales) {
    if (sale.time / 20 * 20 + 20 > watermark) in_time.push_back(sale);
    if (sale.value % 3 == 0) watermark = std::max(watermark, sale.time + 10);
  }
  EXPECT_EQ(out.sorted(), counts_by(20, in_time));
  EXPECT_EQ(result.records_late, sales.size() - in_time.size());
  EXPECT_GT(result.records_late, 0u);
}

TEST_P(WatermarkJobs, TopNCountsItsLateRecords) {
  const std::vector<Sale> sales{{10, 1, 5}, {35, 1, 7}, {12, 1, 9}, {31, 1, 8}, {39, 2, 1}};
  StreamExecutionEnvironment env(record_by_record());
  Collected<std::tuple<Timestamp, std::uint32_t, std::int64_t>> best;
  Collected<std::int64_t> late;
  const auto ranked = env.from_collection(sales)
                          .assign_timestamps(&Sale::time, WatermarkStrategy::ascending())
                          .key_by(&Sale::user)
                          .top_n(1, &Sale::value, 20);
  ranked
      .map([](const Ranked<Sale>& one) {
        return std::tuple(one.window_start, one.record.user, one.record.value);
      })
      .for_each(best.sink());
  ranked.side_output(late_records<Sale>)
      .map([](const Sale& sale) { return sale.value; })
      .for_each(late.sink());
  EXPECT_EQ(run(env).records_late, 1u);
  EXPECT_EQ(late.sorted(), std::vector<std::int64_t>{9});
  EXPECT_EQ(best.sorted(), (std::vector<std::tuple<Timestamp, std::uint32_t, std::int64_t>>{
                               {0, 1, 5}, {20, 1, 8}, {20, 2, 1}}));
}

// ---- virtual time: what follows the clock comes when it must ----

class ClockJobs : public OnPlatforms {};
INSTANTIATE_TEST_SUITE_P(Settings, ClockJobs, OnPlatforms::simulated_only(),
                         testing::PrintToStringParamName());

constexpr auto same = [](std::uint64_t i) { return i; };

// By its records alone it would wait for ten seconds.
struct FollowsTheClock {
  Timestamp latest = no_timestamp;
  void record(std::uint64_t, Timestamp time) { latest = std::max(latest, time); }
  Timestamp watermark() const { return time_before(latest, 10'000); }
  Timestamp periodic(Timestamp now_ms) { return now_ms - 20; }
};

TEST_P(ClockJobs, APeriodicGeneratorNeedsNoRecords) {
  const Timestamp begin = platform_->wall_time_ms();
  StreamExecutionEnvironment env(options());
  Collected<Timestamp> out;
  env.generate(same, {.records_per_second = 10.0})
      .assign_timestamps(
          [begin](std::uint64_t i) { return begin + static_cast<Timestamp>(i) * 100; },
          WatermarkStrategy::generated(FollowsTheClock()).with_interval(10))
      .window_all(TumblingWindows::of(10))
      .count()
      .map([begin](const WindowedAll<std::uint64_t>& one) { return one.window.start_ms - begin; })
      .for_each(out.sink());
  JobHandle job = env.execute_async("periodic");
  (void)platform_->run_until([] { return false; }, platform_->now() + milliseconds(1090));
  std::vector<Timestamp> expected;
  for (Timestamp start = 0; start <= 1000; start += 100) expected.push_back(start);
  EXPECT_EQ(out.sorted(), expected) << "the last one too, before the next record";
  job.cancel();
  (void)job.wait();
}

// An input that speaks now and then: between its records the others do not wait for it, and none
// of its own is lost.
TEST_P(ClockJobs, AnIdleInputComesBack) {
  StreamExecutionEnvironment env(options());
  Collected<Start> out;
  const auto strategy = WatermarkStrategy::ascending().with_idleness(50);
  const auto busy =
      env.generate(same, {.count = 2000, .records_per_second = 1000.0})
          .assign_timestamps([](std::uint64_t i) { return static_cast<Timestamp>(i); }, strategy);
  const auto rare =
      env.generate(same, {.count = 4, .records_per_second = 2.0})
          .assign_timestamps([](std::uint64_t i) { return static_cast<Timestamp>(i * 500 + 450); },
                             strategy);
  busy.union_with(rare)
      .window_all(TumblingWindows::of(100))
      .count()
      .map(start_of)
      .for_each(out.sink());
  JobHandle job = env.execute_async("comes back");
  (void)platform_->run_until([] { return false; }, platform_->now() + milliseconds(450));
  EXPECT_GE(out.sorted().size(), 3u);
  const JobResult result = job.wait();
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(result.records_late, 0u);
  std::vector<Start> expected;
  for (Timestamp start = 0; start < 2000; start += 100) {
    expected.emplace_back(start, start % 500 == 400 ? 101 : 100);
  }
  EXPECT_EQ(out.sorted(), expected);
}

// What it has set, deleted and seen come, each with the time of the timer and the clock.
enum class What { set, deleted, fired };
using TimerRow = std::tuple<What, std::uint32_t, Timestamp, Timestamp>;
struct Alarms {
  void process(const std::uint64_t& i, KeyedOutput<TimerRow>& out) {
    const Timestamp now = out.processing_time();
    const Timestamp when = now + 3 + static_cast<Timestamp>(i * 7 % 40);
    out.set_processing_timer(when);
    out.emit(TimerRow(What::set, out.key<std::uint32_t>(), when, now));
    out.set_processing_timer(end_of_time - 1);  // never comes
    if (i % 5 != 0) return;
    out.set_processing_timer(now + 100'000 + static_cast<Timestamp>(i));
    out.set_processing_timer(now + 60);
    out.delete_processing_timer(now + 60);
    out.emit(TimerRow(What::deleted, out.key<std::uint32_t>(), now + 60, now));
  }
  void on_processing_timer(Timestamp when, KeyedOutput<TimerRow>& out) {
    out.emit(TimerRow(What::fired, out.key<std::uint32_t>(), when, out.processing_time()));
  }
};

TEST_P(ClockJobs, TimersOfTheClockFireOnceWhenItHasCome) {
  StreamExecutionEnvironment env(options());
  Collected<TimerRow> out;
  env.generate(same, {.count = 300, .records_per_second = 1000.0})
      .key_by([](std::uint64_t i) { return static_cast<std::uint32_t>(i % 4); })
      .process(Alarms())
      .for_each(out.sink());
  run(env);
  using Timer = std::pair<std::uint32_t, Timestamp>;
  std::set<Timer> set, fired;
  Timestamp last = 0;
  for (const auto& [what, key, when, now] : out.sorted()) {
    last = std::max(last, now);
    if (what == What::set) set.insert({key, when});
    if (what != What::fired) continue;
    EXPECT_GE(now, when);
    EXPECT_TRUE(fired.insert({key, when}).second) << "twice at " << when;
  }
  for (const Timer& timer : fired) EXPECT_TRUE(set.contains(timer)) << timer.second;
  std::size_t due = 0;
  for (const Timer& timer : set) {
    if (timer.second > last - 5) continue;  // the end may have come before
    EXPECT_TRUE(fired.contains(timer)) << timer.second;
    ++due;
  }
  EXPECT_GT(due, 100u);
}

// Each key comes every 40 ms.
struct Lives {
  ValueState<int> gone{"gone", {.ttl_ms = 20}};
  ValueState<int> written{"written", {.ttl_ms = 100}};
  ValueState<int> once{"once", {.ttl_ms = 100}};
  ValueState<int> read{"read", {.ttl_ms = 100, .ttl_update = TtlUpdate::on_read_and_write}};
  ListState<int> recent{"recent", {.ttl_ms = 100}};
  MapState<int, int> by_turn{"by_turn", {.ttl_ms = 100}};
  ReducingState<int, std::plus<>> sum{"sum", {.ttl_ms = 20}};
  AggregatingState<CountAggregate> number{"number", {.ttl_ms = 100}};
  ValueState<int> turn{"turn"};

  void process(const std::uint64_t& i, KeyedOutput<std::vector<int>>& out) {
    const int n = turn.get_or(0);
    turn.set(n + 1);
    recent.add(n);
    by_turn.put(n, n);
    number.add(i);
    using Row = std::vector<int>;
    out.emit(Row{n, gone.get_or(-1), written.get_or(-1), once.get_or(-1), read.get_or(-1),
                 static_cast<int>(recent.size()), static_cast<int>(by_turn.size()), sum.add(n),
                 static_cast<int>(*number.result())});
    gone.set(n);
    written.set(n);
    if (!once.has_value()) once.set(n);
    if (!read.has_value()) read.set(n);
  }
};

TEST_P(ClockJobs, StatesLiveAsLongAsTheyAreToldTo) {
  StreamExecutionEnvironment env(options());
  Collected<std::vector<int>> out;
  Collected<std::uint64_t> forgotten, remembered;
  const auto keyed =
      env.generate(same, {.count = 160, .records_per_second = 100.0}).key_by([](std::uint64_t i) {
        return i % 4;
      });
  keyed.process(Lives()).for_each(out.sink());
  keyed.deduplicate(20).for_each(forgotten.sink());
  keyed.deduplicate(100).for_each(remembered.sink());
  run(env);
  std::vector<std::vector<int>> expected;
  for (int n = 0; n < 40; ++n) {
    const int since = n % 3 == 0 ? -1 : n / 3 * 3;
    const int read = n == 0 ? -1 : 0;
    const std::vector<int> row{n, -1,   n - 1, since, read, std::min(n + 1, 3), std::min(n + 1, 3),
                               n, n + 1};
    expected.insert(expected.end(), 4, row);
  }
  EXPECT_EQ(out.sorted(), expected);
  EXPECT_EQ(forgotten.sorted().size(), 160u);
  EXPECT_EQ(remembered.sorted(), (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

// ---- states that fold; asynchronous calls ----

struct Larger {
  std::int64_t operator()(std::int64_t a, std::int64_t b) const { return std::max(a, b); }
};
struct Mean {
  struct Accumulator {
    std::int64_t sum;
    std::int64_t records;
  };
  using Result = std::int64_t;
  void add(Accumulator& mean, bool is_new, const Sale& sale) const {
    merge(mean, is_new, {sale.value, 1});
  }
  void merge(Accumulator& mean, bool is_new, const Accumulator& other) const {
    if (is_new) mean = {};
    mean.sum += other.sum;
    mean.records += other.records;
  }
  Result result(const Accumulator& mean) const { return mean.sum / mean.records; }
};
using Summary = std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::int64_t>;
struct Summaries {
  ReducingState<std::int64_t, std::plus<>> sum{"sum"};
  ReducingState<std::int64_t, Larger> largest{"largest"};
  AggregatingState<Mean> mean{"mean"};

  void process(const Sale& sale, KeyedOutput<Summary>& out) {
    sum.add(sale.value);
    largest.add(sale.value);
    mean.add(sale);
    out.set_event_timer(end_of_time - 1);
  }
  void on_timer(Timestamp, KeyedOutput<Summary>& out) {
    out.emit(Summary(out.key<std::uint32_t>(), sum.get_or(0), largest.get_or(0), *mean.result()));
  }
};

TEST_P(WatermarkJobs, FoldingStatesEqualPlainLoops) {
  const std::vector<Sale> sales = random_sales(GetParam().seed + 1, 400);
  StreamExecutionEnvironment env(options());
  Collected<Summary> out;
  timed(env, sales).key_by(&Sale::user).process(Summaries()).for_each(out.sink());
  run(env);
  std::vector<Summary> expected;
  for (std::uint32_t user = 0; user < 5; ++user) {
    std::int64_t sum = 0, largest = 0, records = 0;
    for (const Sale& sale : sales) {
      if (sale.user != user) continue;
      sum += sale.value;
      largest = std::max(largest, sale.value);
      ++records;
    }
    expected.emplace_back(user, sum, largest, sum / records);
  }
  EXPECT_EQ(out.sorted(), expected);
}

// Never answers for every third record, and counts those that wait.
struct Forgetful {
  struct Shared {
    std::mutex mutex;
    std::vector<AsyncResult<std::int64_t>> kept;
    std::size_t waiting = 0;
    std::size_t most_waiting = 0;
  };
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();

  void operator()(const Sale& sale, AsyncResult<std::int64_t> result) const {
    if (sale.value % 3 != 0) return result.complete(sale.value);
    const std::lock_guard lock(shared->mutex);
    shared->kept.push_back(result);
    shared->most_waiting = std::max(shared->most_waiting, ++shared->waiting);
  }
};
struct ForgetfulWithDefault : Forgetful {
  using Forgetful::operator();
  std::int64_t on_timeout(const Sale& sale) const {
    const std::lock_guard lock(shared->mutex);
    --shared->waiting;
    return -sale.value;
  }
};

TEST_P(WatermarkJobs, AsyncCallsWaitForRoomAndTimeOutWithADefault) {
  const std::vector<Sale> sales = random_sales(GetParam().seed + 1, 60);
  std::vector<std::int64_t> expected;
  for (const Sale& sale : sales) {
    expected.push_back(sale.value % 3 == 0 ? -sale.value : sale.value);
  }
  std::vector<std::int64_t> expected_sorted = expected;
  std::sort(expected_sorted.begin(), expected_sorted.end());
  for (const AsyncOrder order : {AsyncOrder::ordered, AsyncOrder::unordered}) {
    ForgetfulWithDefault function;
    StreamExecutionEnvironment env(options());
    Collected<std::int64_t> out;
    timed(env, sales)
        .async_map(function, {.capacity = 4, .timeout_ms = 5, .order = order})
        .for_each(out.sink());
    run(env);
    EXPECT_EQ(out.sorted(), expected_sorted);
    if (order == AsyncOrder::ordered && parallelism() == 1) {
      EXPECT_EQ(out.in_order(), expected);
    }
    EXPECT_EQ(function.shared->waiting, 0u);
    EXPECT_LE(function.shared->most_waiting, 4u * static_cast<std::size_t>(parallelism()));
    // Ordered, results that are ready take room too.
    if (order == AsyncOrder::unordered && simulated()) {
      EXPECT_GE(function.shared->most_waiting, 4u);
    }
  }
}

TEST_P(WatermarkJobs, AnAsyncCallWithoutAnAnswerFailsTheJobByName) {
  StreamExecutionEnvironment env(options());
  Collected<std::int64_t> out;
  timed(env, random_sales(GetParam().seed + 1, 60))
      .async_map(Forgetful(), {.timeout_ms = 5})
      .name("ask")
      .for_each(out.sink());
  const JobResult result = env.execute("forgetful");
  EXPECT_EQ(result.status.code(), ErrorCode::timed_out) << result.status.to_string();
  for (const char* part : {"'ask'", "no result after 5 ms"}) {
    EXPECT_NE(result.status.message().find(part), std::string::npos) << result.status.to_string();
  }
}

}  // namespace
}  // namespace hummer::keyed_time_test
