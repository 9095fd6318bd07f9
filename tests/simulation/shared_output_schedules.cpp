// Several two-phase sinks on one output directory: two of one job, and those of two jobs, while
// workers die at drawn moments. Every line of each is there once, or a job is refused at its start.
#include <gtest/gtest.h>
#include <hummer/hummer.hpp>

#include <algorithm>
#include <cstdio>
#include <map>

#include "checkpoints/failing_jobs.hpp"
#include "checkpoints/simulated_cluster.hpp"
#include "simulation/drawn_schedules.hpp"

namespace hummer {
namespace {

using Index = std::uint64_t;

constexpr Index records = 600;
constexpr Index keys = 7;

// Two sinks: the running counts, and the numbers themselves.
JobResult two_sinks(StreamExecutionEnvironment& env) {
  const auto numbers =
      env.generate([](Index i) { return i; }, {.count = records, .records_per_second = 2000});
  numbers.map([](Index i) { return i % keys; })
      .key_by(identity)
      .count(Emit::every_record)
      .write_file("/out");
  numbers.map([](Index i) { return "number " + std::to_string(i); }).write_file("/out");
  return env.execute("two sinks");
}

std::vector<std::string> expected_of(int jobs) {
  std::vector<std::string> lines;
  for (int job = 0; job < jobs; ++job) {
    for (std::string& line : expected_counts(records, keys)) lines.push_back(std::move(line));
    for (Index i = 0; i < records; ++i) lines.push_back("number " + std::to_string(i));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::map<std::string, int> ends;

void share_a_directory(std::uint64_t seed) {
  Random random(seed);
  SimulatedCluster cluster(seed, 3, 2, &two_sinks);
  EnvironmentOptions options;
  options.parallelism = 1 + static_cast<int>(random.below(3));
  options.batch_records = 16;
  options.checkpoints.directory = "/checkpoints";
  options.checkpoints.interval_ms = random.between(10, 60);
  options.restart = RestartStrategy::fixed_delay(100, 5);
  std::vector<std::uint64_t> jobs{cluster.submit(options)};
  // The second may come so late that it finds what the first has made.
  if (random.chance(0.5)) cluster.let_pass(random.between(0, milliseconds(150)));
  jobs.push_back(cluster.submit(options));
  const std::uint64_t deaths = random.below(4);
  for (std::uint64_t i = 0; i < deaths; ++i) {
    cluster.let_pass(random.between(0, milliseconds(120)));
    SimulatedCluster::Worker& victim = cluster.workers[random.below(3)];
    // At an operation of its disk, such as one of a commit, or anywhere.
    if (random.chance(0.7)) {
      victim.node->kill_at_disk_operation(1 + random.below(20));
      cluster.let_pass(milliseconds(50));
      victim.node->kill_at_disk_operation(0);
    }
    cluster.kill(victim);
    cluster.restart(victim);
  }
  int finished = 0;
  for (const std::uint64_t job : jobs) {
    const wire::JobStatus end = cluster.end_of(job);
    if (end.state() == wire::JOB_FINISHED) {
      ++finished;
      ++ends["jobs finished"];
      continue;
    }
    // Before anything of it was visible: the lines say so below.
    EXPECT_EQ(end.failure().code(), static_cast<std::uint32_t>(ErrorCode::invalid_configuration))
        << end.failure().message();
    EXPECT_NE(end.failure().message().find("is there already"), std::string::npos)
        << end.failure().message();
    ++ends["jobs refused at the start"];
  }
  EXPECT_GE(finished, 1);
  const std::vector<std::string> lines = visible_lines(cluster.store.files(), "/out");
  EXPECT_EQ(lines.size(), expected_of(finished).size());
  EXPECT_TRUE(lines == expected_of(finished));
}

TEST(SharedOutput, EveryLineOfTwoSinksAndTwoJobsIsThereOnce) {
  for_each_seed(8, [](std::uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    share_a_directory(seed);
  });
  for (const auto& [what, count] : ends) std::printf("%s: %d\n", what.c_str(), count);
}

}  // namespace
}  // namespace hummer
