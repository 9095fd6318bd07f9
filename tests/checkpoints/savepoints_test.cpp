// Savepoints of embedded jobs, and what runs after one another in one directory leave each other.
#include <gtest/gtest.h>

#include <hummer/hummer.hpp>

#include "checkpoints/failing_jobs.hpp"
#include "platform/simulation.hpp"
#include "state/checkpoint_store.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::savepoints_test {
namespace {

using Index = std::uint64_t;
constexpr Index keys = 5;

class Savepoints : public testing::TestWithParam<std::uint64_t> {
 protected:
  EnvironmentOptions options() {
    EnvironmentOptions options;
    options.platform = node_.get();
    options.parallelism = 1 + static_cast<int>(GetParam() % 3);
    options.batch_records = 16;
    options.checkpoints.directory = "/checkpoints";
    return options;
  }
  // The running count of each key; `wrong`: the record at which it throws.
  static void build(StreamExecutionEnvironment& env, Index count, Index wrong = UINT64_MAX) {
    env.generate([](Index i) { return i; }, {.count = count, .records_per_second = 5000})
        .map([wrong](Index i) {
          if (i == wrong) throw std::runtime_error("planned");
          return i % keys;
        })
        .key_by(identity)
        .count(Emit::every_record)
        .write_file("/out");
  }
  void let_pass(Nanoseconds time) {
    (void)node_->run_until([] { return false; }, node_->now() + time);
  }
  std::vector<std::string> lines() { return visible_lines(node_->files(), "/out"); }
  std::size_t pending() {
    std::size_t count = 0;
    const auto names = node_->files().list_directory("/out");
    if (!names.ok()) return 0;
    for (const std::string& name : *names) count += name.ends_with(".pending") ? 1 : 0;
    return count;
  }
  // As the names of a sink's run have it: of the claim of its first subtask.
  std::string sink_id() {
    const std::vector<std::string> names = *node_->files().list_directory("/out");
    for (const std::string& name : names) {
      if (name.starts_with(".sink-")) return name.substr(6, 16);
    }
    return {};
  }

  std::unique_ptr<SimulatedPlatform> node_ = make_simulated_platform({.seed = GetParam()});
};
INSTANTIATE_TEST_SUITE_P(Seeds, Savepoints, testing::Range<std::uint64_t>(1, drawn_cases(8) + 1));

TEST_P(Savepoints, OneThatStopsTheJobIsAllThatAnotherNeeds) {
  std::string path;
  {
    StreamExecutionEnvironment env(options());
    build(env, 3000);
    JobHandle job = env.execute_async("counts");
    let_pass(milliseconds(150));
    const Result<std::string> running = job.savepoint("/savepoints");
    ASSERT_TRUE(running.ok()) << running.status().to_string();
    EXPECT_TRUE(lines().empty()) << "it commits nothing";
    let_pass(milliseconds(50));
    const Result<std::string> last = job.stop_with_savepoint();
    ASSERT_TRUE(last.ok()) << last.status().to_string();
    path = *last;
    const JobResult result = job.wait();
    EXPECT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_TRUE(CheckpointStore::read_at(node_->files(), *running)->savepoint);
  }
  const std::size_t halfway = lines().size();
  EXPECT_GT(halfway, 0u);
  EXPECT_LT(halfway, 3000u);
  EnvironmentOptions next = options();
  next.parallelism = 2;
  next.checkpoints.restore = path;
  StreamExecutionEnvironment env(next);
  build(env, 3000);
  const JobResult result = env.execute("counts");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(lines(), expected_counts(3000, keys));
  EXPECT_TRUE(CheckpointStore::read_at(node_->files(), path).ok()) << "nothing removes it";
}

TEST_P(Savepoints, ADiskWithoutRoomFailsTheSavepointAndNotTheJob) {
  StreamExecutionEnvironment env(options());
  build(env, 2000);
  JobHandle job = env.execute_async("counts");
  let_pass(milliseconds(50));
  ASSERT_TRUE(node_->files().open_for_writing("/a-file", WriteMode::truncate).ok());
  const Result<std::string> savepoint = job.stop_with_savepoint("/a-file");
  ASSERT_FALSE(savepoint.ok());
  EXPECT_NE(savepoint.status().message().find("/a-file"), std::string::npos);
  const JobResult result = job.wait();
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(lines(), expected_counts(2000, keys));
}

TEST_P(Savepoints, AJobThatTakesNoSnapshotsSaysSo) {
  EnvironmentOptions without = options();
  without.checkpoints = {};
  StreamExecutionEnvironment env(without);
  build(env, 1000);
  JobHandle job = env.execute_async("counts");
  EXPECT_EQ(job.savepoint().status().code(), ErrorCode::invalid_configuration);
  job.cancel();
  (void)job.wait();
}

TEST_P(Savepoints, AFinishedRunLeavesWhatEarlierRunsHaveLeftUntilOneGoesOnWithIt) {
  EnvironmentOptions failing = options();
  failing.checkpoints.interval_ms = 20;
  failing.restart = RestartStrategy::no_restart();
  {
    StreamExecutionEnvironment env(failing);
    build(env, 2000, 1500);
    ASSERT_FALSE(env.execute("counts").ok());
  }
  const CheckpointStore store(node_->files(), "/checkpoints");
  const std::vector<std::uint64_t> left = *store.ids();
  ASSERT_FALSE(left.empty());
  // What the dead process may have been writing, and what another job does.
  const std::string of_another = ".part-00000-7.00000000000000aa.0.pending";
  for (const std::string& name : {".part-00000-7." + sink_id() + ".0.pending", of_another}) {
    ASSERT_TRUE(node_->files().open_for_writing("/out/" + name, WriteMode::truncate).ok());
  }
  EnvironmentOptions fresh = failing;
  {
    StreamExecutionEnvironment env(fresh);
    env.generate([](Index i) { return i; }, {.count = 1000, .records_per_second = 5000})
        .write_file("/other");
    ASSERT_TRUE(env.execute("another").ok());
  }
  const auto complete = [&] {
    std::vector<std::uint64_t> found = *store.ids();
    std::erase_if(found, [&](std::uint64_t id) { return !store.read(id).ok(); });
    return found;
  };
  EXPECT_FALSE(complete().empty());
  // With the run that goes on with them they are done, and what the dead one had pending goes.
  EnvironmentOptions latest = failing;
  latest.checkpoints.restore = "latest";
  StreamExecutionEnvironment env(latest);
  build(env, 2000);
  const JobResult result = env.execute("counts");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(lines(), expected_counts(2000, keys));
  EXPECT_EQ(pending(), 1u);
  EXPECT_TRUE(node_->files().stat("/out/" + of_another).ok());
  EXPECT_TRUE(complete().empty());
}

}  // namespace
}  // namespace hummer::savepoints_test
