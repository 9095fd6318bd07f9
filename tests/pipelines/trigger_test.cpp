// Window functions and triggers of event time through the public API, embedded.
#include <map>

#include "pipelines/on_platforms.hpp"

namespace hummer::trigger_test {
namespace {

class Triggers : public OnPlatforms {};
INSTANTIATE_TEST_SUITE_P(Settings, Triggers, OnPlatforms::everywhere(),
                         testing::PrintToStringParamName());

// User (0: all together), window, sum, and a second number.
using Row = std::tuple<std::uint32_t, Timestamp, Timestamp, std::int64_t, std::int64_t>;

// The sum, and the latest time.
constexpr auto combine = [](const Sale& a, const Sale& b) {
  return Sale{std::max(a.time, b.time), a.user, a.value + b.value};
};
constexpr auto row_of_sale = [](const auto& one) {
  return Row(one.key, one.window.start_ms, one.window.end_ms, one.value.value, one.value.time);
};
constexpr auto row_of_all = [](const WindowedAll<Sale>& one) {
  return Row(0, one.window.start_ms, one.window.end_ms, one.value.value, one.value.time);
};

// An aggregate of one's own: sum and number.
struct Total {
  struct Accumulator {
    std::int64_t sum;
    std::int64_t records;
  };
  using Result = std::pair<std::int64_t, std::int64_t>;
  void add(Accumulator& total, bool is_new, const Sale& sale) const {
    merge(total, is_new, {sale.value, 1});
  }
  void merge(Accumulator& total, bool is_new, const Accumulator& other) const {
    if (is_new) total = {};
    total.sum += other.sum;
    total.records += other.records;
  }
  Result result(const Accumulator& total) const { return {total.sum, total.records}; }
};
constexpr auto row_of_total = [](std::uint32_t user, const TimeWindow& window,
                                 const Total::Result& total, Collector<Row>& out) {
  out(Row(user, window.start_ms, window.end_ms, total.first, total.second));
};
constexpr auto row_of_all_total = [](const TimeWindow& window, const Total::Result& total,
                                     Collector<Row>& out) {
  out(Row(0, window.start_ms, window.end_ms, total.first, total.second));
};
constexpr auto row_of_all_records = [](const TimeWindow& window, std::span<const Sale> sales,
                                       Collector<Row>& out) {
  std::int64_t sum = 0;
  for (const Sale& sale : sales) sum += sale.value;
  out(Row(0, window.start_ms, window.end_ms, sum, static_cast<std::int64_t>(sales.size())));
};

// What is expected of a window: all that the rows above say of it.
struct Contents {
  std::int64_t sum = 0;
  std::int64_t records = 0;
  Timestamp latest = no_timestamp;
  void add(const Sale& sale) {
    sum += sale.value;
    ++records;
    latest = std::max(latest, sale.time);
  }
};
using ContentsOf = std::map<std::tuple<std::uint32_t, Timestamp, Timestamp>, Contents>;

std::vector<Row> rows_of(const ContentsOf& windows, bool with_latest) {
  std::vector<Row> rows;
  for (const auto& [at, in] : windows) {
    rows.emplace_back(std::get<0>(at), std::get<1>(at), std::get<2>(at), in.sum,
                      with_latest ? in.latest : in.records);
  }
  return rows;
}
// Of each user's records, or (by_user = false) of all together.
ContentsOf on_grid_naively(const std::vector<Sale>& sales, const WindowGrid& grid, bool by_user) {
  ContentsOf windows;
  for (const Sale& sale : sales) {
    for (Timestamp start = sale.time - grid.size_ms + 1; start <= sale.time; ++start) {
      if ((start - grid.offset_ms) % grid.slide_ms != 0) continue;
      windows[{by_user ? sale.user : 0, start, start + grid.size_ms}].add(sale);
    }
  }
  return windows;
}
ContentsOf sessions_naively(std::vector<Sale> sales, std::int64_t gap_ms, bool by_user) {
  std::sort(sales.begin(), sales.end(),
            [](const Sale& a, const Sale& b) { return a.time < b.time; });
  std::map<std::uint32_t, std::vector<std::pair<TimeWindow, Contents>>> sessions;
  for (const Sale& sale : sales) {
    auto& own = sessions[by_user ? sale.user : 0];
    if (own.empty() || sale.time >= own.back().first.end_ms) {
      own.push_back({{sale.time, sale.time}, {}});
    }
    own.back().first.end_ms = sale.time + gap_ms;
    own.back().second.add(sale);
  }
  ContentsOf windows;
  for (const auto& [user, own] : sessions) {
    for (const auto& [window, in] : own) windows[{user, window.start_ms, window.end_ms}] = in;
  }
  return windows;
}

TEST_P(Triggers, FunctionsOfWindowsEqualPlainLoops) {
  const std::vector<Sale> sales = random_sales(GetParam().seed + 1, 400);
  for (const auto& windows :
       {SlidingWindows::of(50, 50, 7), SlidingWindows::of(60, 25), SlidingWindows::of(20, 45)}) {
    StreamExecutionEnvironment env(options());
    Collected<Row> reduced, values, emitted, all_reduced, all_emitted, all_records;
    const auto stream = timed(env, sales);
    const auto windowed = stream.key_by(&Sale::user).window(windows);
    windowed.reduce(combine).map(row_of_sale).for_each(reduced.sink());
    windowed.aggregate(Total())
        .map([](const Windowed<std::uint32_t, Total::Result>& one) {
          return Row(one.key, one.window.start_ms, one.window.end_ms, one.value.first,
                     one.value.second);
        })
        .for_each(values.sink());
    windowed.aggregate(Total(), row_of_total).for_each(emitted.sink());
    stream.window_all(windows).reduce(combine).map(row_of_all).for_each(all_reduced.sink());
    stream.window_all(windows).aggregate(Total(), row_of_all_total).for_each(all_emitted.sink());
    stream.window_all(windows).process(row_of_all_records).for_each(all_records.sink());
    run(env);
    const ContentsOf of_users = on_grid_naively(sales, windows, true);
    const ContentsOf of_all = on_grid_naively(sales, windows, false);
    EXPECT_EQ(reduced.sorted(), rows_of(of_users, true));
    EXPECT_EQ(values.sorted(), rows_of(of_users, false));
    EXPECT_EQ(emitted.sorted(), rows_of(of_users, false));
    EXPECT_EQ(all_reduced.sorted(), rows_of(of_all, true));
    EXPECT_EQ(all_emitted.sorted(), rows_of(of_all, false));
    EXPECT_EQ(all_records.sorted(), rows_of(of_all, false));
  }
}

TEST_P(Triggers, FunctionsOfSessionsEqualPlainLoops) {
  constexpr std::int64_t gap_ms = 12;
  const std::vector<Sale> sales = random_sales(GetParam().seed + 1, 400);
  const auto sessions = SessionWindows::with_gap(gap_ms);
  StreamExecutionEnvironment env(options());
  Collected<Row> reduced, emitted, all_records;
  const auto stream = timed(env, sales);
  const auto windowed = stream.key_by(&Sale::user).window(sessions);
  windowed.reduce(combine).map(row_of_sale).for_each(reduced.sink());
  windowed.aggregate(Total(), row_of_total).for_each(emitted.sink());
  stream.window_all(SessionWindows::with_gap(4))
      .process(row_of_all_records)
      .for_each(all_records.sink());
  run(env);
  const ContentsOf of_users = sessions_naively(sales, gap_ms, true);
  EXPECT_EQ(reduced.sorted(), rows_of(of_users, true));
  EXPECT_EQ(emitted.sorted(), rows_of(of_users, false));
  EXPECT_EQ(all_records.sorted(), rows_of(sessions_naively(sales, 4, false), false));
}

// In which order the records of two subtasks come is open: there only the numbers are known.
TEST_P(Triggers, FunctionsOfCountWindows) {
  const std::vector<Sale> sales = random_sales(GetParam().seed + 1, 400);
  StreamExecutionEnvironment env(options());
  Collected<Row> fives, sevens;
  const auto stream = timed(env, sales);
  stream.key_by(&Sale::user)
      .window(CountWindows::of(5))
      .aggregate(Total(), row_of_total)
      .for_each(fives.sink());
  stream.window_all(CountWindows::of(7, 3))
      .aggregate(Total(), row_of_all_total)
      .for_each(sevens.sink());
  run(env);
  std::map<std::uint32_t, std::vector<Sale>> seen;
  std::vector<Row> expected_fives, expected_sevens;
  const auto last_of = [](std::uint32_t user, const std::vector<Sale>& some, std::size_t count) {
    Contents in;
    for (std::size_t i = some.size() - std::min(count, some.size()); i < some.size(); ++i) {
      in.add(some[i]);
    }
    return Row(user, no_timestamp, end_of_time, in.sum, in.records);
  };
  std::vector<Sale> all;
  for (const Sale& sale : sales) {
    seen[sale.user].push_back(sale);
    all.push_back(sale);
    const auto& own = seen[sale.user];
    if (own.size() % 5 == 0) expected_fives.push_back(last_of(sale.user, own, 5));
    if (all.size() % 3 == 0) expected_sevens.push_back(last_of(0, all, 7));
  }
  const auto without_sums = [](std::vector<Row> rows) {
    if (parallelism() > 1) {
      for (Row& row : rows) std::get<3>(row) = 0;
    }
    std::sort(rows.begin(), rows.end());
    return rows;
  };
  EXPECT_EQ(without_sums(fives.sorted()), without_sums(expected_fives));
  EXPECT_EQ(without_sums(sevens.sorted()), without_sums(expected_sevens));
}

using Count = std::pair<std::uint32_t, std::uint64_t>;
constexpr auto count_of = [](const Windowed<std::uint32_t, std::uint64_t>& one) {
  return Count(one.key, one.value);
};

// Of the author's own: whole sessions and keys only when they have three records or more.
struct AtLeastThree {
  struct State {
    std::uint32_t records = 0;
  };
  TriggerResult record(TriggerContext& context, State& state) const {
    ++state.records;
    context.call_at_event_time(context.window.end_ms);
    return TriggerResult::go_on;
  }
  TriggerResult event_time(TriggerContext&, State& state) const {
    return state.records >= 3 ? TriggerResult::fire : TriggerResult::purge;
  }
  TriggerResult processing_time(TriggerContext&, State&) const { return TriggerResult::go_on; }
  void merge(State& state, const State& other) const { state.records += other.records; }
};

TEST_P(Triggers, GlobalWindowsGoOutByTheirTriggerOrAtTheEnd) {
  std::vector<Sale> sales = random_sales(GetParam().seed + 1, 200);
  for (std::uint32_t i = 0; i < 4; ++i) sales.push_back({800, 5 + i / 2 * i, 1});  // 5, 5, 7, 8
  StreamExecutionEnvironment env(options());
  Collected<Count> at_end, every_four, fours, by_own;
  const auto windowed = timed(env, sales).key_by(&Sale::user).window(GlobalWindows{});
  windowed.count().map(count_of).for_each(at_end.sink());
  windowed.trigger(CountTrigger::of(4)).count().map(count_of).for_each(every_four.sink());
  windowed.trigger(PurgingTrigger(CountTrigger::of(4)))
      .count()
      .map(count_of)
      .for_each(fours.sink());
  windowed.trigger(AtLeastThree()).count().map(count_of).for_each(by_own.sink());
  run(env);
  std::map<std::uint32_t, std::uint64_t> users;
  for (const Sale& sale : sales) ++users[sale.user];
  std::vector<Count> totals, running, lots, large;
  for (const auto& [user, records] : users) {
    totals.emplace_back(user, records);
    for (std::uint64_t n = 4; n <= records; n += 4) {
      running.emplace_back(user, n);
      lots.emplace_back(user, 4);
    }
    if (records >= 3) large.emplace_back(user, records);
  }
  EXPECT_EQ(at_end.sorted(), totals);
  EXPECT_EQ(every_four.sorted(), running);
  EXPECT_EQ(fours.sorted(), lots);
  EXPECT_EQ(by_own.sorted(), large);
  EXPECT_LT(large.size(), totals.size());
}

TEST_P(Triggers, ATriggerOfOnesOwnKeepsItsStateWhereSessionsMeet) {
  const std::vector<Sale> sales = random_sales(GetParam().seed + 1, 400);
  StreamExecutionEnvironment env(options());
  Collected<Row> large, single;
  const auto windowed = timed(env, sales).key_by(&Sale::user).window(SessionWindows::with_gap(12));
  windowed.trigger(AtLeastThree()).aggregate(Total(), row_of_total).for_each(large.sink());
  windowed.trigger(PurgingTrigger(CountTrigger::of(1)))
      .aggregate(Total(), row_of_total)
      .for_each(single.sink());
  run(env);
  ContentsOf expected = sessions_naively(sales, 12, true);
  std::erase_if(expected, [](const auto& session) { return session.second.records < 3; });
  EXPECT_EQ(large.sorted(), rows_of(expected, false));
  EXPECT_FALSE(expected.empty());
  std::int64_t sum = 0;
  for (const Row& row : single.sorted()) {
    EXPECT_EQ(std::get<4>(row), 1) << "what has gone out is forgotten";
    sum += std::get<3>(row);
  }
  EXPECT_EQ(single.sorted().size(), sales.size());
  for (const Sale& sale : sales) sum -= sale.value;
  EXPECT_EQ(sum, 0);
}

// Of the author's own: a first result once half of the window is complete, and one at its end.
struct EarlyAndAtTheEnd {
  struct State {
    bool early = false;
  };
  TriggerResult record(TriggerContext& context, State& state) const {
    const Timestamp half = (context.window.start_ms + context.window.end_ms) / 2;
    context.call_at_event_time(state.early ? context.window.end_ms : half);
    return TriggerResult::go_on;
  }
  TriggerResult event_time(TriggerContext& context, State& state) const {
    if (!std::exchange(state.early, true)) context.call_at_event_time(context.window.end_ms);
    return TriggerResult::fire;
  }
  TriggerResult processing_time(TriggerContext&, State&) const { return TriggerResult::go_on; }
  void merge(State&, const State&) const {}
};

TEST_P(Triggers, EarlyResultsHoldAllBeforeTheWatermark) {
  const std::vector<Sale> sales = random_sales(GetParam().seed + 1, 400);
  StreamExecutionEnvironment env(options());
  Collected<Row> out;
  timed(env, sales)
      .key_by(&Sale::user)
      .window(TumblingWindows::of(100))
      .trigger(EarlyAndAtTheEnd())
      .aggregate(Total(), row_of_total)
      .for_each(out.sink())
      .parallelism(1);
  run(env);
  std::map<std::pair<std::uint32_t, Timestamp>, std::vector<std::int64_t>> seen;
  for (const Row& row : out.in_order()) {
    seen[{std::get<0>(row), std::get<1>(row)}].push_back(std::get<4>(row));
  }
  const ContentsOf windows = on_grid_naively(sales, TumblingWindows::of(100), true);
  for (const auto& [at, in] : windows) {
    const auto [user, start, end] = at;
    const std::vector<std::int64_t>& records = seen[{user, start}];
    ASSERT_EQ(records.size(), 2u) << "user " << user << " from " << start;
    std::int64_t first_half = 0;
    for (const Sale& sale : sales) {
      first_half += sale.user == user && sale.time >= start && sale.time < start + 50 ? 1 : 0;
    }
    EXPECT_GE(records[0], first_half);
    EXPECT_EQ(records[1], in.records);
  }
  EXPECT_EQ(seen.size(), windows.size());
}

// Record by record, with a watermark behind each, it is a loop over the times.
TEST_P(Triggers, ContinuousOnesFireWheneverAMultipleHasPassedAndAtTheEnd) {
  constexpr std::int64_t interval_ms = 30;
  std::vector<Sale> sales = random_sales(GetParam().seed + 1, 200);
  std::sort(sales.begin(), sales.end(),
            [](const Sale& a, const Sale& b) { return a.time < b.time; });
  StreamExecutionEnvironment env(record_by_record());
  Collected<Row> hundreds, global;
  const auto keyed = env.from_collection(sales)
                         .assign_timestamps(&Sale::time, WatermarkStrategy::ascending().every(1))
                         .key_by(&Sale::user);
  const auto trigger = ContinuousTrigger::every(interval_ms);
  keyed.window(TumblingWindows::of(100))
      .trigger(trigger)
      .aggregate(Total(), row_of_total)
      .for_each(hundreds.sink());
  keyed.window(GlobalWindows{})
      .trigger(trigger)
      .aggregate(Total(), row_of_total)
      .for_each(global.sink());
  run(env);

  struct Window {
    Contents in;
    Timestamp next;
  };
  const auto multiple_behind = [](Timestamp time) {
    return (time / interval_ms + 1) * interval_ms;
  };
  const auto expected = [&](bool tumbling) {
    std::map<std::tuple<std::uint32_t, Timestamp, Timestamp>, Window> open;
    std::vector<Row> rows;
    const auto advance = [&](Timestamp watermark) {
      for (auto window = open.begin(); window != open.end();) {
        const auto [user, start, end] = window->first;
        if (std::min(window->second.next, end) <= watermark) {
          rows.emplace_back(user, start, end, window->second.in.sum, window->second.in.records);
          if (watermark < end) window->second.next = multiple_behind(watermark);
        }
        window = end <= watermark ? open.erase(window) : std::next(window);
      }
    };
    for (const Sale& sale : sales) {
      const Timestamp start = tumbling ? sale.time / 100 * 100 : no_timestamp;
      Window& window = open.try_emplace({sale.user, start, tumbling ? start + 100 : end_of_time},
                                        Window{{}, multiple_behind(sale.time)})
                           .first->second;
      window.in.add(sale);
      advance(sale.time);
    }
    for (auto& [at, window] : open) window.next = end_of_time;
    advance(end_of_time);
    std::sort(rows.begin(), rows.end());
    return rows;
  };
  EXPECT_EQ(hundreds.sorted(), expected(true));
  EXPECT_EQ(global.sorted(), expected(false));
}

TEST_P(Triggers, PurgingContinuousOnesGiveEachRecordOnce) {
  const std::vector<Sale> sales = random_sales(GetParam().seed + 1, 400);
  StreamExecutionEnvironment env(options());
  Collected<Row> out;
  timed(env, sales)
      .key_by(&Sale::user)
      .window(TumblingWindows::of(100))
      .trigger(PurgingTrigger(ContinuousTrigger::every(30)))
      .aggregate(Total(), row_of_total)
      .for_each(out.sink());
  run(env);
  const ContentsOf windows = on_grid_naively(sales, TumblingWindows::of(100), true);
  ContentsOf seen;
  for (const Row& row : out.sorted()) {
    Contents& in = seen[{std::get<0>(row), std::get<1>(row), std::get<2>(row)}];
    in.sum += std::get<3>(row);
    in.records += std::get<4>(row);
  }
  EXPECT_EQ(rows_of(seen, false), rows_of(windows, false));
  EXPECT_GT(out.sorted().size(), windows.size());
}

// A record that is too late for some of its windows is no late one: others have it.
TEST_P(Triggers, LateIsWhatNoWindowTakes) {
  const std::vector<Sale> sales{{100, 0, 1}, {131, 0, 2}, {125, 0, 4}, {115, 0, 8}, {90, 0, 16}};
  for (const bool with_trigger : {false, true}) {
    StreamExecutionEnvironment env(record_by_record());
    Collected<Row> out;
    const auto windowed = env.from_collection(sales)
                              .assign_timestamps(&Sale::time, WatermarkStrategy::ascending())
                              .key_by(&Sale::user)
                              .window(SlidingWindows::of(30, 10));
    if (with_trigger) {
      windowed.trigger(EventTimeTrigger()).aggregate(Total(), row_of_total).for_each(out.sink());
    } else {
      windowed.aggregate(Total(), row_of_total).for_each(out.sink());
    }
    const JobResult result = run(env);
    const std::vector<Row> expected{{0, 80, 110, 1, 1},   {0, 90, 120, 1, 1},  {0, 100, 130, 1, 1},
                                    {0, 110, 140, 14, 3}, {0, 120, 150, 6, 2}, {0, 130, 160, 2, 1}};
    EXPECT_EQ(out.sorted(), expected) << with_trigger;
    EXPECT_EQ(result.records_late, 1u) << with_trigger;
  }
}

}  // namespace
}  // namespace hummer::trigger_test
