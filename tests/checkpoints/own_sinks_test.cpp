// Sinks of a job's author's own, into a database: what it holds in the end is what a run without
// failures leaves there, wherever jobs fail and processes die.
#include <gtest/gtest.h>

#include <hummer/hummer.hpp>

#include "checkpoints/failing_jobs.hpp"
#include "checkpoints/simulated_cluster.hpp"
#include "checkpoints/sqlite_sinks.hpp"
#include "platform/simulation.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::own_sinks_test {
namespace {

using Index = std::uint64_t;
constexpr Index keys = 7;
constexpr int most_subtasks = 4;

// The running count of each key: 1, 2, 3, … once each.
DataStream<Count> running_counts(StreamExecutionEnvironment& env, Index count,
                                 PlannedFailures& failures) {
  return env.generate([](Index i) { return i; }, {.count = count, .records_per_second = 10'000})
      .map([](Index i) { return i % keys; })
      .key_by(identity)
      .count(Emit::every_record)
      .map([&failures](const Count& count_so_far) {
        failures.maybe_throw();
        return count_so_far;
      });
}

// Fails before its commits and behind them.
class FailingCommits final : public CommittedCounts {
 public:
  FailingCommits(std::string path, PlannedFailures& failures)
      : CommittedCounts(std::move(path)), failures_(failures) {}
  Status commit(const std::string& handle) override {
    failures_.maybe_throw();
    HUMMER_TRY(CommittedCounts::commit(handle));
    failures_.maybe_throw();
    return {};
  }

 private:
  PlannedFailures& failures_;
};

// What the databases of all subtasks hold.
std::vector<std::string> rows(Platform& platform, const std::string& path,
                              std::string_view table = "counts") {
  std::vector<std::string> all;
  for (int subtask = 0; subtask < most_subtasks; ++subtask) {
    const std::string file = database_of(path, subtask);
    if (!platform.files().stat(file).ok()) continue;
    Database database;
    EXPECT_TRUE(database.open(platform, file).ok());
    const auto lines = database.lines("SELECT key, count FROM " + std::string(table));
    // A process that died early has no table yet.
    if (lines.ok()) all.insert(all.end(), lines->begin(), lines->end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

class OwnSinks : public testing::TestWithParam<std::uint64_t> {
 protected:
  EnvironmentOptions options(SimulatedPlatform& node) {
    EnvironmentOptions options;
    options.platform = &node;
    options.parallelism = 1 + static_cast<int>(GetParam() % 3);
    options.batch_records = GetParam() % 2 == 0 ? 1024 : static_cast<std::uint32_t>(GetParam());
    options.channel_credits = 2;
    options.checkpoints.directory = "/checkpoints";
    options.checkpoints.interval_ms = 20;
    options.checkpoints.unaligned = GetParam() % 4 == 0;
    options.restart = RestartStrategy::fixed_delay(20, 5);
    return options;
  }
  JobResult upsert(const EnvironmentOptions& options, Index count) {
    StreamExecutionEnvironment env(options);
    running_counts(env, count, failures_).add_sink("upserts", [] {
      return std::make_unique<UpsertedCounts>("/upserts");
    });
    return env.execute("upserts");
  }
  JobResult commit(const EnvironmentOptions& options, Index count) {
    StreamExecutionEnvironment env(options);
    running_counts(env, count, failures_).add_sink("commits", [this] {
      return std::make_unique<FailingCommits>("/commits", failures_of_commits_);
    });
    return env.execute("commits");
  }
  // Runs the job until it ends, in a process that is killed some times between two operations of
  // its disk, and each time goes on with the newest checkpoint.
  template <typename Job>
  JobResult run_with_kills(Simulation& simulation, SimulatedPlatform*& node, Job job) {
    for (int deaths = 0;; ++deaths) {
      EnvironmentOptions one = options(*node);
      one.checkpoints.restore = "latest";
      one.checkpoints.keep_at_end = true;  // it may die right behind its end
      if (deaths < 8) node->kill_at_disk_operation(1 + simulation.random().below(250));
      const JobResult result = job(one);
      if (node->alive()) {
        node->kill_at_disk_operation(0);
        return result;
      }
      node = &simulation.restart_node(*node);
    }
  }

  PlannedFailures failures_;
  PlannedFailures failures_of_commits_;
};
INSTANTIATE_TEST_SUITE_P(Seeds, OwnSinks, testing::Range<std::uint64_t>(1, drawn_cases(12) + 1));

TEST_P(OwnSinks, UpsertsThatComeAgainShowNowhere) {
  auto node = make_simulated_platform({.seed = GetParam()});
  failures_.left = 4;
  failures_.every = 300 + 17 * GetParam();
  const JobResult result = upsert(options(*node), 2000);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_LE(failures_.left.load(), 0) << "a failure that was planned did not come";
  EXPECT_EQ(rows(*node, "/upserts"), expected_counts(2000, keys));
}

TEST_P(OwnSinks, UpsertsOfAProcessThatIsKilledAreComplete) {
  Simulation simulation({.seed = GetParam()});
  SimulatedPlatform* node = &simulation.add_node("process");
  const JobResult result = run_with_kills(
      simulation, node, [&](const EnvironmentOptions& one) { return upsert(one, 1500); });
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(rows(*node, "/upserts"), expected_counts(1500, keys));
}

TEST_P(OwnSinks, CommitsAreThoseOfARunWithoutFailures) {
  auto node = make_simulated_platform({.seed = GetParam()});
  failures_.left = 2;
  failures_.every = 400 + 17 * GetParam();
  failures_of_commits_.left = 4;
  failures_of_commits_.every = 3 + GetParam() % 4;
  const JobResult result = commit(options(*node), 2000);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_LE(failures_.left.load(), 0) << "a failure that was planned did not come";
  EXPECT_LE(failures_of_commits_.left.load(), 2);
  EXPECT_EQ(rows(*node, "/commits"), expected_counts(2000, keys));
  EXPECT_TRUE(rows(*node, "/commits", "staged").empty());
}

TEST_P(OwnSinks, CommitsOfAProcessThatIsKilledAreThereOnce) {
  Simulation simulation({.seed = GetParam()});
  SimulatedPlatform* node = &simulation.add_node("process");
  const JobResult result = run_with_kills(
      simulation, node, [&](const EnvironmentOptions& one) { return commit(one, 1500); });
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(rows(*node, "/commits"), expected_counts(1500, keys));
}

// The checkpoint is complete, and the process ends before it has told the store.
TEST_P(OwnSinks, WhatWasPreparedIsCommittedByTheNextProcess) {
  auto node = make_simulated_platform({.seed = GetParam()});
  EnvironmentOptions first = options(*node);
  first.restart = RestartStrategy::no_restart();
  failures_of_commits_.left = 1;
  failures_of_commits_.every = 1;
  ASSERT_EQ(commit(first, 1500).status.code(), ErrorCode::user_function_failed);
  EXPECT_FALSE(rows(*node, "/commits", "staged").empty());

  EnvironmentOptions second = options(*node);
  second.checkpoints.restore = "latest";
  failures_of_commits_.every = 0;
  const JobResult result = commit(second, 1500);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(rows(*node, "/commits"), expected_counts(1500, keys));
  EXPECT_TRUE(rows(*node, "/commits", "staged").empty());
}

TEST_P(OwnSinks, WithoutCheckpointsTheEndCommits) {
  auto node = make_simulated_platform({.seed = GetParam()});
  EnvironmentOptions without = options(*node);
  without.checkpoints = {};
  without.restart = RestartStrategy::no_restart();
  failures_.left = 1;
  failures_.every = 700;
  EXPECT_FALSE(commit(without, 1000).ok());
  EXPECT_TRUE(rows(*node, "/commits").empty());
  failures_.every = 0;
  const JobResult result = commit(without, 1000);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(rows(*node, "/commits"), expected_counts(1000, keys));
}

// Both sinks, on a cluster.
JobResult counts_to_both(StreamExecutionEnvironment& env) {
  const auto counts =
      env.generate([](Index i) { return i; }, {.count = 6000, .records_per_second = 5000})
          .map([](Index i) { return i % keys; })
          .key_by(identity)
          .count(Emit::every_record);
  counts.add_sink("upserts", [] { return std::make_unique<UpsertedCounts>("/upserts"); });
  counts.add_sink("commits", [] { return std::make_unique<CommittedCounts>("/commits"); });
  return env.execute("counts to both");
}

class OwnSinksOnACluster : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, OwnSinksOnACluster, cluster_seeds());

TEST_P(OwnSinksOnACluster, AKilledTaskManagerShowsNowhere) {
  SimulatedCluster cluster(GetParam(), 3, 2, &counts_to_both);
  EnvironmentOptions options;
  options.parallelism = 3;
  options.batch_records = 32;
  options.checkpoints.directory = "/checkpoints";
  options.checkpoints.interval_ms = 50;
  const std::uint64_t job = cluster.submit(options);
  for (std::size_t round = 0; round < 3; ++round) {
    const std::uint64_t before = cluster.status(job).checkpoints_completed();
    ASSERT_TRUE(cluster.until(job, [&](const wire::JobStatus& now) {
      return now.state() == wire::JOB_RUNNING && now.checkpoints_completed() >= before + 2;
    }));
    SimulatedCluster::Worker& victim = cluster.workers[(round + GetParam()) % 3];
    victim.node->kill_at_disk_operation(1 + (GetParam() * 7 + round * 11) % 60);
    cluster.let_pass(milliseconds(150));
    cluster.kill(victim);
    cluster.restart(victim);
  }
  const wire::JobStatus end = cluster.end_of(job);
  ASSERT_EQ(end.state(), wire::JOB_FINISHED) << end.failure().message();
  EXPECT_GE(end.restarts(), 2u);
  EXPECT_EQ(rows(cluster.store, "/upserts"), expected_counts(6000, keys));
  EXPECT_EQ(rows(cluster.store, "/commits"), expected_counts(6000, keys));
}

}  // namespace
}  // namespace hummer::own_sinks_test
