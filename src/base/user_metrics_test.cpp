// Metrics of an author's functions: where they count, what is refused, what is known of functions
// that hold them.
#include <hummer/metrics.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <hummer/detail/captured_values.hpp>

#include "base/metric_sample.hpp"

namespace hummer::user_metrics_test {
namespace {

using detail::MetricsScope;
using detail::UserMetrics;

std::shared_ptr<UserMetrics> make_home() { return std::make_shared<UserMetrics>(); }

std::uint64_t counted(const UserMetrics& home, std::string_view name) {
  return home.sample(name, MetricKind::counter).count;
}

TEST(UserMetrics, OutsideOfOperatorsEachObjectCountsByItself) {
  const Counter counter("bad-name is nobody's business here");
  counter.add();
  counter.add(4);
  const Counter copy = counter;
  copy.add();
  EXPECT_EQ(counter.value(), 5u);
  EXPECT_EQ(copy.value(), 1u);
  const Gauge gauge("g");
  gauge.set(2.5);
  gauge.add(-1);
  EXPECT_EQ(gauge.value(), 1.5);
  const Histogram histogram("h");
  histogram.record(3);
  histogram.record(4);
  histogram.record(NAN);
  EXPECT_EQ(histogram.count(), 2u);
  EXPECT_EQ(histogram.sum(), 7);
}

TEST(UserMetrics, ACopyCountsWhereItWasMade) {
  const auto function = [bad = Counter("bad_lines")] { bad.add(); };
  function();  // outside
  const auto first = make_home();
  const auto second = make_home();
  for (const auto& home : {first, second}) {
    const MetricsScope scope(home.get());
    const auto copy = function;
    for (int i = 0; i < 3; ++i) copy();
    if (home == second) copy();
  }
  EXPECT_EQ(counted(*first, "bad_lines"), 3u);
  EXPECT_EQ(counted(*second, "bad_lines"), 4u);
  EXPECT_EQ(detail::current_metrics, nullptr);
}

TEST(UserMetrics, OneThatIsSharedCountsForWhoUsesIt) {
  const Counter global("seen");
  const auto first = make_home();
  const auto second = make_home();
  for (int i = 0; i < 10; ++i) {
    const MetricsScope scope(i % 3 == 0 ? first.get() : second.get());
    global.add();
  }
  EXPECT_EQ(counted(*first, "seen"), 4u);
  EXPECT_EQ(counted(*second, "seen"), 6u);
  EXPECT_EQ(global.value(), 0u);
}

TEST(UserMetrics, OneBoundToAnOperatorThatIsGoneCountsForTheNext) {
  std::optional<Counter> kept;
  {
    const auto first = make_home();
    const MetricsScope scope(first.get());
    kept.emplace("kept");
    kept->add(7);
  }
  const auto second = make_home();
  const MetricsScope scope(second.get());
  kept->add();
  EXPECT_EQ(counted(*second, "kept"), 1u);
}

TEST(UserMetrics, TwoObjectsOfOneNameAreOneMetric) {
  const auto home = make_home();
  const MetricsScope scope(home.get());
  const Counter one("n"), other("n");
  one.add();
  other.add(2);
  EXPECT_EQ(one.value(), 3u);
  EXPECT_EQ(home->sample().size(), 1u);
}

TEST(UserMetrics, WhatCantBeKeptIsRefusedByName) {
  const std::string longest(64, 'x');
  const std::pair<std::string, bool> names[] = {
      {"bad_lines", true}, {"_2", true},    {"A", true},          {longest, true},
      {"", false},         {"2nd", false},  {"bad-lines", false}, {longest + "x", false},
      {"été", false},      {"a.b", false},  {"n_total", false},   {"n_bucket", false},
      {"n_count", false},  {"n_sum", false}};
  for (const auto& [name, allowed] : names) {
    const auto home = make_home();
    const MetricsScope scope(home.get());
    const Counter counter(name);
    counter.add();
    EXPECT_EQ(home->refused(), !allowed) << name;
    EXPECT_EQ(home->sample().size(), allowed ? 1u : 0u) << name;
    if (!allowed) {
      EXPECT_NE(home->refusal().find("metric '" + name.substr(0, 128) + "': its name must"),
                std::string::npos)
          << home->refusal();
    }
  }
}

TEST(UserMetrics, ANameHasOneKind) {
  const auto home = make_home();
  const MetricsScope scope(home.get());
  const Counter counter("n");
  counter.add();
  const Gauge gauge("n");
  gauge.set(5);
  EXPECT_EQ(home->refusal(), "metric 'n': it is a counter already, and can't be a gauge too");
  EXPECT_EQ(counted(*home, "n"), 1u);
}

TEST(UserMetrics, AnOperatorHasSoManyAndNoMore) {
  const auto home = make_home();
  const MetricsScope scope(home.get());
  for (std::size_t i = 0; i < detail::metrics_per_operator_max; ++i) {
    Counter("n" + std::to_string(i)).add();
  }
  EXPECT_FALSE(home->refused());
  Counter("n0").add();
  for (const auto& [name, kind] : detail::engine_metrics) {  // beside them
    EXPECT_NE(home->find(name, kind), nullptr) << name;
  }
  EXPECT_FALSE(home->refused());
  Counter("one_more").add();
  EXPECT_TRUE(home->refused());
  EXPECT_EQ(home->sample().size(),
            detail::metrics_per_operator_max + detail::engine_metrics.size());
}

// As a thread of the author's own does it: no operator runs on it.
TEST(UserMetrics, OneThatKnowsItsHomeCountsWithoutAScopeToo) {
  const auto home = make_home();
  std::optional<Counter> counter;
  std::optional<Gauge> gauge;
  std::optional<Histogram> histogram;
  const auto inside = [&](auto&& call) {
    const MetricsScope scope(home.get());
    call();
  };
  inside([&] {
    counter.emplace("c");
    gauge.emplace("g");
    histogram.emplace("h");
  });
  counter->add(2);
  gauge->add(5);
  histogram->record(1);
  inside([&] {
    counter->add(3);
    gauge->add(-1);
    histogram->record(4);
  });
  EXPECT_EQ(counter->value(), 5u);
  EXPECT_EQ(gauge->value(), 4);
  EXPECT_EQ(histogram->count(), 2u);
  EXPECT_EQ(home->sample("h", MetricKind::histogram).max, 4);
  inside([&] { gauge->set(10); });
  EXPECT_EQ(gauge->value(), 10);
  gauge->set(20);
  EXPECT_EQ(gauge->value(), 20);
}

TEST(UserMetrics, FunctionsOfMetricsAloneAreKnownByTheirNames) {
  const auto of = [](const char* name) {
    return captured_values([bad = Counter(name), took = Histogram("took")] {
      bad.add();
      took.record(1);
    });
  };
  EXPECT_FALSE(of("a").unknown);
  EXPECT_NE(of("a").hash, 0u);
  EXPECT_EQ(of("a").hash, of("a").hash);
  EXPECT_NE(of("a").hash, of("b").hash);
  struct Function {
    Gauge depth{"depth"};
    Counter seen{"seen"};
  };
  EXPECT_FALSE(captured_values(Function{}).unknown);
  // What stands beside them can't be seen.
  const std::string text = "x";
  EXPECT_TRUE(captured_values([bad = Counter("a"), text] { bad.add(text.size()); }).unknown);
  EXPECT_TRUE(captured_values([bad = Counter("a"), at = &text] { bad.add(at->size()); }).unknown);
}

TEST(MetricSample, QuantilesAreAtMostTwelvePercentOff) {
  std::mt19937_64 random(1);
  for (const double scale : {1e-3, 1.0, 1e6, 1e11}) {
    const auto home = make_home();
    const MetricsScope scope(home.get());
    const Histogram histogram("h");
    std::lognormal_distribution<double> distribution(0, 2);
    std::vector<double> values;
    for (int i = 0; i < 10'000; ++i) values.push_back(distribution(random) * scale);
    for (const double value : values) histogram.record(value);
    std::sort(values.begin(), values.end());
    const MetricSample sample = home->sample("h", MetricKind::histogram);
    EXPECT_EQ(sample.count, values.size());
    EXPECT_EQ(sample.max, values.back());
    for (const double share : {0.1, 0.5, 0.9, 0.99}) {
      const double exact = values[static_cast<std::size_t>(share * 10'000) - 1];
      EXPECT_NEAR(sample.quantile(share) / exact, 1, 0.12) << share << " of " << scale;
    }
  }
}

TEST(MetricSample, BucketsTakeEveryValue) {
  const double values[] = {-INFINITY, -1,    0,      1e-300, 0x1p-21, 0x1p-20,
                           1,         1.125, 0x1p43, 0x1p44, 1e300,   INFINITY};
  std::size_t before = 0;
  for (const double value : values) {
    const std::size_t bucket = detail::histogram_bucket(value);
    ASSERT_LT(bucket, detail::histogram_buckets);
    EXPECT_GE(bucket, before);
    before = bucket;
    if (bucket > 0) EXPECT_LE(detail::histogram_bound(bucket - 1), value);
    if (bucket + 1 < detail::histogram_buckets) EXPECT_LT(value, detail::histogram_bound(bucket));
  }
  EXPECT_EQ(detail::histogram_bucket(0x1p-21), 0u);
  EXPECT_EQ(detail::histogram_bucket(0x1p-20), 1u);
  EXPECT_EQ(detail::histogram_bucket(0x1p44), detail::histogram_buckets - 1);
}

TEST(MetricSample, SubtasksAreMerged) {
  std::vector<MetricSample> all;
  for (const double value : {4.0, -1.0, 2.0}) {
    const auto home = make_home();
    const MetricsScope scope(home.get());
    Gauge("g").set(value);
    Counter("c").add(3);
    Histogram("h").record(value);
    merge(all, home->sample());
  }
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, "c");
  EXPECT_EQ(all[0].count, 9u);
  EXPECT_EQ(all[1].count, 3u);
  EXPECT_EQ(all[1].sum, 5);
  EXPECT_EQ(all[1].min, -1);
  EXPECT_EQ(all[1].max, 4);
  EXPECT_EQ(all[2].count, 3u);
  EXPECT_EQ(all[2].max, 4);
}

}  // namespace
}  // namespace hummer::user_metrics_test
