// Windows and aggregates that fold ahead of the exchange as long as keys repeat, and then pass
// records as they are, in jobs that fail and start again from a checkpoint, also at another
// parallelism: each result is what it is without failures. Embedded, under the simulated platform
// with many seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include <hummer/detail/engine_metrics.hpp>
#include <hummer/hummer.hpp>

#include "checkpoints/failing_jobs.hpp"
#include "platform/simulation.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::passing_windows_test {
namespace {

using Index = std::uint64_t;
constexpr Index record_count = 120'000, of_few_keys = 5'000;

struct Item {
  Index key;
  Index value;
};
// Keys come again often, then each but twice.
Item item(Index i) { return {i < of_few_keys ? i % 7 : 7 + i / 2, i}; }
Timestamp time_of(Index i) { return static_cast<Timestamp>(i / 8 + (i % 3 == 0 ? 7 : 0)); }

struct Expected {
  std::vector<std::string> sums, maxima;
};
Expected expected_lines() {
  std::map<std::tuple<Timestamp, Index>, Index> sums;
  std::map<Index, Index> maxima;
  for (Index i = 0; i < record_count; ++i) {
    const Timestamp first = time_of(i) / 50 * 50;
    for (const Timestamp start : {first - 50, first}) sums[{start, item(i).key}] += i;
    maxima[item(i).key] = i;
  }
  Expected lines;
  for (const auto& [at, sum] : sums) {
    lines.sums.push_back(std::to_string(std::get<0>(at)) + " " + std::to_string(std::get<1>(at)) +
                         " " + std::to_string(sum));
  }
  for (const auto& [key, value] : maxima) {
    lines.maxima.push_back(std::to_string(key) + " " + std::to_string(value));
  }
  std::sort(lines.sums.begin(), lines.sums.end());
  std::sort(lines.maxima.begin(), lines.maxima.end());
  return lines;
}
void expect_all(SimulatedPlatform& node) {
  const Expected expected = expected_lines();
  EXPECT_EQ(visible_lines(node.files(), "/sums"), expected.sums);
  EXPECT_EQ(visible_lines(node.files(), "/maxima"), expected.maxima);
}

JobResult run_job(EnvironmentOptions options, PlannedFailures& failures) {
  StreamExecutionEnvironment env(std::move(options));
  const auto items = env.generate([](Index i) { return item(i); },
                                  {.count = record_count,
                                   .records_per_second = 300'000.0,
                                   .watermark_interval = 64,
                                   .out_of_order_ms = 8},
                                  [](Index i) { return time_of(i); })
                         .map([&failures](const Item& each) {
                           failures.maybe_throw();
                           return each;
                         });
  // Both read the same batches.
  items.key_by(&Item::key)
      .max(&Item::value, Emit::at_end)
      .map([](const auto& each) {
        return std::to_string(each.key) + " " + std::to_string(each.value);
      })
      .write_file("/maxima");
  items.key_by(&Item::key)
      .window(SlidingWindows::of(100, 50))
      .sum(&Item::value)
      .map([](const auto& each) {
        return std::to_string(each.window.start_ms) + " " + std::to_string(each.key) + " " +
               std::to_string(each.value);
      })
      .write_file("/sums");
  return env.execute("sums");
}

std::uint64_t passed(const JobResult& result) {
  std::uint64_t records = 0;
  for (const VertexSummary& vertex : result.vertices) {
    for (const OperatorSummary& op : vertex.operators) {
      for (const MetricSummary& metric : op.metrics) {
        if (metric.name == detail::records_passed.name) records += metric.count;
      }
    }
  }
  return records;
}

class PassingWindows : public testing::TestWithParam<std::uint64_t> {
 protected:
  EnvironmentOptions options(SimulatedPlatform& node, int parallelism) {
    EnvironmentOptions options;
    options.platform = &node;
    options.parallelism = parallelism;
    options.batch_records = 256;
    options.channel_credits = 2;
    options.partial_state_bytes = 1;  // an epoch per batch
    options.checkpoints.directory = "/checkpoints";
    options.checkpoints.interval_ms = 20;
    options.checkpoints.unaligned = GetParam() % 2 == 0;
    options.restart = RestartStrategy::fixed_delay(20, 5);
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, PassingWindows,
                         testing::Range<std::uint64_t>(1, drawn_cases(6) + 1));

TEST_P(PassingWindows, FailuresAndAnotherParallelismDoNotShow) {
  auto node = make_simulated_platform({.seed = GetParam()});
  PlannedFailures failures;
  failures.left = 2;
  failures.every = 40'000;
  const int parallelism = 1 + static_cast<int>(GetParam() % 3);
  const JobResult result = run_job(options(*node, parallelism), failures);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_LE(failures.left.load(), 0) << "a failure that was planned did not come";
  EXPECT_GT(passed(result), 0u);
  expect_all(*node);

  auto other = make_simulated_platform({.seed = 200 + GetParam()});
  failures.left = 1;
  failures.seen = 0;
  failures.every = 70'000;
  EnvironmentOptions first = options(*other, parallelism);
  first.restart = RestartStrategy::no_restart();
  ASSERT_EQ(run_job(first, failures).status.code(), ErrorCode::user_function_failed);
  EnvironmentOptions second = options(*other, 1 + parallelism % 3);
  second.checkpoints.restore = "latest";
  // From then on everything is folded: the state is the same, but no record may be on its way by
  // the edge that is no more.
  if (GetParam() % 4 == 1) second.window_strategy = WindowStrategy::late_merge;
  const JobResult resumed = run_job(second, failures);
  ASSERT_TRUE(resumed.ok()) << resumed.status.to_string();
  expect_all(*other);
}

}  // namespace
}  // namespace hummer::passing_windows_test
