// Jobs with state that fail, start again from a checkpoint, and must not show it: through the
// public API, embedded, under the simulated platform with many seeds, and under Linux.
#include <gtest/gtest.h>

#include <map>

#include <hummer/hummer.hpp>

#include "checkpoints/failing_jobs.hpp"
#include "platform/simulation.hpp"
#include "state/checkpoint_store.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::embedded_checkpoints_test {
namespace {

using Index = std::uint64_t;

std::size_t pending_files(Files& files, const std::string& directory) {
  const auto names = files.list_directory(directory);
  return !names.ok() ? 0
                     : static_cast<std::size_t>(std::count_if(
                           names->begin(), names->end(),
                           [](const std::string& name) { return name.ends_with(".pending"); }));
}

// The running count of each of `keys` keys: 1, 2, 3, … once each.
JobResult running_counts(EnvironmentOptions options, Index count, Index keys, double rate,
                         PlannedFailures& failures, const std::string& output) {
  StreamExecutionEnvironment env(std::move(options));
  env.generate([](Index i) { return i; }, {.count = count, .records_per_second = rate})
      .map([keys](Index i) { return i % keys; })
      .key_by(identity)
      .count(Emit::every_record)
      .map([&failures](const KeyValue<Index, Index>& total) {
        failures.maybe_throw();
        return total;
      })
      .write_file(output);
  return env.execute("running counts");
}

class EmbeddedCheckpoints : public testing::TestWithParam<std::uint64_t> {
 protected:
  EnvironmentOptions options(SimulatedPlatform& node) {
    EnvironmentOptions options;
    options.platform = &node;
    options.parallelism = 1 + static_cast<int>(GetParam() % 3);
    options.batch_records = GetParam() % 2 == 0 ? 1024 : static_cast<std::uint32_t>(GetParam());
    options.channel_credits = 2;
    options.checkpoints.directory = "/checkpoints";
    options.checkpoints.interval_ms = 20;
    options.restart = RestartStrategy::fixed_delay(20, 5);
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, EmbeddedCheckpoints,
                         testing::Range<std::uint64_t>(1, drawn_cases(20) + 1));

TEST_P(EmbeddedCheckpoints, OutputIsThatOfARunWithoutFailures) {
  auto node = make_simulated_platform({.seed = GetParam()});
  PlannedFailures failures;
  failures.left = 4;
  failures.every = 300 + 17 * GetParam();
  const JobResult result = running_counts(options(*node), 3000, 7, 10'000, failures, "/out");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_LE(failures.left.load(), 0) << "a failure that was planned did not come";
  EXPECT_EQ(visible_lines(node->files(), "/out"), expected_counts(3000, 7));
  EXPECT_EQ(pending_files(node->files(), "/out"), 0u);
  EXPECT_TRUE(CheckpointStore(node->files(), "/checkpoints").ids()->empty());
}

// An input that falls silent flushes what is behind it, between the barriers.
TEST_P(EmbeddedCheckpoints, AnInputThatFallsSilentNowAndThenLosesNothing) {
  auto node = make_simulated_platform({.seed = GetParam()});
  EnvironmentOptions slow = options(*node);
  slow.checkpoints.interval_ms = 150;
  StreamExecutionEnvironment env(slow);
  env.generate([](Index i) { return i; }, {.count = Index{100}, .records_per_second = 50})
      .assign_timestamps([](Index i) { return static_cast<Timestamp>(i); },
                         WatermarkStrategy::ascending().with_idleness(5))
      .write_file("/out");
  const JobResult result = env.execute("silent now and then");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  std::vector<std::string> expected;
  for (Index i = 0; i < 100; ++i) expected.push_back(std::to_string(i));
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(visible_lines(node->files(), "/out"), expected);
}

TEST_P(EmbeddedCheckpoints, AtLeastOnceLosesNothing) {
  auto node = make_simulated_platform({.seed = GetParam()});
  PlannedFailures failures;
  failures.left = 2;
  failures.every = 500 + 31 * GetParam();
  EnvironmentOptions at_least = options(*node);
  at_least.checkpoints.guarantee = Guarantee::at_least_once;
  const JobResult result = running_counts(at_least, 3000, 7, 10'000, failures, "/out");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  std::map<std::string, Index> highest;
  for (const std::string& line : visible_lines(node->files(), "/out")) {
    const std::size_t tab = line.find('\t');
    Index& best = highest[line.substr(0, tab)];
    best = std::max<Index>(best, std::stoull(line.substr(tab + 1)));
  }
  Index total = 0;
  for (const auto& [key, count] : highest) total += count;
  EXPECT_GE(total, 3000u);
}

TEST_P(EmbeddedCheckpoints, ARunThatWasCutOffGoesOnAtAnotherParallelism) {
  auto node = make_simulated_platform({.seed = GetParam()});
  PlannedFailures failures;
  failures.left = 1;
  failures.every = 1500;
  EnvironmentOptions first = options(*node);
  first.restart = RestartStrategy::no_restart();
  const JobResult cut = running_counts(first, 3000, 7, 10'000, failures, "/out");
  ASSERT_EQ(cut.status.code(), ErrorCode::user_function_failed);
  ASSERT_FALSE(CheckpointStore(node->files(), "/checkpoints").ids()->empty());

  EnvironmentOptions second = options(*node);
  second.parallelism = 1 + static_cast<int>((GetParam() + 1) % 4);
  second.checkpoints.restore = "latest";
  failures.every = 0;
  const JobResult result = running_counts(second, 3000, 7, 10'000, failures, "/out");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(visible_lines(node->files(), "/out"), expected_counts(3000, 7));
}

TEST_P(EmbeddedCheckpoints, AFinishedRunLeavesOnlyWhatIsOfOtherJobs) {
  auto node = make_simulated_platform({.seed = GetParam()});
  const CheckpointStore store(node->files(), "/checkpoints");
  PlannedFailures none;
  EnvironmentOptions other = options(*node);
  other.checkpoints.keep_at_end = true;
  StreamExecutionEnvironment env(other);
  env.generate([](Index i) { return i; }, {.count = 1000, .records_per_second = 10'000.0})
      .write_file("/others");
  ASSERT_TRUE(env.execute("another job").ok());
  const std::vector<std::uint64_t> of_the_other = *store.ids();
  ASSERT_FALSE(of_the_other.empty());

  PlannedFailures failures;
  failures.left = 1;
  failures.every = 1500;
  EnvironmentOptions first = options(*node);
  first.restart = RestartStrategy::no_restart();
  ASSERT_FALSE(running_counts(first, 3000, 7, 10'000, failures, "/out").ok());
  ASSERT_GT(store.ids()->size(), of_the_other.size());

  EnvironmentOptions second = options(*node);
  second.checkpoints.restore = "latest";
  ASSERT_TRUE(running_counts(second, 3000, 7, 10'000, none, "/out").ok());
  EXPECT_EQ(visible_lines(node->files(), "/out"), expected_counts(3000, 7));
  EXPECT_EQ(*store.ids(), of_the_other);
}

TEST_P(EmbeddedCheckpoints, TotalsAtTheEndCountEveryRecordOnce) {
  auto node = make_simulated_platform({.seed = GetParam()});
  PlannedFailures failures;
  failures.left = 3;
  failures.every = 700 + 41 * GetParam();
  StreamExecutionEnvironment env(options(*node));
  env.generate([](Index i) { return i; }, {.count = 3000, .records_per_second = 10'000.0})
      .map([&failures](Index i) {
        failures.maybe_throw();
        return i % 11;
      })
      .key_by(identity)
      .count()
      .write_file("/out");
  const JobResult result = env.execute("totals");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  std::vector<std::string> expected;
  for (Index key = 0; key < 11; ++key) {
    expected.push_back(std::to_string(key) + "\t" + std::to_string(key < 3000 % 11 ? 273 : 272));
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(visible_lines(node->files(), "/out"), expected);
}

TEST_P(EmbeddedCheckpoints, ADiskThatFailsNowAndThenCostsCheckpointsOnly) {
  auto node = make_simulated_platform({.seed = GetParam()});
  PlannedFailures failures;
  failures.left = 2;
  failures.every = 900;
  EnvironmentOptions tolerant = options(*node);
  tolerant.checkpoints.tolerated_failures = 1000;
  tolerant.restart = RestartStrategy::fixed_delay(1000, 5);
  node->simulation().options().write_fault_rate = 0.02;
  const JobResult result = running_counts(tolerant, 2000, 7, 10'000, failures, "/out");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(visible_lines(node->files(), "/out"), expected_counts(2000, 7));
}

TEST(EmbeddedCheckpointDefaults, ThreeAreKept) {
  auto node = make_simulated_platform({.seed = 3});
  PlannedFailures none;
  EnvironmentOptions options;
  options.platform = node.get();
  options.checkpoints.directory = "/checkpoints";
  options.checkpoints.interval_ms = 20;
  options.checkpoints.keep_at_end = true;
  ASSERT_TRUE(running_counts(options, 3000, 7, 10'000, none, "/out").ok());
  const CheckpointStore store(node->files(), "/checkpoints");
  // The end of the job may have come while one more was being written.
  std::vector<std::uint64_t> complete = *store.ids();
  std::erase_if(complete, [&](std::uint64_t id) { return !store.read(id).ok(); });
  EXPECT_EQ(complete.size(), 3u) << testing::PrintToString(complete);
}

TEST(EmbeddedRestarts, GiveUpAsTheStrategySays) {
  auto node = make_simulated_platform({.seed = 3});
  PlannedFailures failures;
  failures.left = 1000;
  failures.every = 100;
  EnvironmentOptions options;
  options.platform = node.get();
  options.parallelism = 2;
  options.checkpoints.directory = "/checkpoints";
  options.checkpoints.interval_ms = 1000;
  options.restart = RestartStrategy::fixed_delay(3, 10);
  const JobResult result = running_counts(options, 100'000, 7, 10'000, failures, "/out");
  EXPECT_EQ(result.status.code(), ErrorCode::user_function_failed);
  EXPECT_EQ(failures.left.load(), 996);
}

// Says at the end how many records it has had.
struct Summary {
  Index records = 0;
  void process(Index, ProcessOutput<Index>&) { ++records; }
  void end(ProcessOutput<Index>& out) { out.emit(records); }
  void snapshot(ByteWriter& out) const { out.put_value(records); }
  Status restore(ByteReader& in) {
    if (in.get_value(records)) return {};
    return {ErrorCode::corrupt_record, "no number"};
  }
};

TEST(EmbeddedRestarts, WhatHasEndedDoesNotEndAgainAtAHigherParallelism) {
  auto node = make_simulated_platform({.seed = 3});
  EnvironmentOptions options;
  options.platform = node.get();
  options.checkpoints.directory = "/checkpoints";
  options.checkpoints.interval_ms = 20;
  options.checkpoints.keep_at_end = true;
  const auto summaries = [&](int parallelism, const std::string& restore) {
    options.parallelism = parallelism;
    options.checkpoints.restore = restore;
    StreamExecutionEnvironment env(options);
    env.generate([](Index i) { return i; }, {.count = Index{1000}})
        .process<Index>(Summary())
        .write_file("/out");
    const JobResult result = env.execute("summaries");
    EXPECT_TRUE(result.ok()) << result.status.to_string();
    return visible_lines(node->files(), "/out");
  };
  const std::vector<std::string> once = summaries(2, "");
  EXPECT_EQ(once, (std::vector<std::string>{"500", "500"}));
  EXPECT_EQ(summaries(3, "latest"), once);
}

TEST(EmbeddedRestarts, StateThatTheJobNoLongerHasIsRefused) {
  auto node = make_simulated_platform({.seed = 3});
  EnvironmentOptions options;
  options.platform = node.get();
  options.parallelism = 2;
  options.checkpoints.directory = "/checkpoints";
  options.checkpoints.interval_ms = 20;
  options.checkpoints.keep_at_end = true;
  PlannedFailures none;
  ASSERT_TRUE(running_counts(options, 1000, 7, 10'000, none, "/out").ok());

  options.checkpoints.restore = "latest";
  const auto without_count = [&] {
    StreamExecutionEnvironment env(options);
    env.generate([](Index i) { return i; }, {.count = Index{10}}).write_file("/other");
    return env.execute("running counts");
  };
  const JobResult refused = without_count();
  EXPECT_EQ(refused.status.code(), ErrorCode::invalid_graph);
  EXPECT_NE(refused.status.message().find("'count'"), std::string::npos)
      << refused.status.message();
  options.checkpoints.allow_dropped_state = true;
  EXPECT_TRUE(without_count().ok());
}

}  // namespace
}  // namespace hummer::embedded_checkpoints_test
