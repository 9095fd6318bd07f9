#include <hummer/testing/mini_cluster.hpp>

#include <gtest/gtest.h>

#include <future>
#include <map>
#include <thread>

#include <hummer/hummer.hpp>

#include "platform/temporary_folder_for_test.hpp"

namespace hummer::mini_cluster_test {
namespace {

void count_digits(StreamExecutionEnvironment& env) {
  const std::uint64_t count = std::stoull(env.argument("count"));
  const double rate = std::stod(env.argument_or("rate", "1e9"));
  env.generate([](std::uint64_t i) { return i % 10; }, {.count = count, .records_per_second = rate})
      .key_by(identity)
      .count()
      .write_file(env.argument("output"));
  env.execute("count digits");
}

class MiniClusterTest : public testing::Test {
 protected:
  const TemporaryFolder folder_;
};

TEST_F(MiniClusterTest, RunsAJobOnSeveralTaskManagers) {
  MiniCluster cluster(&call_job<&count_digits>, {.task_managers = 2});
  ASSERT_TRUE(cluster.start().ok());
  for (const std::string parallelism : {"1", "2"}) {
    const std::string output = folder_ / parallelism;
    const JobResult result =
        cluster.run({"--count", "1000", "--output", output, "--parallelism", parallelism});
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    std::vector<std::string> expected;
    for (int digit = 0; digit < 10; ++digit) expected.push_back(std::to_string(digit) + "\t100");
    EXPECT_EQ(MiniCluster::lines_of(output), expected);
  }
}

TEST_F(MiniClusterTest, AJobIsSavedAndGoesOnAtAnotherParallelism) {
  MiniCluster cluster(&call_job<&count_digits>, {.task_managers = 2, .slots = 2});
  ASSERT_TRUE(cluster.start().ok());
  const std::vector<std::string> arguments = {
      "--count",  "6000",          "--rate",           "4000",
      "--output", folder_ / "out", "--checkpoint-dir", folder_ / "checkpoints"};
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), more.begin(), more.end());
    return cluster.run(all);
  };
  auto running =
      std::async(std::launch::async, run, std::vector<std::string>{"--parallelism", "2"});
  const Result<std::string> kept = cluster.savepoint(folder_ / "kept");
  ASSERT_TRUE(kept.ok()) << kept.status().to_string();
  EXPECT_TRUE(kept->starts_with(folder_ / "kept/"));
  const Result<std::string> last = cluster.stop_with_savepoint();
  ASSERT_TRUE(last.ok()) << last.status().to_string();
  const JobResult stopped = running.get();
  ASSERT_TRUE(stopped.ok()) << stopped.status.to_string();
  EXPECT_TRUE(MiniCluster::lines_of(folder_ / "out").empty());

  const JobResult result = run({"--restore", *last, "--parallelism", "3"});
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  std::vector<std::string> expected;
  for (int digit = 0; digit < 10; ++digit) expected.push_back(std::to_string(digit) + "\t600");
  EXPECT_EQ(MiniCluster::lines_of(folder_ / "out"), expected);
}

constexpr SideOutput<std::uint64_t> behind{"behind"};

// The second half of each thousand records comes when most of its windows are over.
void count_by_window(StreamExecutionEnvironment& env) {
  const std::string output = env.argument("output");
  const auto time_of = [](std::uint64_t i) {
    return static_cast<Timestamp>(i % 1000 < 500 ? i : i - 500);
  };
  const auto timed = env.generate([](std::uint64_t i) { return i; }, {.count = 20'000})
                         .assign_timestamps(time_of, WatermarkStrategy::ascending());
  const auto keyed = timed.key_by([](std::uint64_t i) { return i % 7; });
  const auto windowed = keyed.window(TumblingWindows::of(100)).late_output(behind).count();
  windowed.write_file(output + "/windows");
  windowed.side_output(behind).write_file(output + "/late");
  const auto best = keyed.top_n(1, [](std::uint64_t i) { return i; }, 100);
  best.for_each([](const Ranked<std::uint64_t>&) {});
  best.side_output(late_records<std::uint64_t>).write_file(output + "/late_for_top");
  env.execute("count by window");
}

TEST_F(MiniClusterTest, LateRecordsAreAMetricOfTheirOperators) {
  MiniCluster cluster(&call_job<&count_by_window>, {.task_managers = 2});
  ASSERT_TRUE(cluster.start().ok());
  const JobResult result =
      cluster.run({"--output", folder_.path(), "--parallelism", "2", "--batch-records", "16"});
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  const std::size_t late = MiniCluster::lines_of(folder_ / "late").size();
  const std::size_t late_for_top = MiniCluster::lines_of(folder_ / "late_for_top").size();
  EXPECT_GT(late, 0u);
  EXPECT_GT(late_for_top, 0u);
  EXPECT_EQ(result.records_late, late + late_for_top);
  std::map<std::string, std::uint64_t> by_operator;
  for (const VertexSummary& vertex : result.vertices) {
    for (const OperatorSummary& op : vertex.operators) by_operator[op.name] += op.records_late;
  }
  EXPECT_EQ(by_operator["late_records"], late);
  EXPECT_EQ(by_operator["top_n"], late_for_top);
}

// The functions hold metrics only, so every TaskManager knows them to be the same.
void count_in_functions(StreamExecutionEnvironment& env) {
  env.generate([](std::uint64_t i) { return i; }, {.count = 1000})
      .rebalance()
      .map([odd = Counter("odd"), sizes = Histogram("sizes"),
            last = Gauge("last")](std::uint64_t i) {
        if (i % 2 != 0) odd.add();
        sizes.record(static_cast<double>(i));
        last.set(static_cast<double>(i));
        return i;
      })
      .for_each([](std::uint64_t) {});
  env.execute("count in functions");
}

TEST_F(MiniClusterTest, MetricsOfFunctionsAreThoseOfAllTaskManagers) {
  MiniCluster cluster(&call_job<&count_in_functions>, {.task_managers = 2});
  ASSERT_TRUE(cluster.start().ok());
  const JobResult result = cluster.run({"--parallelism", "2", "--batch-records", "16"});
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(result.counter("odd"), 500u);
  std::map<std::string, MetricSummary> metrics;
  for (const VertexSummary& vertex : result.vertices) {
    for (const OperatorSummary& op : vertex.operators) {
      for (const MetricSummary& metric : op.metrics) metrics[metric.name] = metric;
    }
  }
  EXPECT_EQ(metrics["sizes"].count, 1000u);
  EXPECT_EQ(metrics["sizes"].sum, 499'500);
  EXPECT_EQ(metrics["sizes"].max, 999);
  EXPECT_EQ(metrics["last"].count, 2u);
  EXPECT_LE(metrics["last"].min, metrics["last"].max);
}

TEST_F(MiniClusterTest, AMissingArgumentIsTheResult) {
  MiniCluster cluster(&call_job<&count_digits>, {.task_managers = 1});
  ASSERT_TRUE(cluster.start().ok());
  const JobResult result = cluster.run({"--output", folder_ / "none"});
  EXPECT_FALSE(result.ok());
}

TEST_F(MiniClusterTest, AKilledTaskManagerIsMissedAndCanBeReplaced) {
  MiniCluster cluster(&call_job<&count_digits>, {.task_managers = 2});
  ASSERT_TRUE(cluster.start().ok());
  auto running = std::async(std::launch::async, [&] {
    return cluster.run({"--count", "1000000", "--rate", "1000", "--output", folder_ / "lost",
                        "--parallelism", "2"});
  });
  while (cluster.attempts_on(1) == 0) std::this_thread::yield();
  cluster.kill_task_manager(1);
  const JobResult lost = running.get();
  EXPECT_FALSE(lost.ok());
  EXPECT_TRUE(MiniCluster::lines_of(folder_ / "lost").empty());

  ASSERT_TRUE(cluster.add_task_manager().ok());
  const JobResult again =
      cluster.run({"--count", "100", "--output", folder_ / "again", "--parallelism", "2"});
  ASSERT_TRUE(again.ok()) << again.status.to_string();
  EXPECT_EQ(MiniCluster::lines_of(folder_ / "again").size(), 10u);
}

}  // namespace
}  // namespace hummer::mini_cluster_test
