// Metrics of the author's functions on the wire: there and back, and what no operator has made.
#include "protocol/metric_messages.hpp"

#include <gtest/gtest.h>

#include <hummer/metrics.hpp>

namespace hummer::metric_messages_test {
namespace {

std::vector<MetricSample> some_metrics() {
  const auto home = std::make_shared<detail::UserMetrics>();
  const detail::MetricsScope scope(home.get());
  Counter("bad").add(7);
  Gauge("depth").set(-2.5);
  const Histogram took("took");
  for (const double value : {0.0, 1.0, 3.0, 1e15}) took.record(value);
  std::vector<MetricSample> all;
  merge(all, home->sample());
  return all;
}

TEST(MetricMessages, ThereAndBack) {
  const std::vector<MetricSample> metrics = some_metrics();
  wire::OperatorMetrics message;
  to_message(metrics, message);
  wire::OperatorMetrics read;
  ASSERT_TRUE(read.ParseFromString(message.SerializeAsString()));
  EXPECT_EQ(user_metrics_from(read), metrics);
  EXPECT_EQ(read.user(2).p99(), metrics[2].quantile(0.99));
}

TEST(MetricMessages, TheEnginesOwnAreKnownByNameAndKind) {
  wire::OperatorMetrics message;
  for (const MetricKind kind : {MetricKind::counter, MetricKind::gauge}) {
    wire::UserMetric& metric = *message.add_user();
    metric.set_name(std::string(detail::records_passed.name));
    metric.set_kind(static_cast<std::uint32_t>(kind));
    metric.set_count(3);
  }
  const std::vector<MetricSample> metrics = user_metrics_from(message);
  ASSERT_EQ(metrics.size(), 1u);
  EXPECT_EQ(metrics.front().kind, MetricKind::counter);
  EXPECT_EQ(metrics.front().count, 3u);
}

TEST(MetricMessages, WhatNoOperatorHasMadeIsLeftOut) {
  wire::OperatorMetrics message;
  const auto add = [&](const std::string& name, std::uint32_t kind) -> wire::UserMetric& {
    wire::UserMetric& metric = *message.add_user();
    metric.set_name(name);
    metric.set_kind(kind);
    metric.set_count(1);
    return metric;
  };
  add("bad-name", 0);
  add(std::string(1'000'000, 'x'), 0);
  add("\"} 1\nforged", 0);
  add("unknown_kind", 3);
  add("unknown_kind", 4'000'000'000);
  EXPECT_TRUE(user_metrics_from(message).empty());
  wire::UserMetric& histogram = add("h", static_cast<std::uint32_t>(MetricKind::histogram));
  histogram.set_count(12'345);  // not what its buckets say
  for (const std::uint32_t number : {3u, 3u, 514u, 4'000'000'000u}) {
    histogram.add_bucket_numbers(number);
    histogram.add_bucket_counts(2);
  }
  histogram.add_bucket_numbers(5);  // without a count
  const std::vector<MetricSample> one = user_metrics_from(message);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one.front().count, 4u);
  EXPECT_EQ(one.front().buckets.size(), 4u);
  for (int i = 0; i < 1000; ++i) add("n" + std::to_string(i), 0);
  EXPECT_EQ(user_metrics_from(message).size(),
            detail::metrics_per_operator_max + detail::engine_metrics.size());
}

}  // namespace
}  // namespace hummer::metric_messages_test
