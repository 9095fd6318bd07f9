// Metrics of the author's functions in whole jobs: every kind of function counts, subtasks are
// added up, attempts begin at 0, and what can't be kept fails the job by name.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "pipelines/on_platforms.hpp"

namespace hummer::user_metrics_test {
namespace {

const Counter global_metric("global_metric");

// The metric of this name, of the first operator that has one.
MetricSummary metric_of(const JobResult& result, const std::string& name) {
  for (const VertexSummary& vertex : result.vertices) {
    for (const OperatorSummary& op : vertex.operators) {
      for (const MetricSummary& metric : op.metrics) {
        if (metric.name == name) return metric;
      }
    }
  }
  ADD_FAILURE() << "no metric " << name;
  return {};
}

// With its hooks: what open and close count is seen too.
struct PerKey {
  Counter opened{"opened"};
  Counter closed{"closed"};
  Gauge last{"last"};
  Histogram values{"values"};
  ValueState<std::uint64_t> seen{"seen"};

  void open(OperatorContext&) { opened.add(); }
  void process(std::uint64_t value, KeyedOutput<std::uint64_t>& out) {
    seen.set(seen.get_or(0) + 1);
    last.set(static_cast<double>(value));
    values.record(static_cast<double>(value % 100));
    out.emit(value);
  }
  void close() { closed.add(); }
};

class UserMetrics : public OnPlatforms {};
INSTANTIATE_TEST_SUITE_P(Platforms, UserMetrics, OnPlatforms::everywhere());

TEST_P(UserMetrics, EveryFunctionCounts) {
  constexpr std::uint64_t count = 1000;
  StreamExecutionEnvironment env(options());
  env.generate(
         [made = Counter("made")](std::uint64_t i) {
           made.add();
           return i;
         },
         {.count = count})
      .filter([odd = Counter("odd")](std::uint64_t i) {
        if (i % 2 != 0) odd.add();
        return true;
      })
      .map([seen = Counter("seen")](std::uint64_t i) {
        seen.add(2);
        global_metric.add();
        return i;
      })
      .key_by([keys = Counter("keys")](std::uint64_t i) {
        keys.add();
        return i % 7;
      })
      .process(PerKey())
      .for_each([sunk = Counter("sunk")](std::uint64_t) { sunk.add(); });
  const JobResult result = run(env);
  EXPECT_EQ(result.counter("made"), count);
  EXPECT_EQ(result.counter("odd"), count / 2);
  EXPECT_EQ(result.counter("seen"), 2 * count);
  EXPECT_EQ(result.counter("global_metric"), count);
  EXPECT_GE(result.counter("keys"), count);
  EXPECT_EQ(result.counter("sunk"), count);
  EXPECT_EQ(result.counter("opened"), static_cast<std::uint64_t>(parallelism()));
  EXPECT_EQ(result.counter("closed"), static_cast<std::uint64_t>(parallelism()));
  EXPECT_EQ(result.counter("nobody's"), 0u);
  const MetricSummary last = metric_of(result, "last");
  EXPECT_EQ(last.kind, MetricKind::gauge);
  EXPECT_EQ(last.count, static_cast<std::uint64_t>(parallelism()));
  EXPECT_LE(last.min, last.max);
  if (parallelism() == 1) {
    EXPECT_EQ(last.sum, 999);  // else records come in any order
  }
  const MetricSummary values = metric_of(result, "values");
  EXPECT_EQ(values.kind, MetricKind::histogram);
  EXPECT_EQ(values.count, count);
  EXPECT_EQ(values.sum, 49'500);
  EXPECT_EQ(values.max, 99);
  EXPECT_NEAR(values.p50, 49.5, 6);
  EXPECT_NEAR(values.p99, 98.5, 12);
}

TEST_P(UserMetrics, AnAttemptBeginsAtZero) {
  constexpr std::uint64_t count = 100;
  EnvironmentOptions options = this->options();
  options.restart = RestartStrategy::fixed_delay(3, 1);
  StreamExecutionEnvironment env(options);
  const auto thrown = std::make_shared<std::atomic<int>>(0);
  env.generate([](std::uint64_t i) { return i; }, {.count = count})
      .for_each([thrown, seen = Counter("seen")](std::uint64_t i) {
        seen.add();
        if (i == count / 2 && thrown->fetch_add(1) < 2) throw std::runtime_error("once more");
      });
  const JobResult result = run(env);
  EXPECT_EQ(thrown->load(), 3);
  EXPECT_EQ(result.counter("seen"), count);
}

TEST_P(UserMetrics, WhatCantBeKeptFailsTheJobByName) {
  StreamExecutionEnvironment env(options());
  env.generate([](std::uint64_t i) { return i; }, {.count = 100})
      .map([wrong = Counter("bad-lines")](std::uint64_t i) {
        wrong.add();
        return i;
      })
      .name("parse")
      .for_each([](std::uint64_t) {});
  const JobResult result = env.execute("wrong");
  EXPECT_EQ(result.status.code(), ErrorCode::invalid_argument);
  EXPECT_NE(result.status.message().find("operator 'parse': metric 'bad-lines': its name must be"),
            std::string::npos)
      << result.status.message();
}

// Calls of async_map complete on threads of the author's own.
TEST(UserMetricsOfThreads, CopiesOfAnOperatorsMetricsCountOnOtherThreads) {
  constexpr std::uint64_t count = 200;
  EnvironmentOptions options;
  options.parallelism = 2;
  StreamExecutionEnvironment env(options);
  env.generate([](std::uint64_t i) { return i; }, {.count = count})
      .async_map([took = Histogram("took"), asked = Counter("asked"), open = Gauge("open")](
                     const std::uint64_t& i, AsyncResult<std::uint64_t> result) {
        asked.add();
        open.add(1);
        std::thread([i, took, open, result] {
          took.record(static_cast<double>(i));
          open.add(-1);
          result.complete(i);
        }).detach();
      })
      .for_each([](std::uint64_t) {});
  const JobResult result = env.execute("asynchronous");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(result.counter("asked"), count);
  EXPECT_EQ(metric_of(result, "took").count, count);
  EXPECT_EQ(metric_of(result, "took").max, count - 1);
  EXPECT_EQ(metric_of(result, "open").sum, 0);
}

}  // namespace
}  // namespace hummer::user_metrics_test
