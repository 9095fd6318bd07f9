// Aggregates that keep more than a number, in whole jobs: folded ahead of the exchange, behind it,
// and where tables have no room in memory, results are those of a plain loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <hummer/aggregates.hpp>

#include "pipelines/collected.hpp"
#include "pipelines/on_platforms.hpp"

namespace hummer::more_aggregates_test {
namespace {

struct Visit {
  std::int64_t time = 0;
  std::uint64_t page = 0;
  std::string user;
  double ms = 0;
};

constexpr std::int64_t window_ms = 1000;
constexpr std::uint64_t visits = 20'000, pages = 50;
// Tables go to disk all the time.
constexpr std::size_t hardly_any = 200'000;

Visit visit_of(std::uint64_t i) {
  const std::uint64_t drawn = hash_u64(i + 1);
  return {static_cast<std::int64_t>(i / 4), drawn % pages,
          "user" + std::to_string(drawn / pages % 40), static_cast<double>(drawn % 10'000) / 8};
}

// By window and page, as a plain loop has them.
std::map<std::pair<std::int64_t, std::uint64_t>, std::vector<Visit>> visits_by_window() {
  std::map<std::pair<std::int64_t, std::uint64_t>, std::vector<Visit>> all;
  for (std::uint64_t i = 0; i < visits; ++i) {
    const Visit visit = visit_of(i);
    all[{visit.time / window_ms * window_ms, visit.page}].push_back(visit);
  }
  return all;
}

using Key = std::pair<std::int64_t, std::uint64_t>;

class MoreAggregates : public testing::TestWithParam<WindowStrategy> {
 protected:
  // The aggregate's result by window and page.
  template <typename Aggregate>
  auto run(Aggregate aggregate, std::size_t memory_limit = 0) {
    const auto node = make_simulated_platform({.seed = 3});
    EnvironmentOptions options;
    options.platform = node.get();
    options.parallelism = 3;
    options.window_strategy = GetParam();
    options.memory_limit_bytes = memory_limit;
    options.batch_records = 64;  // so that channels hold little
    options.channel_credits = 2;
    options.spill_directory = "/spill";
    EXPECT_TRUE(node->files().make_directory("/spill").ok());
    StreamExecutionEnvironment env(options);
    using Value = typename Aggregate::Result;
    Collected<Windowed<std::uint64_t, Value>> results;
    env.generate([](std::uint64_t i) { return visit_of(i); }, {.count = visits})
        .assign_timestamps(&Visit::time, WatermarkStrategy::bounded(50))
        .key_by(&Visit::page)
        .window(TumblingWindows::of(window_ms))
        .aggregate(aggregate)
        .for_each(results.sink());
    const JobResult done = env.execute("aggregates");
    EXPECT_TRUE(done.ok()) << done.status.to_string();
    EXPECT_EQ(node->simulation().counts().nameless_files > 0, memory_limit > 0);
    std::map<Key, Value> by_key;
    for (const auto& one : results.in_order()) {
      const bool is_new = by_key.emplace(Key{one.window.start_ms, one.key}, one.value).second;
      EXPECT_TRUE(is_new);
    }
    return by_key;
  }

  const std::map<Key, std::vector<Visit>> expected_ = visits_by_window();
};

TEST_P(MoreAggregates, OfWindowsAreThoseOfAPlainLoop) {
  // Time and user make the order total but for equal visits.
  const auto order = [](const Visit& visit) { return std::pair(visit.ms, visit.user); };
  const auto averages = run(average(&Visit::ms));
  const auto first = run(first_by<Visit>(order));
  const auto last = run(last_by<Visit>(order));
  const auto top = run(top_k<5, Visit>(order));
  const auto users = run(distinct(&Visit::user));
  const auto ms = run(quantiles(&Visit::ms, 0.5, 1));
  ASSERT_EQ(averages.size(), expected_.size());
  for (const auto& [key, all] : expected_) {
    std::vector<double> sorted;
    std::set<std::string> names;
    double sum = 0;
    for (const Visit& visit : all) {
      sorted.push_back(visit.ms);
      names.insert(visit.user);
      sum += visit.ms;
    }
    std::sort(sorted.begin(), sorted.end());
    EXPECT_DOUBLE_EQ(averages.at(key), sum / static_cast<double>(all.size()));
    EXPECT_EQ(first.at(key).ms, sorted.front());
    EXPECT_EQ(last.at(key).ms, sorted.back());
    std::vector<double> greatest;
    for (const Visit& visit : top.at(key)) greatest.push_back(visit.ms);
    const std::size_t kept = std::min<std::size_t>(5, sorted.size());
    EXPECT_EQ(greatest, std::vector<double>(sorted.rbegin(),
                                            sorted.rbegin() + static_cast<std::ptrdiff_t>(kept)));
    EXPECT_EQ(users.at(key), names.size());
    EXPECT_EQ(ms.at(key)[0], sorted[(sorted.size() + 1) / 2 - 1]);
    EXPECT_EQ(ms.at(key)[1], sorted.back());
  }
}

TEST_P(MoreAggregates, OfWindowsBeyondMemoryAreThoseWithinIt) {
  const auto users = distinct(&Visit::user);
  const auto ms = quantiles(&Visit::ms, 0.25, 0.75);
  EXPECT_EQ(run(users, hardly_any), run(users));
  const auto within = run(ms), beyond = run(ms, hardly_any);
  ASSERT_EQ(within.size(), beyond.size());
  for (const auto& [key, found] : within) EXPECT_EQ(beyond.at(key), found);
}

std::string strategy_name(const testing::TestParamInfo<WindowStrategy>& tested) {
  switch (tested.param) {
    case WindowStrategy::automatic: return "automatic";
    case WindowStrategy::repartition: return "repartition";
    case WindowStrategy::late_merge: return "late_merge";
  }
  return "unknown";
}
INSTANTIATE_TEST_SUITE_P(Strategies, MoreAggregates,
                         testing::Values(WindowStrategy::automatic, WindowStrategy::repartition,
                                         WindowStrategy::late_merge),
                         strategy_name);

// Running aggregates without windows, whose order of records is that of their source.
TEST(MoreRunningAggregates, OfKeysAreThoseOfAPlainLoop) {
  const auto node = make_simulated_platform({.seed = 5});
  EnvironmentOptions options;
  options.platform = node.get();
  options.parallelism = 2;
  StreamExecutionEnvironment env(options);
  Collected<KeyValue<std::uint64_t, std::uint64_t>> users;
  Collected<KeyValue<std::uint64_t, double>> averages;
  const auto keyed = env.generate([](std::uint64_t i) { return visit_of(i); }, {.count = visits})
                         .key_by(&Visit::page);
  keyed.aggregate("users", distinct(&Visit::user)).for_each(users.sink());
  keyed.aggregate("average", average(&Visit::ms)).for_each(averages.sink());
  ASSERT_TRUE(env.execute("running").ok());
  std::map<std::uint64_t, std::set<std::string>> names;
  std::map<std::uint64_t, std::pair<double, double>> sums;
  for (std::uint64_t i = 0; i < visits; ++i) {
    const Visit visit = visit_of(i);
    names[visit.page].insert(visit.user);
    sums[visit.page].first += visit.ms;
    sums[visit.page].second += 1;
  }
  ASSERT_EQ(users.in_order().size(), pages);
  for (const auto& [page, found] : users.in_order()) EXPECT_EQ(found, names[page].size());
  for (const auto& [page, found] : averages.in_order()) {
    EXPECT_DOUBLE_EQ(found, sums[page].first / sums[page].second);
  }
}

}  // namespace
}  // namespace hummer::more_aggregates_test
