// What whole jobs show of their pre-aggregations: --explain says what is chosen and by whom, and
// metrics say what was chosen while they ran, on a stream whose keys stop to repeat midway.
#include <gtest/gtest.h>

#include <string>

#include <hummer/detail/engine_metrics.hpp>
#include <hummer/detail/operators/folding_choice.hpp>

#include "pipelines/on_platforms.hpp"

namespace hummer::pre_aggregation_test {
namespace {

using Index = std::uint64_t;

class PreAggregation : public testing::Test {
 protected:
  PreAggregation() : node_(make_simulated_platform({.seed = 1})) {
    options_.platform = node_.get();
    options_.parallelism = 2;
  }

  // The lines of --explain about pre-aggregations.
  std::string explained() {
    options_.explain = "text";
    StreamExecutionEnvironment env(options_);
    const auto numbers = env.generate([](Index i) { return i; }, {.count = 10});
    numbers.key_by([](Index i) { return i % 3; }).count().for_each([](const auto&) {});
    numbers
        .assign_timestamps([](Index i) { return static_cast<Timestamp>(i); },
                           WatermarkStrategy::ascending())
        .key_by([](Index i) { return i % 3; })
        .window(TumblingWindows::of(5))
        .count()
        .for_each([](const auto&) {});
    EXPECT_TRUE(env.execute("explained").ok());
    const std::string& text = node_->standard(1);
    std::string lines;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      const std::string line = text.substr(at, end - at);
      const std::size_t chosen = line.find("; pre-aggregation ");
      if (chosen != line.npos) {
        lines += line.substr(2, line.find(':') - 2) + line.substr(chosen) + '\n';
      }
      at = end + 1;
    }
    return lines;
  }

  std::unique_ptr<SimulatedPlatform> node_;
  EnvironmentOptions options_;
};

const std::string measured =
    "measured per epoch (folds up to 0.5 parts per record, 0.15 where the exchange is in memory, "
    "else passes records on)\n";

TEST_F(PreAggregation, ExplainSaysThatItIsMeasured) {
  EXPECT_EQ(
      explained(),
      "1 partial_count; pre-aggregation always folds: halves share a slot's table; where they "
      "run in different slots, " +
          measured + "6 partial_window_count; pre-aggregation automatic: " + measured);
}

TEST_F(PreAggregation, ExplainSaysThatCheckpointsPartTheHalves) {
  options_.checkpoints.directory = "/checkpoints";
  options_.checkpoints.interval_ms = 1'000;
  EXPECT_EQ(explained(), "1 partial_count; pre-aggregation automatic: " + measured +
                             "6 partial_window_count; pre-aggregation automatic: " + measured);
}

TEST_F(PreAggregation, ExplainSaysThatRecordsAreRepartitionedByForce) {
  options_.window_strategy = WindowStrategy::repartition;
  EXPECT_EQ(explained(),
            "1 partial_count; pre-aggregation passes records on: window-strategy is repartition\n"
            "6 window_count; pre-aggregation none, records are re-partitioned: window-strategy is "
            "repartition\n");
}

TEST_F(PreAggregation, ExplainSaysThatRecordsAreFoldedByForce) {
  options_.window_strategy = WindowStrategy::late_merge;
  EXPECT_EQ(
      explained(),
      "1 partial_count; pre-aggregation always folds: window-strategy is late_merge\n"
      "6 partial_window_count; pre-aggregation always folds: window-strategy is late_merge\n");
}

TEST_F(PreAggregation, JsonSaysItToo) {
  options_.explain = "json";
  options_.window_strategy = WindowStrategy::late_merge;
  StreamExecutionEnvironment env(options_);
  env.generate([](Index i) { return i; }, {.count = 10})
      .key_by([](Index i) { return i % 3; })
      .count()
      .for_each([](const auto&) {});
  ASSERT_TRUE(env.execute("explained").ok());
  const std::string& json = node_->standard(1);
  EXPECT_NE(json.find("\"pre_aggregation\": \"always folds: window-strategy is late_merge\""),
            json.npos)
      << json;
}

double value_of(const JobResult& result, const detail::EngineMetric& wanted) {
  for (const VertexSummary& vertex : result.vertices) {
    for (const OperatorSummary& op : vertex.operators) {
      for (const MetricSummary& metric : op.metrics) {
        if (metric.name != wanted.name) continue;
        return wanted.kind == MetricKind::gauge ? metric.sum : static_cast<double>(metric.count);
      }
    }
  }
  ADD_FAILURE() << "no metric " << wanted.name;
  return -1;
}

constexpr Index records = 200'000;

// The first half of the records has ten keys; of the others each has one of its own.
JobResult count_changing(const EnvironmentOptions& options) {
  StreamExecutionEnvironment env(options);
  env.generate([](Index i) { return i; }, {.count = records})
      .key_by([](Index i) { return i < records / 2 ? i % 10 : i; })
      .count()
      .for_each([](const auto&) {});
  return env.execute("counts");
}

TEST_F(PreAggregation, MetricsShowThatItStopsFoldingWhereKeysStopToRepeat) {
  options_.parallelism = 1;
  options_.partial_state_bytes = 512 << 10;
  options_.checkpoints.directory = "/checkpoints";
  options_.checkpoints.interval_ms = 1'000'000;
  options_.quiet = false;
  options_.progress_per_vertex = true;
  const JobResult result = count_changing(options_);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  const double folded = value_of(result, detail::records_folded);
  const double passed = value_of(result, detail::records_passed);
  EXPECT_EQ(folded + passed, records);
  EXPECT_GE(folded, records / 2);
  EXPECT_GT(passed, 0);
  EXPECT_EQ(value_of(result, detail::folds_now), 0);
  EXPECT_GT(value_of(result, detail::parts_per_record), FoldingChoice::pass_above_if_cheap);
  EXPECT_GE(value_of(result, detail::epochs_folded), 1);
  const std::string& summary = node_->standard(2);
  const std::string said = std::to_string(static_cast<Index>(passed)) +
                           " passed on; at last 0 of 1 subtasks folded, by ";
  EXPECT_NE(summary.find(said), summary.npos) << summary;
}

TEST_F(PreAggregation, MetricsShowThatHalvesWithOneTableFoldAll) {
  const JobResult result = count_changing(options_);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(value_of(result, detail::records_folded), records);
  EXPECT_EQ(value_of(result, detail::records_passed), 0);
  EXPECT_EQ(value_of(result, detail::folds_now), 0)
      << "by what went out, they would pass what comes";
  // What the other subtask owns.
  EXPECT_GT(value_of(result, detail::parts_handed_on), records / 8);
  EXPECT_LT(value_of(result, detail::parts_handed_on), records / 2);
}

}  // namespace
}  // namespace hummer::pre_aggregation_test
