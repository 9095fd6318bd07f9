// Each pipeline three ways against one golden file, which plain loops in Python made
// (make_golden.py): to the end; with checkpoints and failures; stopped on the way, with a savepoint
// or by a failure, and gone on with at another parallelism.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include <hummer/hummer.hpp>

#include "checkpoints/failing_jobs.hpp"
#include "pipelines/golden_pipelines.hpp"
#include "platform/simulation.hpp"
#include "state/checkpoint_store.hpp"
#include "support/test_paths.hpp"

namespace hummer::golden_test {
namespace {

using Lines = std::shared_ptr<const std::vector<std::string>>;

Lines lines_of_data(const std::string& name) {
  std::ifstream file(test_path("data") + "/" + name);
  EXPECT_TRUE(file) << name;
  auto lines = std::make_shared<std::vector<std::string>>();
  for (std::string line; std::getline(file, line);) lines->push_back(line);
  return lines;
}

std::vector<std::string> lines_at(Files& files, const std::string& path) {
  if (files.stat(path)->is_directory) return visible_lines(files, path);
  auto file = files.open_for_reading(path);
  std::string text((*file)->size_bytes(), ' ');
  EXPECT_TRUE((*file)->read_at(0, text).ok());
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

class Golden : public testing::TestWithParam<std::string> {
 protected:
  EnvironmentOptions options(SimulatedPlatform& node, int parallelism) {
    EnvironmentOptions options;
    options.platform = &node;
    options.parallelism = parallelism;
    options.batch_records = 16;
    options.channel_credits = 2;
    return options;
  }
  static EnvironmentOptions with_checkpoints(EnvironmentOptions options) {
    options.checkpoints.directory = "/checkpoints";
    options.checkpoints.interval_ms = 20;
    options.checkpoints.retained = 3;
    options.restart = RestartStrategy::fixed_delay(20, 5);
    return options;
  }
  JobResult run(const EnvironmentOptions& options, PlannedFailures& failures) {
    StreamExecutionEnvironment env(options);
    describe(env, failures);
    return env.execute(GetParam());
  }
  // Until half of the records have been read; the savepoint's path.
  Result<std::string> run_to_savepoint(const EnvironmentOptions& options, PlannedFailures& counts) {
    StreamExecutionEnvironment env(options);
    describe(env, counts);
    JobHandle job = env.execute_async(GetParam());
    (void)options.platform->run_until([&] { return job.finished(); },
                                      options.platform->now() + milliseconds(100));
    EXPECT_GT(counts.seen.load(), 0u);
    EXPECT_LT(counts.seen.load(), input_->size());
    Result<std::string> path = job.stop_with_savepoint();
    const JobResult result = job.wait();
    EXPECT_TRUE(result.ok()) << result.status.to_string();
    return path;
  }
  void describe(StreamExecutionEnvironment& env, PlannedFailures& failures) {
    const auto readings =
        env.generate([input = input_](std::uint64_t i) -> std::string { return (*input)[i]; },
                     {.count = input_->size(), .records_per_second = 4'000.0})
            .map([](std::string_view line) { return parse_golden_reading(line); })
            .map([&failures](const GoldenReading& reading) {
              failures.maybe_throw();
              return reading;
            })
            .assign_timestamps(&GoldenReading::time, WatermarkStrategy::bounded(50));
    build_golden_pipeline(GetParam(), readings, "/out");
  }

  Lines input_ = lines_of_data("readings.txt");
  Lines golden_ = lines_of_data("golden/" + GetParam() + ".txt");
  PlannedFailures none_;
};
INSTANTIATE_TEST_SUITE_P(Pipelines, Golden,
                         testing::Values("totals", "tumbling", "sliding", "sessions", "window_join",
                                         "interval_join", "timers", "top_n", "distinct"),
                         [](const auto& name) { return name.param; });

TEST_P(Golden, ToTheEnd) {
  for (const int parallelism : {1, 2, 3}) {
    auto node = make_simulated_platform({.seed = 10u + static_cast<unsigned>(parallelism)});
    const JobResult result = run(options(*node, parallelism), none_);
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_EQ(lines_at(node->files(), "/out"), *golden_) << parallelism;
  }
}

// Region after region, through files; a failure repeats its region, and not what it reads.
TEST_P(Golden, ThroughBlockingEdgesAndFailures) {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    auto node = make_simulated_platform({.seed = seed});
    PlannedFailures failures;
    failures.left = seed % 2 == 0 ? 2 : 0;
    failures.every = 290 + 30 * seed;
    EnvironmentOptions through_files = options(*node, 1 + static_cast<int>(seed % 3));
    through_files.exchange = ExchangeMode::blocking;
    // Of three planned subtasks one is left, of two perhaps both.
    if (seed % 2 == 0) through_files.bytes_per_subtask = seed == 2 ? 1 << 30 : 4096;
    through_files.restart = RestartStrategy::fixed_delay(20, 5);
    const JobResult result = run(through_files, failures);
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_LE(failures.left.load(), 0) << "a failure that was planned did not come";
    EXPECT_EQ(lines_at(node->files(), "/out"), *golden_) << seed;
  }
}

TEST_P(Golden, WithCheckpointsAndFailures) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    auto node = make_simulated_platform({.seed = seed});
    PlannedFailures failures;
    failures.left = 2;
    failures.every = 290 + 30 * seed;
    const JobResult result =
        run(with_checkpoints(options(*node, 1 + static_cast<int>(seed % 3))), failures);
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_LE(failures.left.load(), 0) << "a failure that was planned did not come";
    EXPECT_EQ(lines_at(node->files(), "/out"), *golden_) << seed;
  }
}

TEST_P(Golden, StoppedWithASavepointAndGoneOnWithAtAnotherParallelism) {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    const int parallelism = 1 + static_cast<int>(seed % 4);
    auto node = make_simulated_platform({.seed = 70 + seed});
    PlannedFailures counts;
    const auto savepoint = run_to_savepoint(with_checkpoints(options(*node, parallelism)), counts);
    ASSERT_TRUE(savepoint.ok()) << savepoint.status().to_string();

    EnvironmentOptions second = with_checkpoints(options(*node, 1 + parallelism % 4));
    second.checkpoints.restore = *savepoint;
    const JobResult result = run(second, none_);
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_EQ(lines_at(node->files(), "/out"), *golden_) << seed;
  }
}

TEST_P(Golden, CutOffAndGoneOnWithAtAnotherParallelism) {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    const int parallelism = 1 + static_cast<int>(seed % 4);
    auto node = make_simulated_platform({.seed = 50 + seed});
    PlannedFailures failures;
    failures.left = 1;
    failures.every = 250 + 100 * seed;
    EnvironmentOptions first = with_checkpoints(options(*node, parallelism));
    first.restart = RestartStrategy::no_restart();
    ASSERT_EQ(run(first, failures).status.code(), ErrorCode::user_function_failed);
    ASSERT_FALSE(CheckpointStore(node->files(), "/checkpoints").ids()->empty());

    EnvironmentOptions second = with_checkpoints(options(*node, 1 + parallelism % 4));
    second.checkpoints.restore = "latest";
    const JobResult result = run(second, none_);
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_EQ(lines_at(node->files(), "/out"), *golden_) << seed;
  }
}

}  // namespace
}  // namespace hummer::golden_test
