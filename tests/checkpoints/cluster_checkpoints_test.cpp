// Jobs with state on a cluster whose processes die: their output must not show it.
#include <gtest/gtest.h>

#include <hummer/hummer.hpp>

#include "checkpoints/failing_jobs.hpp"
#include "checkpoints/simulated_cluster.hpp"
#include "state/checkpoint_store.hpp"

namespace hummer::cluster_checkpoints_test {
namespace {

using Index = std::uint64_t;
constexpr Index keys = 7;

// The running count of each key, 1, 2, 3, … once each: of --count records, --rate of them in a
// second.
JobResult running_counts(StreamExecutionEnvironment& env) {
  const Index count = std::stoull(env.argument("count"));
  const double rate = std::stod(env.argument_or("rate", "5000"));
  env.generate([](Index i) { return i; }, {.count = count, .records_per_second = rate})
      .map([](Index i) { return i % keys; })
      .key_by(identity)
      .count(Emit::every_record)
      .write_file("/out");
  return env.execute("running counts");
}

// The same of the lines of a file, as fast as it goes.
JobResult lines_counted(StreamExecutionEnvironment& env) {
  env.from_file("/in")
      .flat_map([](std::string_view line, Collector<std::string_view>& out) { out.emit(line); })
      .key_by(identity)
      .count(Emit::every_record)
      .write_file("/out");
  return env.execute("lines counted");
}

// The same in windows of 100 records.
JobResult windowed_counts(StreamExecutionEnvironment& env) {
  env.generate([](Index i) { return i; }, {.count = 2000},
               [](Index i) { return static_cast<Timestamp>(i); })
      .key_by([](Index i) { return i % keys; })
      .window(TumblingWindows::of(100))
      .count()
      .write_file("/out");
  return env.execute("windowed counts");
}

EnvironmentOptions with_checkpoints(int parallelism) {
  EnvironmentOptions options;
  options.parallelism = parallelism;
  options.batch_records = 32;
  options.checkpoints.directory = "/checkpoints";
  options.checkpoints.interval_ms = 100;
  return options;
}

bool running(const wire::JobStatus& now) { return now.state() == wire::JOB_RUNNING; }

class ClusterCheckpoints : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, ClusterCheckpoints, cluster_seeds());

TEST_P(ClusterCheckpoints, AJobTakesThemAndLeavesNoneBehind) {
  SimulatedCluster cluster(GetParam(), 2, 2, &running_counts);
  const std::uint64_t job = cluster.submit(with_checkpoints(3), {"--count=4000"});
  ASSERT_TRUE(cluster.until(
      job, [](const wire::JobStatus& now) { return now.checkpoints_completed() >= 3; }));
  EXPECT_FALSE(visible_lines(cluster.store.files(), "/out").empty());
  const wire::JobStatus end = cluster.end_of(job);
  ASSERT_EQ(end.state(), wire::JOB_FINISHED) << end.failure().message();
  EXPECT_EQ(end.restarts(), 0u);
  EXPECT_EQ(visible_lines(cluster.store.files(), "/out"), expected_counts(4000, keys));
  cluster.let_pass(milliseconds(100));
  EXPECT_TRUE(cluster.store.files().list_directory("/checkpoints")->empty());
}

TEST_P(ClusterCheckpoints, AKilledTaskManagerShowsNowhere) {
  SimulatedCluster cluster(GetParam(), 3, 2, &running_counts);
  const std::uint64_t job = cluster.submit(with_checkpoints(3), {"--count=10000"});
  for (std::size_t round = 0; round < 3; ++round) {
    const std::uint64_t before = cluster.status(job).checkpoints_completed();
    ASSERT_TRUE(cluster.until(job, [&](const wire::JobStatus& now) {
      return running(now) && now.checkpoints_completed() >= before + 2;
    }));
    cluster.let_pass(milliseconds(7 * (1 + GetParam())));
    SimulatedCluster::Worker& victim = cluster.workers[(round + GetParam()) % 3];
    cluster.kill(victim);
    if (round % 2 == 0) {
      cluster.let_pass(milliseconds(50));
      cluster.restart(victim);
    } else {
      ASSERT_TRUE(cluster.until(job, running));  // on the others
      cluster.restart(victim);
    }
  }
  const wire::JobStatus end = cluster.end_of(job);
  ASSERT_EQ(end.state(), wire::JOB_FINISHED) << end.failure().message();
  EXPECT_GE(end.restarts(), 2u);  // a killed one may have had no part
  EXPECT_EQ(visible_lines(cluster.store.files(), "/out"), expected_counts(10'000, keys));
}

TEST_P(ClusterCheckpoints, AKilledJobManagerShowsNowhere) {
  SimulatedCluster cluster(GetParam(), 3, 2, &running_counts);
  const std::uint64_t job = cluster.submit(with_checkpoints(3), {"--count=20000"});
  for (std::uint64_t round = 1; round <= 4; ++round) {
    const std::uint64_t before = cluster.status(job).checkpoints_completed();
    ASSERT_TRUE(cluster.until(job, [&](const wire::JobStatus& now) {
      return running(now) && now.checkpoints_completed() >= before + 2;
    }));
    // Somewhere in a checkpoint, or in what the journal writes.
    cluster.job_manager_node->kill_at_disk_operation(1 + (GetParam() * 7 + round * 3) % 20);
    cluster.let_pass(milliseconds(150));
    cluster.restart_job_manager();
    EXPECT_GE(cluster.status(job).attempt(), round + 1);
  }
  const wire::JobStatus end = cluster.end_of(job);
  ASSERT_EQ(end.state(), wire::JOB_FINISHED) << end.failure().message();
  EXPECT_EQ(visible_lines(cluster.store.files(), "/out"), expected_counts(20'000, keys));
}

TEST_P(ClusterCheckpoints, ACutOffTaskManagerReachesNothingOfTheNewAttempt) {
  SimulatedCluster cluster(GetParam(), 3, 2, &running_counts);
  const std::uint64_t job = cluster.submit(with_checkpoints(3), {"--count=8000", "--rate=1000"});
  ASSERT_TRUE(cluster.until(
      job, [](const wire::JobStatus& now) { return now.checkpoints_completed() >= 2; }));
  for (SimulatedCluster::Worker& worker : cluster.workers) {
    cluster.simulation.partition(*worker.node, *cluster.job_manager_node);
    cluster.let_pass(seconds(6));
    cluster.simulation.heal(*worker.node, *cluster.job_manager_node);
    ASSERT_TRUE(cluster.until(job, running));
  }
  const wire::JobStatus end = cluster.end_of(job);
  ASSERT_EQ(end.state(), wire::JOB_FINISHED) << end.failure().message();
  EXPECT_GE(end.restarts(), 2u);
  EXPECT_EQ(visible_lines(cluster.store.files(), "/out"), expected_counts(8'000, keys));
}

TEST_P(ClusterCheckpoints, AFileIsReadFromWhereItsCheckpointStood) {
  SimulatedCluster cluster(GetParam(), 2, 3, &lines_counted);
  auto file = cluster.store.files().open_for_writing("/in", WriteMode::truncate);
  constexpr Index count = 40'000;
  std::string text;
  for (Index i = 0; i < count; ++i) text += std::to_string(i % keys) + "\n";
  ASSERT_TRUE((*file)->append(text).ok());
  ASSERT_TRUE((*file)->close().ok());
  EnvironmentOptions options = with_checkpoints(3);
  options.checkpoints.interval_ms = 5;
  const std::uint64_t job = cluster.submit(options);
  for (int kills = 0; kills < 2; ++kills) {
    cluster.let_pass(milliseconds(20 + 3 * static_cast<Nanoseconds>(GetParam())));
    cluster.kill(cluster.workers[0]);
    cluster.let_pass(milliseconds(10));
    cluster.restart(cluster.workers[0]);
  }
  const wire::JobStatus end = cluster.end_of(job);
  ASSERT_EQ(end.state(), wire::JOB_FINISHED) << end.failure().message();
  EXPECT_EQ(visible_lines(cluster.store.files(), "/out"), expected_counts(count, keys));
}

TEST_P(ClusterCheckpoints, ASavepointIsTheBasisOfAnotherJob) {
  SimulatedCluster cluster(GetParam(), 2, 3, &running_counts);
  EnvironmentOptions options = with_checkpoints(3);
  options.checkpoints.interval_ms = 0;  // savepoints only
  const std::uint64_t job = cluster.submit(options, {"--count=6000"});
  ASSERT_TRUE(cluster.until(job, running));
  cluster.let_pass(milliseconds(200));
  const std::string running_one = cluster.savepoint(job, "/savepoints", false);
  ASSERT_TRUE(running_one.starts_with("/savepoints/savepoint-")) << cluster.last_failure.message();
  EXPECT_TRUE(visible_lines(cluster.store.files(), "/out").empty());  // it commits nothing
  cluster.let_pass(milliseconds(100));
  const std::string last = cluster.savepoint(job, "/savepoints", true);
  ASSERT_FALSE(last.empty()) << cluster.last_failure.message();
  const wire::JobStatus stopped = cluster.end_of(job);
  ASSERT_EQ(stopped.state(), wire::JOB_FINISHED) << stopped.failure().message();
  const auto metadata = CheckpointStore::read_at(cluster.store.files(), last);
  ASSERT_TRUE(metadata.ok()) << metadata.status().to_string();
  EXPECT_TRUE(metadata->savepoint);
  const std::vector<std::string> halfway = visible_lines(cluster.store.files(), "/out");
  EXPECT_FALSE(halfway.empty());
  EXPECT_LT(halfway.size(), 6000u);

  options.parallelism = 2;
  options.checkpoints.restore = last;
  const wire::JobStatus end = cluster.end_of(cluster.submit(options, {"--count=6000"}));
  ASSERT_EQ(end.state(), wire::JOB_FINISHED) << end.failure().message();
  EXPECT_EQ(visible_lines(cluster.store.files(), "/out"), expected_counts(6000, keys));
  EXPECT_TRUE(CheckpointStore::read_at(cluster.store.files(), running_one).ok());
}

TEST_P(ClusterCheckpoints, WithoutAStrategyAFailureIsTheEnd) {
  SimulatedCluster cluster(GetParam(), 2, 2, &running_counts);
  EnvironmentOptions options = with_checkpoints(4);
  options.restart = RestartStrategy::no_restart();
  const std::uint64_t job = cluster.submit(options, {"--count=100000"});
  ASSERT_TRUE(cluster.until(
      job, [](const wire::JobStatus& now) { return now.checkpoints_completed() >= 1; }));
  cluster.kill(cluster.workers[0]);
  const wire::JobStatus end = cluster.end_of(job);
  EXPECT_EQ(end.state(), wire::JOB_FAILED);
  EXPECT_NE(end.failure().message().find("tm0"), std::string::npos) << end.failure().message();
}

TEST_P(ClusterCheckpoints, WorkersBuildTheWindowsThatTheClientAskedFor) {
  std::vector<std::string> lines;
  for (const auto strategy : {WindowStrategy::repartition, WindowStrategy::late_merge}) {
    SimulatedCluster cluster(GetParam(), 2, 1, &windowed_counts);
    EnvironmentOptions options = with_checkpoints(2);
    options.window_strategy = strategy;
    const wire::JobStatus end = cluster.end_of(cluster.submit(options));
    ASSERT_EQ(end.state(), wire::JOB_FINISHED) << end.failure().message();
    const auto written = visible_lines(cluster.store.files(), "/out");
    EXPECT_EQ(written.size(), 20 * keys);
    if (lines.empty()) lines = written;
    EXPECT_EQ(written, lines);
  }
}

}  // namespace
}  // namespace hummer::cluster_checkpoints_test
