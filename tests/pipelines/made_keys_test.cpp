// Keys that the key function makes, and keys that are a std::string of the record, through the
// public API at parallelism 1 and 3: every result equals that of a plain loop.
#include <map>
#include <set>

#include "pipelines/on_platforms.hpp"

namespace hummer::made_keys_test {
namespace {

struct Order {
  std::string country;
  std::string city;
  Timestamp time;
  std::int64_t cents;
};
using Row = std::tuple<std::string, std::int64_t, std::int64_t>;  // key, a time or number, number

constexpr std::uint64_t order_count = 1500;
constexpr Timestamp window_ms = 100;

// Keys from 3 to 45 characters; batches of a hundred hold each several times.
Order order_of(std::uint64_t i) {
  const std::uint64_t x = (i + 1) * 0x9E3779B97F4A7C15u >> 40;
  return {std::string("Land der weiten Ebenen").substr(0, 1 + x % 22),
          std::string("Stadt am grossen Fluss").substr(0, 1 + x / 22 % 7 * 3),
          static_cast<Timestamp>(i), static_cast<std::int64_t>(x % 1000)};
}
constexpr auto made = [](const Order& order) { return order.country + ":" + order.city; };
constexpr auto field = &Order::country;

struct Setting {
  int parallelism;
  WindowStrategy strategy;
  std::uint64_t seed;  // of the simulation; 0: Linux
};
std::ostream& operator<<(std::ostream& out, const Setting& setting) {
  return out << (setting.seed == 0 ? "linux" : "simulated") << "_p" << setting.parallelism
             << (setting.strategy == WindowStrategy::late_merge ? "_late_merge" : "_repartition");
}

class TextKeys : public testing::TestWithParam<Setting> {
 protected:
  TextKeys()
      : platform_(GetParam().seed == 0 ? nullptr
                                       : make_simulated_platform({.seed = GetParam().seed})) {
    options_.parallelism = GetParam().parallelism;
    options_.window_strategy = GetParam().strategy;
    options_.batch_records = GetParam().seed == 0 ? 1024 : 100;
    options_.platform = platform_.get();
  }
  static DataStream<Order> orders(StreamExecutionEnvironment& env) {
    return env.generate(order_of, {.count = order_count, .watermark_interval = 50},
                        [](std::uint64_t i) { return static_cast<Timestamp>(i); });
  }
  static void run(StreamExecutionEnvironment& env) {
    const JobResult result = env.execute("keys");
    ASSERT_TRUE(result.ok()) << result.status.to_string();
  }
  // add(rows, key, order) in the order of the orders; then sorted.
  template <typename KeyOf, typename Add>
  static std::vector<Row> expected(KeyOf key_of, Add add) {
    std::vector<Row> rows;
    for (std::uint64_t i = 0; i < order_count; ++i) {
      const Order order = order_of(i);
      add(rows, std::string(std::invoke(key_of, order)), order);
    }
    std::sort(rows.begin(), rows.end());
    return rows;
  }
  template <typename KeyOf>
  void check_aggregates(KeyOf key_of);
  template <typename KeyOf>
  void check_windows(KeyOf key_of);
  template <typename KeyOf>
  void check_functions(KeyOf key_of);
  template <typename KeyOf>
  void check_joins(KeyOf key_of);

  std::unique_ptr<SimulatedPlatform> platform_;
  EnvironmentOptions options_;
};
INSTANTIATE_TEST_SUITE_P(Settings, TextKeys,
                         testing::Values(Setting{1, WindowStrategy::repartition, 0},
                                         Setting{1, WindowStrategy::late_merge, 0},
                                         Setting{3, WindowStrategy::repartition, 0},
                                         Setting{3, WindowStrategy::late_merge, 0},
                                         Setting{1, WindowStrategy::late_merge, 1},
                                         Setting{3, WindowStrategy::repartition, 2}),
                         testing::PrintToStringParamName());

constexpr auto key_and_value = [](const auto& one) {
  return Row(std::string(one.key), static_cast<std::int64_t>(one.value), 0);
};
constexpr auto window_row = [](const auto& one) {
  return Row(std::string(one.key), one.window.start_ms, static_cast<std::int64_t>(one.value));
};

template <typename KeyOf>
void TextKeys::check_aggregates(KeyOf key_of) {
  StreamExecutionEnvironment env(options_);
  Collected<Row> counts, maxima, totals, kept;
  const auto keyed = orders(env).key_by(key_of);
  keyed.count().map(key_and_value).for_each(counts.sink());
  keyed.max(&Order::cents, Emit::at_end).map(key_and_value).for_each(maxima.sink());
  // Behind a chained function, and behind a sink's own exchange.
  const auto running = keyed.count(Emit::every_record);
  running.map(key_and_value).for_each(totals.sink());
  running.rebalance().map(key_and_value).for_each(kept.sink());
  run(env);
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> all;
  const std::vector<Row> every = expected(key_of, [&](auto& rows, const auto& key, const Order& o) {
    auto& [count, greatest] = all[key];
    greatest = std::max(greatest, o.cents);
    rows.emplace_back(key, ++count, 0);
  });
  std::vector<Row> expected_counts, expected_maxima;
  for (const auto& [key, metrics] : all) {
    expected_counts.emplace_back(key, metrics.first, 0);
    expected_maxima.emplace_back(key, metrics.second, 0);
  }
  EXPECT_EQ(counts.sorted(), expected_counts);
  EXPECT_EQ(maxima.sorted(), expected_maxima);
  EXPECT_EQ(totals.sorted(), every);
  EXPECT_EQ(kept.sorted(), every);
}
TEST_P(TextKeys, Aggregates) {
  check_aggregates(made);
  check_aggregates(field);
}

template <typename KeyOf>
void TextKeys::check_windows(KeyOf key_of) {
  StreamExecutionEnvironment env(options_);
  Collected<Row> sums, counted, sliding, triggered;
  const auto keyed = orders(env).key_by(key_of);
  keyed.window(TumblingWindows::of(window_ms))
      .sum(&Order::cents)
      .map(window_row)
      .for_each(sums.sink());
  keyed.window(SlidingWindows::of(window_ms, window_ms / 2))
      .sum(&Order::cents)
      .map(window_row)
      .for_each(sliding.sink());
  keyed.window(TumblingWindows::of(window_ms))
      .trigger(EventTimeTrigger())
      .sum(&Order::cents)
      .map(window_row)
      .for_each(triggered.sink());
  keyed.window(CountWindows::of(3)).count().map(key_and_value).for_each(counted.sink());
  run(env);
  std::map<std::pair<std::string, Timestamp>, std::int64_t> of_tumbling, of_sliding;
  std::map<std::string, std::int64_t> seen;
  const std::vector<Row> threes =
      expected(key_of, [&](auto& rows, const auto& key, const Order& o) {
        of_tumbling[{key, o.time / window_ms * window_ms}] += o.cents;
        const Timestamp last = o.time / (window_ms / 2) * (window_ms / 2);
        of_sliding[{key, last}] += o.cents;
        of_sliding[{key, last - window_ms / 2}] += o.cents;
        if (++seen[key] % 3 == 0) rows.emplace_back(key, 3, 0);
      });
  const auto rows_of = [](const auto& windows) {
    std::vector<Row> rows;
    for (const auto& [at, sum] : windows) rows.emplace_back(at.first, at.second, sum);
    return rows;
  };
  EXPECT_EQ(sums.sorted(), rows_of(of_tumbling));
  EXPECT_EQ(triggered.sorted(), rows_of(of_tumbling));
  EXPECT_EQ(sliding.sorted(), rows_of(of_sliding));
  EXPECT_EQ(counted.sorted(), threes);
}
TEST_P(TextKeys, Windows) {
  check_windows(made);
  check_windows(field);
}

// The number and the sum of a key so far.
struct SumUp {
  ValueState<std::int64_t> count{"count"};
  ValueState<std::int64_t> sum{"sum"};
  void process(const Order& order, KeyedOutput<Row>& out) {
    count.set(count.get_or(0) + 1);
    sum.set(sum.get_or(0) + order.cents);
    out.emit(Row(out.key<std::string_view>(), *count.find(), *sum.find()));
  }
};

template <typename KeyOf>
void TextKeys::check_functions(KeyOf key_of) {
  StreamExecutionEnvironment env(options_);
  Collected<Row> numbers, best;
  Collected<std::string> first;
  const auto keyed = orders(env).key_by(key_of);
  keyed.process(SumUp{})
      .map([](const Row& row) { return Row(std::get<0>(row), std::get<1>(row), 0); })
      .for_each(numbers.sink());
  keyed.deduplicate()
      .map([key_of](const Order& order) { return std::string(std::invoke(key_of, order)); })
      .for_each(first.sink());
  keyed.top_n(1, &Order::cents, 10 * window_ms)
      .map([key_of](const Ranked<Order>& one) {
        return Row(std::string(std::invoke(key_of, one.record)), one.window_start,
                   one.record.cents);
      })
      .for_each(best.sink());
  run(env);
  std::map<std::string, std::int64_t> seen;
  std::map<std::pair<std::string, Timestamp>, std::int64_t> greatest;
  const std::vector<Row> all = expected(key_of, [&](auto& rows, const auto& key, const Order& o) {
    rows.emplace_back(key, ++seen[key], 0);
    std::int64_t& cents = greatest[{key, o.time / (10 * window_ms) * (10 * window_ms)}];
    cents = std::max(cents, o.cents);
  });
  std::vector<std::string> keys;
  for (const auto& [key, count] : seen) keys.push_back(key);
  std::vector<Row> expected_best;
  for (const auto& [at, cents] : greatest) expected_best.emplace_back(at.first, at.second, cents);
  EXPECT_EQ(numbers.sorted(), all);
  EXPECT_EQ(first.sorted(), keys);
  EXPECT_EQ(best.sorted(), expected_best);
}
TEST_P(TextKeys, Functions) {
  check_functions(made);
  check_functions(field);
}

template <typename KeyOf>
void TextKeys::check_joins(KeyOf key_of) {
  StreamExecutionEnvironment env(options_);
  Collected<Row> windowed, near, grouped;
  const auto left = orders(env).key_by(key_of);
  const auto right = orders(env).key_by(key_of);
  const auto times = [key_of](const Order& a, const Order& b) {
    return Row(std::string(std::invoke(key_of, a)), a.time, b.time);
  };
  left.join(right).window(TumblingWindows::of(window_ms)).apply(times).for_each(windowed.sink());
  left.interval_join(right).between(-10, 20).apply(times).for_each(near.sink());
  left.co_group(right)
      .window(TumblingWindows::of(window_ms))
      .apply([key_of](const TimeWindow& window, std::span<const Order> a, std::span<const Order> b,
                      KeyedOutput<Row>& out) {
        out.emit(Row(std::string(std::invoke(key_of, a[0])), window.start_ms,
                     static_cast<std::int64_t>(a.size() * b.size())));
      })
      .for_each(grouped.sink());
  run(env);
  std::map<std::string, std::vector<Timestamp>> by_key;
  expected(key_of, [&](auto&, const auto& key, const Order& o) { by_key[key].push_back(o.time); });
  std::vector<Row> in_window, in_reach;
  std::map<std::pair<std::string, Timestamp>, std::int64_t> pairs;
  for (const auto& [key, all] : by_key) {
    for (const Timestamp a : all) {
      for (const Timestamp b : all) {
        if (a / window_ms == b / window_ms) {
          in_window.emplace_back(key, a, b);
          ++pairs[{key, a / window_ms * window_ms}];
        }
        if (b - a >= -10 && b - a <= 20) in_reach.emplace_back(key, a, b);
      }
    }
  }
  std::vector<Row> groups;
  for (const auto& [at, count] : pairs) groups.emplace_back(at.first, at.second, count);
  EXPECT_EQ(windowed.sorted(), in_window);
  EXPECT_EQ(near.sorted(), in_reach);
  EXPECT_EQ(grouped.sorted(), groups);
}
TEST_P(TextKeys, Joins) {
  check_joins(made);
  check_joins(field);
}

}  // namespace
}  // namespace hummer::made_keys_test
