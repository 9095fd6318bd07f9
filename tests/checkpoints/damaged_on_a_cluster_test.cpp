// Checkpoints of a job on a cluster that are damaged while it runs, or before another begins with
// them: the one before is used, its name is told, and the output shows none of it.
#include <gtest/gtest.h>

#include <hummer/hummer.hpp>

#include "checkpoints/failing_jobs.hpp"
#include "checkpoints/simulated_cluster.hpp"
#include "state/checkpoint_store.hpp"

namespace hummer::damaged_on_a_cluster_test {
namespace {

using Index = std::uint64_t;
constexpr Index keys = 7;
constexpr Index records = 10'000;

// The running count of each key, 1, 2, 3, … once each.
JobResult running_counts(StreamExecutionEnvironment& env) {
  env.generate([](Index i) { return i; }, {.count = records, .records_per_second = 5000})
      .map([](Index i) { return i % keys; })
      .key_by(identity)
      .count(Emit::every_record)
      .write_file("/out");
  return env.execute("running counts");
}

EnvironmentOptions options(const std::string& restore = "") {
  EnvironmentOptions options;
  options.parallelism = 2;
  options.batch_records = 32;
  options.checkpoints.directory = "/checkpoints";
  options.checkpoints.interval_ms = 100;
  options.checkpoints.retained = 3;
  options.checkpoints.keep_at_end = true;
  options.checkpoints.restore = restore;
  options.restart = RestartStrategy::fixed_delay(20, 100);
  return options;
}

enum class Damage { flipped_bit, cut, missing };

class DamagedOnACluster : public testing::TestWithParam<Damage> {
 protected:
  std::uint64_t submit(const std::string& restore = "") {
    return cluster_.submit(options(restore));
  }
  bool until_completed(std::uint64_t job, std::uint64_t count) {
    return cluster_.until(job, [&](const wire::JobStatus& now) {
      return now.state() == wire::JOB_RUNNING && now.checkpoints_completed() >= count;
    });
  }
  Files& files() { return cluster_.store.files(); }

  // Of the checkpoint or savepoint in the directory `path`.
  void damage(const std::string& path) {
    int damaged = 0;
    const auto names = files().list_directory(path);
    ASSERT_TRUE(names.ok()) << path;
    for (const std::string& name : *names) {
      if (!name.ends_with(".state")) continue;
      ++damaged;
      const std::string at = path + "/" + name;
      if (GetParam() == Damage::missing) {
        ASSERT_TRUE(files().remove(at).ok());
        continue;
      }
      std::string bytes((*files().open_for_reading(at))->size_bytes(), ' ');
      ASSERT_TRUE((*files().open_for_reading(at))->read_at(0, bytes).ok());
      if (GetParam() == Damage::cut) bytes.resize(bytes.size() / 2);
      if (GetParam() == Damage::flipped_bit) bytes[bytes.size() / 2] ^= 1;
      auto file = files().open_for_writing(at, WriteMode::truncate);
      ASSERT_TRUE((*file)->append(bytes).ok());
      ASSERT_TRUE((*file)->close().ok());
    }
    ASSERT_GT(damaged, 0) << path;
  }
  // Stops the workers first, so that nothing follows it.
  void damage_newest(std::uint64_t job) {
    for (SimulatedCluster::Worker& worker : cluster_.workers) cluster_.kill(worker);
    cluster_.let_pass(milliseconds(1));
    damage(cluster_.status(job).last_checkpoint_path());
  }
  void restart_workers() {
    for (SimulatedCluster::Worker& worker : cluster_.workers) cluster_.restart(worker);
  }
  void expect_right_end(std::uint64_t job) {
    const wire::JobStatus end = cluster_.end_of(job);
    ASSERT_EQ(end.state(), wire::JOB_FINISHED) << end.failure().message();
    EXPECT_EQ(visible_lines(files(), "/out"), expected_counts(records, keys));
  }

  SimulatedCluster cluster_{3, 2, 1, &running_counts};
};
INSTANTIATE_TEST_SUITE_P(Kinds, DamagedOnACluster,
                         testing::Values(Damage::flipped_bit, Damage::cut, Damage::missing));

TEST_P(DamagedOnACluster, TheOneBeforeIsUsed) {
  const std::uint64_t job = submit();
  ASSERT_TRUE(until_completed(job, 4));
  damage_newest(job);
  restart_workers();
  expect_right_end(job);
  EXPECT_TRUE(cluster_.logged("is passed over"));
}

TEST_P(DamagedOnACluster, AlsoByAJobManagerThatWasStartedAgain) {
  const std::uint64_t job = submit();
  ASSERT_TRUE(until_completed(job, 4));
  damage_newest(job);
  cluster_.restart_job_manager();
  restart_workers();
  expect_right_end(job);
  EXPECT_TRUE(cluster_.logged("is passed over"));
}

TEST_P(DamagedOnACluster, AlsoByAJobThatBeginsWithTheLatest) {
  const std::uint64_t first = submit();
  ASSERT_TRUE(until_completed(first, 4));
  wire::ClientRequest cancel;
  cancel.mutable_end()->set_job(first);
  cancel.mutable_end()->set_desired_state(wire::DESIRED_CANCEL);
  cluster_.ask(cancel);
  ASSERT_EQ(cluster_.end_of(first).state(), wire::JOB_CANCELLED);
  const std::string newest = cluster_.status(first).last_checkpoint_path();
  damage(newest);
  expect_right_end(submit("latest"));
  EXPECT_TRUE(cluster_.logged("is passed over"));
}

TEST_P(DamagedOnACluster, ThatWasNamedIsTheEnd) {
  const std::uint64_t first = submit();
  ASSERT_TRUE(until_completed(first, 2));
  const std::string path = cluster_.savepoint(first, "/savepoints", true);
  ASSERT_FALSE(path.empty()) << cluster_.last_failure.to_string();
  ASSERT_EQ(cluster_.end_of(first).state(), wire::JOB_FINISHED);
  damage(path);
  const wire::JobStatus end = cluster_.end_of(submit(path));
  EXPECT_EQ(end.state(), wire::JOB_FAILED);
  EXPECT_NE(end.failure().message().find(path), std::string::npos) << end.failure().message();
}

TEST_P(DamagedOnACluster, WithNoneBeforeItIsTheEnd) {
  const std::uint64_t job = submit();
  ASSERT_TRUE(until_completed(job, 4));
  const std::string newest = cluster_.status(job).last_checkpoint_path();
  const std::string directory = newest.substr(0, newest.rfind('/'));
  for (SimulatedCluster::Worker& worker : cluster_.workers) cluster_.kill(worker);
  cluster_.let_pass(milliseconds(1));
  const std::vector<std::uint64_t> ids = *CheckpointStore(files(), directory).ids();
  for (const std::uint64_t id : ids) {
    const std::string path = CheckpointStore::path_in(directory, id);
    if (CheckpointStore::is_checkpoint(files(), path)) damage(path);
  }
  restart_workers();
  const wire::JobStatus end = cluster_.end_of(job);
  EXPECT_EQ(end.state(), wire::JOB_FAILED);
  EXPECT_NE(end.failure().message().find("can be used"), std::string::npos)
      << end.failure().message();
}

TEST(LatestOnACluster, OfWhichThereIsNoneIsTold) {
  SimulatedCluster cluster(1, 2, 1, &running_counts);
  const std::uint64_t job = cluster.submit(options("latest"));
  ASSERT_EQ(cluster.end_of(job).state(), wire::JOB_FINISHED);
  EXPECT_TRUE(cluster.logged("it begins at the beginning"));
}

}  // namespace
}  // namespace hummer::damaged_on_a_cluster_test
