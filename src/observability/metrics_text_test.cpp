#include "observability/metrics_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <hummer/metrics.hpp>

#include "base/metric_sample.hpp"

namespace hummer::metrics_text_test {
namespace {

using Of = MetricsText::Of;

template <typename Count>
std::vector<MetricSample> counted(Count&& count) {
  const auto home = std::make_shared<detail::UserMetrics>();
  const detail::MetricsScope scope(home.get());
  count();
  return home->sample();
}

std::string text_of(const std::vector<MetricSample>& metrics, Of of) {
  MetricsText text;
  for (const MetricSample& metric : metrics) {
    text.user_metric("hummer_user_", {{"job", "1"}, {"operator", "a \"b\""}}, metric, of);
  }
  return std::move(text).finish();
}

TEST(MetricsText, TheTableIsSorted) {
  const auto table = metrics_table();
  EXPECT_TRUE(std::is_sorted(table.begin(), table.end(),
                             [](const Metric& a, const Metric& b) { return a.name < b.name; }));
}

TEST(MetricsText, UserMetricsAreFamiliesOfTheirOwn) {
  const auto metrics = counted([] {
    Counter("bad").add(3);
    Gauge("depth").set(2.5);
    const Histogram took("took");
    for (const double value : {1.0, 1.5, 5.0}) took.record(value);
  });
  const std::string labels = "{job=\"1\",operator=\"a \\\"b\\\"\"";
  EXPECT_EQ(text_of(metrics, Of::one_subtask),
            "# HELP hummer_user_bad_total Of the functions of a job.\n"
            "# TYPE hummer_user_bad_total counter\n"
            "hummer_user_bad_total" +
                labels +
                "} 3\n"
                "# HELP hummer_user_depth Of the functions of a job.\n"
                "# TYPE hummer_user_depth gauge\n"
                "hummer_user_depth" +
                labels +
                "} 2.5\n"
                "# HELP hummer_user_took Of the functions of a job.\n"
                "# TYPE hummer_user_took histogram\n"
                "hummer_user_took_bucket" +
                labels +
                ",le=\"2\"} 2\n"
                "hummer_user_took_bucket" +
                labels +
                ",le=\"4\"} 2\n"
                "hummer_user_took_bucket" +
                labels +
                ",le=\"8\"} 3\n"
                "hummer_user_took_bucket" +
                labels +
                ",le=\"+Inf\"} 3\n"
                "hummer_user_took_sum" +
                labels +
                "} 7.5\n"
                "hummer_user_took_count" +
                labels + "} 3\n");
}

TEST(MetricsText, AGaugeOverSubtasksHasASumALeastAndAGreatestValue) {
  std::vector<MetricSample> all;
  for (const double value : {4.0, -1.0}) merge(all, counted([&] { Gauge("g").set(value); }));
  const std::string text = text_of(all, Of::all_subtasks);
  for (const char* const sample : {",over_subtasks=\"sum\"} 3\n", ",over_subtasks=\"min\"} -1\n",
                                   ",over_subtasks=\"max\"} 4\n"}) {
    EXPECT_NE(text.find(sample), text.npos) << text;
  }
}

// Each has its rows in the table: a sample without one asserts.
TEST(MetricsText, TheEnginesOwnAreRowsOfTheTable) {
  const auto metrics = counted([] {
    for (const auto& [name, kind] : detail::engine_metrics) {
      kind == MetricKind::counter ? Counter(name).add(5) : Gauge(name).set(0.5);
    }
  });
  ASSERT_EQ(metrics.size(), detail::engine_metrics.size());
  const std::string all = text_of(metrics, Of::all_subtasks);
  const std::string labels = "{job=\"1\",operator=\"a \\\"b\\\"\"";
  for (const std::string& sample :
       {"# TYPE hummer_operator_pre_aggregation_records_passed_total counter\n" +
            std::string("hummer_operator_pre_aggregation_records_passed_total") + labels + "} 5\n",
        "hummer_operator_pre_aggregation_parts_per_record" + labels +
            ",over_subtasks=\"max\"} 0.5\n"}) {
    EXPECT_NE(all.find(sample), all.npos) << sample << all;
  }
  EXPECT_EQ(all.find("hummer_user_"), all.npos) << all;
  const std::string one = text_of(metrics, Of::one_subtask);
  EXPECT_NE(one.find("hummer_task_operator_pre_aggregation_folds" + labels + "} 0.5\n"), one.npos)
      << one;
}

TEST(MetricsText, ANameOfTwoKindsHasNoType) {
  auto metrics = counted([] { Gauge("n").set(1); });
  const auto others = counted([] { Histogram("n").record(1); });
  metrics.insert(metrics.end(), others.begin(), others.end());
  const std::string text = text_of(metrics, Of::one_subtask);
  EXPECT_EQ(text.find("# TYPE"), text.npos) << text;
  EXPECT_NE(text.find("hummer_user_n{"), text.npos);
  EXPECT_NE(text.find("hummer_user_n_count{"), text.npos);
}

}  // namespace
}  // namespace hummer::metrics_text_test
