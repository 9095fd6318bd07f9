// State that is too large for one step of a snapshot, of which little changes: written in steps, as
// deltas, and restored out of several checkpoints' files after failures.
#include <gtest/gtest.h>

#include <map>

#include <hummer/hummer.hpp>

#include "checkpoints/failing_jobs.hpp"
#include "platform/simulation.hpp"
#include "state/checkpoint_store.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::incremental_checkpoints_test {
namespace {

using Index = std::uint64_t;
constexpr Index keys = 9'000;
constexpr Index count = 60'000;

// All keys once, then few of them again and again.
Index key_of_index(Index i) { return i < keys ? i : i * 7919 % 300; }

std::vector<std::string> expected_totals() {
  std::map<Index, Index> totals;
  for (Index i = 0; i < count; ++i) ++totals[key_of_index(i)];
  std::vector<std::string> lines;
  for (const auto& [key, total] : totals) {
    lines.push_back(std::to_string(key) + "\t" + std::to_string(total));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

// The same count as a function of the author's, with a timer per key that gives it out.
struct CountUntilTheEnd {
  ValueState<Index> seen{"seen"};
  MapState<Index, Index> last{"last"};
  void process(Index key, KeyedOutput<std::string>& out) {
    const Index now = seen.update(0, [](Index& value) { ++value; });
    if (now == 1) out.set_event_timer(1'000'000);
    if (now % 8 == 0) last.put(key, now);
    if (now % 8 == 4) last.clear();
  }
  void on_timer(Timestamp, KeyedOutput<std::string>& out) {
    out.emit(std::to_string(out.key<Index>()) + "\t" + std::to_string(seen.get_or(0)));
  }
};

enum class Kind { aggregate, keyed_function, windows };

JobResult totals(EnvironmentOptions options, Kind kind, PlannedFailures& failures) {
  StreamExecutionEnvironment env(std::move(options));
  const auto key = [&failures](Index i) {
    failures.maybe_throw();
    return key_of_index(i);
  };
  const GeneratorOptions input{.count = count, .records_per_second = 100'000.0};
  if (kind == Kind::aggregate) {
    env.generate([](Index i) { return i; }, input)
        .map(key)
        .key_by(identity)
        .count()
        .write_file("/out");
  } else if (kind == Kind::keyed_function) {
    env.generate([](Index i) { return i; }, input)
        .map(key)
        .key_by(identity)
        .process(CountUntilTheEnd())
        .write_file("/out");
  } else {
    env.generate([](Index i) { return i; }, input, [](Index) { return Timestamp{5}; })
        .map(key)
        .key_by(identity)
        .window(TumblingWindows::of(10))
        .strategy(WindowStrategy::repartition)  // at every parallelism: the same operators
        .count()
        .map([](const Windowed<Index, Index>& one) {
          return KeyValue<Index, Index>{one.key, one.value};
        })
        .write_file("/out");
  }
  return env.execute("totals");
}

class IncrementalCheckpoints : public testing::TestWithParam<std::tuple<std::uint64_t, Kind>> {
 protected:
  std::uint64_t seed() const { return std::get<0>(GetParam()); }
  EnvironmentOptions options(SimulatedPlatform& node) {
    EnvironmentOptions options;
    options.platform = &node;
    options.parallelism = 1 + static_cast<int>(seed() % 3);
    options.channel_credits = 2;
    options.checkpoints.directory = "/checkpoints";
    options.checkpoints.interval_ms = 20;
    options.restart = RestartStrategy::fixed_delay(20, 5);
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, IncrementalCheckpoints,
                         testing::Combine(testing::Range<std::uint64_t>(1, drawn_cases(6) + 1),
                                          testing::Values(Kind::aggregate, Kind::keyed_function,
                                                          Kind::windows)));

TEST_P(IncrementalCheckpoints, TotalsAreThoseOfARunWithoutFailures) {
  auto node = make_simulated_platform({.seed = seed()});
  PlannedFailures failures;
  failures.left = 3;
  failures.every = 15'000 + 701 * seed();
  const JobResult result = totals(options(*node), std::get<1>(GetParam()), failures);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_LE(failures.left.load(), 0) << "a failure that was planned did not come";
  EXPECT_EQ(visible_lines(node->files(), "/out"), expected_totals());
  EXPECT_TRUE(CheckpointStore(node->files(), "/checkpoints").ids()->empty());
}

TEST_P(IncrementalCheckpoints, ARestartReadsDeltasAtAnotherParallelism) {
  auto node = make_simulated_platform({.seed = seed()});
  PlannedFailures failures;
  failures.left = 1;
  failures.every = 45'000;
  EnvironmentOptions first = options(*node);
  first.restart = RestartStrategy::no_restart();
  const JobResult cut = totals(first, std::get<1>(GetParam()), failures);
  ASSERT_EQ(cut.status.code(), ErrorCode::user_function_failed);
  std::vector<SkippedCheckpoint> skipped;
  CheckpointStore store(node->files(), "/checkpoints");
  const auto newest = store.newest(skipped);
  ASSERT_TRUE(newest.ok()) << newest.status().to_string();
  std::uint64_t own = 0;
  std::uint64_t whole = 0;
  for (const CheckpointFile& file : newest->files) {
    if (file.checkpoint == 0) own += file.bytes;
    if (file.builds_on == 0) whole += file.bytes;
  }
  EXPECT_GT(own, 0u);
  EXPECT_LT(own * 5, whole) << "few keys have changed";

  EnvironmentOptions second = options(*node);
  second.parallelism = 1 + static_cast<int>((seed() + 1) % 4);
  second.checkpoints.restore = "latest";
  failures.every = 0;
  const JobResult result = totals(second, std::get<1>(GetParam()), failures);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(visible_lines(node->files(), "/out"), expected_totals());
}

TEST_P(IncrementalCheckpoints, ADiskThatFailsNowAndThenCostsCheckpointsOnly) {
  auto node = make_simulated_platform({.seed = seed()});
  PlannedFailures failures;
  failures.left = 2;
  failures.every = 20'000;
  EnvironmentOptions tolerant = options(*node);
  tolerant.checkpoints.tolerated_failures = 1000;
  tolerant.restart = RestartStrategy::fixed_delay(1000, 5);
  node->simulation().options().write_fault_rate = 0.01;
  const JobResult result = totals(tolerant, std::get<1>(GetParam()), failures);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(visible_lines(node->files(), "/out"), expected_totals());
}

}  // namespace
}  // namespace hummer::incremental_checkpoints_test
