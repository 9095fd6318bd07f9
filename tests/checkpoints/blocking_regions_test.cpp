// Jobs whose regions run one after another, through files, on a cluster: with fewer subtasks where
// little is read, and past the death of the JobManager.
#include <gtest/gtest.h>

#include <hummer/hummer.hpp>

#include "checkpoints/failing_jobs.hpp"
#include "checkpoints/simulated_cluster.hpp"

namespace hummer::blocking_regions_test {
namespace {

using Index = std::uint64_t;
constexpr Index keys = 997;
constexpr Index records = 20'000;

PlannedFailures failures;  // of the second region

// How often each key comes among `records`, --rate of them in a second. In the second region each
// subtask counts the keys that it owns; the last one writes what they say.
JobResult count_keys(StreamExecutionEnvironment& env) {
  const double rate = std::stod(env.argument_or("rate", "50000"));
  env.generate([](Index i) { return i % keys; }, {.count = records, .records_per_second = rate})
      .key_by(identity)
      .count()
      .map([](const auto& counted) {
        failures.maybe_throw();
        return counted;
      })
      .write_file("/counts");
  return env.execute("count keys");
}

// The same by two steps: a function says which subtask gets a key first.
JobResult count_chosen_keys(StreamExecutionEnvironment& env) {
  env.generate([](Index i) { return i % keys; }, {.count = records})
      .partition_custom([](Index key, std::uint32_t subtasks) { return key % subtasks; })
      .map([](Index key) { return key; })
      .key_by(identity)
      .count()
      .write_file("/counts");
  return env.execute("count chosen keys");
}

std::vector<std::string> expected() {
  std::vector<std::string> lines;
  for (Index key = 0; key < keys; ++key) {
    const Index count = records / keys + (key < records % keys ? 1 : 0);
    lines.push_back(std::to_string(key) + "\t" + std::to_string(count));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

EnvironmentOptions through_files(std::size_t bytes_per_subtask = 0) {
  EnvironmentOptions options;
  options.parallelism = 4;
  options.batch_records = 32;
  options.exchange = ExchangeMode::blocking;
  options.bytes_per_subtask = bytes_per_subtask;
  options.restart = RestartStrategy::fixed_delay(100, 20);
  return options;
}

class BlockingRegions : public testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    failures.left = 0;
    failures.seen = 0;
    failures.every = 0;
  }
  static std::vector<std::string> output(SimulatedCluster& cluster) {
    auto file = cluster.store.files().open_for_reading("/counts");
    EXPECT_TRUE(file.ok()) << file.status().to_string();
    if (!file.ok()) return {};
    std::string text((*file)->size_bytes(), ' ');
    EXPECT_TRUE((*file)->read_at(0, text).ok());
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    return lines;
  }
  static void expect_exact(SimulatedCluster& cluster, const wire::JobStatus& end) {
    ASSERT_EQ(end.state(), wire::JOB_FINISHED) << end.failure().message();
    EXPECT_EQ(output(cluster), expected());
  }
  // The bytes that the second region reads, of a run in which nothing else matters.
  static std::uint64_t bytes_between(std::uint64_t seed) {
    SimulatedCluster cluster(seed, 2, 2, &count_keys);
    const std::uint64_t job = cluster.submit(through_files(std::size_t{1} << 40));
    return cluster.end_of(job).vertices(1).shuffle_bytes();
  }
  // Until somebody has a part of that region, and a little longer.
  bool until_begun(SimulatedCluster& cluster, std::uint32_t region) {
    const auto begun = [&] {
      for (const SimulatedCluster::Worker& worker : cluster.workers) {
        for (const TaskManager::Held& held : worker.actor->held()) {
          if (held.region == region) return true;
        }
      }
      return false;
    };
    const Nanoseconds deadline = cluster.simulation.now() + seconds(60);
    const bool found = cluster.simulation.run_until(begun, deadline) == RunEnd::satisfied;
    cluster.let_pass(static_cast<Nanoseconds>(GetParam() * 70'000));
    return found;
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, BlockingRegions, cluster_seeds());

TEST_P(BlockingRegions, ARegionHasAsManySubtasksAsTheBytesAreFor) {
  const std::uint64_t bytes = bytes_between(GetParam());
  ASSERT_GT(bytes, records);
  struct Case {
    std::size_t bytes_per_subtask;
    std::uint32_t subtasks;
  };
  for (const Case& each : {Case{0, 4}, Case{bytes, 1}, Case{bytes / 2 + 1, 2}, Case{1000, 4}}) {
    SimulatedCluster cluster(GetParam(), 2, 2, &count_keys);
    const wire::JobStatus end =
        cluster.end_of(cluster.submit(through_files(each.bytes_per_subtask)));
    expect_exact(cluster, end);
    const wire::VertexStatus& counts = end.vertices(1);
    EXPECT_EQ(counts.parallelism(), each.subtasks);
    EXPECT_EQ(counts.subtask_starts_size(), static_cast<int>(each.subtasks));
    EXPECT_EQ(counts.metrics().tasks_finished(), each.subtasks);
    EXPECT_EQ(counts.planned_parallelism(), each.subtasks < 4 ? 4u : 0u);
    EXPECT_EQ(counts.shuffle_bytes(), each.subtasks < 4 ? bytes : 0u);
    EXPECT_EQ(end.vertices(0).parallelism(), 4u);
  }
}

TEST_P(BlockingRegions, WhoIsChosenByAFunctionIsNotNarrowed) {
  SimulatedCluster cluster(GetParam(), 2, 2, &count_chosen_keys);
  const wire::JobStatus end = cluster.end_of(cluster.submit(through_files(std::size_t{1} << 40)));
  expect_exact(cluster, end);
  EXPECT_EQ(end.vertices(1).parallelism(), 4u);
  EXPECT_EQ(end.vertices(2).parallelism(), 1u);
  EXPECT_EQ(end.vertices(2).planned_parallelism(), 4u);
}

// Of both regions something begins again, where it was and as it was.
TEST_P(BlockingRegions, ANarrowedRegionIsStruck) {
  const std::uint64_t bytes = bytes_between(GetParam());
  failures.left = 2;
  failures.every = 100 + 100 * GetParam();
  SimulatedCluster cluster(GetParam(), 3, 2, &count_keys);
  const std::uint64_t job = cluster.submit(through_files(bytes / 2 + 1));
  ASSERT_TRUE(until_begun(cluster, 1)) << cluster.status(job).reason();
  SimulatedCluster::Worker& victim = cluster.workers[GetParam() % 2];
  cluster.kill(victim);
  cluster.let_pass(milliseconds(20));
  cluster.restart(victim);
  const wire::JobStatus end = cluster.end_of(job);
  expect_exact(cluster, end);
  EXPECT_EQ(end.vertices(1).parallelism(), 2u);
  EXPECT_EQ(end.vertices(1).planned_parallelism(), 4u);
  EXPECT_GE(end.restarts(), 1u);
}

// What files there were it does not know, so all begins anew.
TEST_P(BlockingRegions, TheNextJobManagerBeginsTheJobAtItsBeginning) {
  for (const bool second : {false, true}) {
    SimulatedCluster cluster(GetParam(), 2, 2, &count_keys);
    const std::uint64_t job = cluster.submit(through_files(GetParam() % 2 == 0 ? 1 << 30 : 0));
    ASSERT_TRUE(until_begun(cluster, second ? 1 : 0)) << cluster.status(job).reason();
    const std::uint32_t attempt = cluster.status(job).attempt();
    EXPECT_FALSE(cluster.logged("begins at its beginning"));
    cluster.restart_job_manager();
    const wire::JobStatus end = cluster.end_of(job);
    expect_exact(cluster, end);
    EXPECT_TRUE(
        cluster.logged("'count keys' begins at its beginning: which of its files there "
                       "were went with the earlier JobManager"));
    EXPECT_GT(end.region_attempts_size() > 0 ? end.region_attempts(0) : end.attempt(), attempt);
    for (const wire::VertexStatus& vertex : end.vertices()) {
      for (const std::uint32_t starts : vertex.subtask_starts()) EXPECT_EQ(starts, 1u);
    }
  }
}

}  // namespace
}  // namespace hummer::blocking_regions_test
