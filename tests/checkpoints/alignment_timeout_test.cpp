// Checkpoints that begin aligned and overtake when that takes too long: behind a bottleneck that is
// shut for a while they are complete all the same, and failures do not show in the output.
#include <gtest/gtest.h>

#include <atomic>

#include <hummer/hummer.hpp>

#include "checkpoints/failing_jobs.hpp"
#include "checkpoints/simulated_cluster.hpp"
#include "state/checkpoint_store.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::alignment_timeout_test {
namespace {

using Index = std::uint64_t;

std::atomic<bool> shut{false};
PlannedFailures failures;

// One record per call; none while it is shut.
class Bottleneck final : public Operator {
 public:
  void declare(Output& out) const override { out.add_port(type_of<Index>()); }
  OperatorResult process(Batch& in, Output& out) override {
    if (in.finished()) return OperatorResult::done;
    if (shut.load()) return OperatorResult::blocked;
    out.collector<Index>()(in.values<Index>()[in.position()]);
    in.advance_to(in.position() + 1);
    return in.finished() ? OperatorResult::done : OperatorResult::blocked;
  }
};

JobResult numbers_through_bottleneck(StreamExecutionEnvironment& env) {
  env.generate([](Index i) { return i; },
               {.count = std::stoull(env.argument("count")), .records_per_second = 5000})
      .rebalance()
      .transform<Index>("bottleneck",
                        make_operator_factory([] { return std::make_unique<Bottleneck>(); }))
      .map([](Index i) {
        failures.maybe_throw();
        return i;
      })
      .write_file("/out");
  return env.execute("numbers");
}

std::vector<std::string> numbers(Index count) {
  std::vector<std::string> lines;
  for (Index i = 0; i < count; ++i) lines.push_back(std::to_string(i));
  std::sort(lines.begin(), lines.end());
  return lines;
}

class AlignmentTimeout : public testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    shut = false;
    failures.left = 0;
    failures.seen = 0;
    failures.every = 0;
  }
  static EnvironmentOptions options(std::int64_t alignment_timeout_ms) {
    EnvironmentOptions options;
    options.parallelism = 2;
    options.batch_records = 16;
    options.channel_credits = 2;
    options.checkpoints.directory = "/checkpoints";
    options.checkpoints.interval_ms = 50;
    options.checkpoints.unaligned = true;
    options.checkpoints.alignment_timeout_ms = alignment_timeout_ms;
    options.restart = RestartStrategy::fixed_delay(20, 5);
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, AlignmentTimeout,
                         testing::Range<std::uint64_t>(1, drawn_cases(8) + 1));

TEST_P(AlignmentTimeout, OnAClusterTheyAreCompleteWhileNothingMoves) {
  constexpr Index count = 3000;
  SimulatedCluster cluster(GetParam(), 2, 1, &numbers_through_bottleneck);
  failures.left = 3;
  failures.every = 500 + 50 * GetParam();
  const std::uint64_t job = cluster.submit(options(20), {"--count=3000"});
  const auto two_more = [&] {
    const std::uint64_t before = cluster.status(job).checkpoints_completed();
    return cluster.until(
        job, [&](const wire::JobStatus& now) { return now.checkpoints_completed() >= before + 2; });
  };
  cluster.let_pass(milliseconds(30));
  for (int round = 0; round < 3; ++round) {
    shut = true;
    EXPECT_TRUE(two_more()) << cluster.status(job).reason();
    shut = false;
    cluster.let_pass(milliseconds(40));
  }
  const wire::JobStatus end = cluster.end_of(job);
  ASSERT_EQ(end.state(), wire::JOB_FINISHED) << end.failure().message();
  EXPECT_LE(failures.left.load(), 0) << "a failure that was planned did not come";
  EXPECT_EQ(visible_lines(cluster.store.files(), "/out"), numbers(count));
}

TEST_P(AlignmentTimeout, WithALongOneNoneIsCompleteWhileNothingMoves) {
  SimulatedCluster cluster(GetParam(), 2, 1, &numbers_through_bottleneck);
  const std::uint64_t job = cluster.submit(options(5000), {"--count=3000"});
  ASSERT_TRUE(cluster.until(
      job, [](const wire::JobStatus& now) { return now.state() == wire::JOB_RUNNING; }));
  shut = true;
  cluster.let_pass(seconds(1));
  const std::uint64_t before = cluster.status(job).checkpoints_completed();
  cluster.let_pass(seconds(2));
  EXPECT_EQ(cluster.status(job).checkpoints_completed(), before);
  EXPECT_TRUE(cluster.until(job, [&](const wire::JobStatus& now) {
    return now.checkpoints_completed() > before;
  })) << "after 5 s it overtakes";
  shut = false;
  EXPECT_EQ(cluster.end_of(job).state(), wire::JOB_FINISHED);
  EXPECT_EQ(visible_lines(cluster.store.files(), "/out"), numbers(3000));
}

TEST_P(AlignmentTimeout, EmbeddedTheyAreCompleteWhileNothingMoves) {
  auto node = make_simulated_platform({.seed = GetParam()});
  EnvironmentOptions embedded = options(20);
  embedded.platform = node.get();
  embedded.checkpoints.keep_at_end = true;
  shut = true;
  StreamExecutionEnvironment env(std::move(embedded));
  env.generate([](Index i) { return i; }, {})
      .rebalance()
      .transform<Index>("bottleneck",
                        make_operator_factory([] { return std::make_unique<Bottleneck>(); }))
      .write_file("/out");
  JobHandle handle = env.execute_async("stuck");
  const Nanoseconds until = node->now() + seconds(3);
  (void)node->run_until([&] { return node->now() >= until; }, until);
  std::vector<SkippedCheckpoint> skipped;
  const auto newest = CheckpointStore(node->files(), "/checkpoints").newest(skipped);
  ASSERT_TRUE(newest.ok()) << newest.status().to_string();
  EXPECT_GE(newest->id, 40u) << "two numbers every 50 ms or so: every second one is complete";
  handle.cancel();
  (void)handle.wait();
}

}  // namespace
}  // namespace hummer::alignment_timeout_test
