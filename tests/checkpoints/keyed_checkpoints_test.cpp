// Keyed state, timers, joins and asynchronous calls in jobs that fail and start again
// from a checkpoint, also at another parallelism: the files hold what a run without
// failures would have written. Embedded, under the simulated platform with many seeds.
#include <gtest/gtest.h>

#include <hummer/hummer.hpp>

#include "checkpoints/failing_jobs.hpp"
#include "platform/simulation.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::keyed_checkpoints_test {
namespace {

using Index = std::uint64_t;
constexpr Index record_count = 2000;

struct Item {
  Index key;
  Index id;
};
// Times go back by up to 7 ms.
Timestamp time_of(Index i) { return static_cast<Timestamp>(i * 2 + (i % 3 == 0 ? 7 : 0)); }

DataStream<Item> items(StreamExecutionEnvironment& env, Index step) {
  return env.generate([step](Index i) { return Item{i * step % 11, i}; },
                      {.count = record_count,
                       .records_per_second = 10'000.0,
                       .watermark_interval = 16,
                       .out_of_order_ms = 8},
                      [](Index i) { return time_of(i); });
}

// How many records a key had, said every 100 ms of event time by a timer.
struct EveryHundred {
  ValueState<Index> count{"count"};
  MapState<Timestamp, Index> by_hundred{"by_hundred"};

  void process(const Item&, KeyedOutput<std::string>& out) {
    count.update(0, [](Index& n) { ++n; });
    const Timestamp end = out.time() / 100 * 100 + 100;
    by_hundred.update(end, 0, [](Index& n) { ++n; });
    out.set_event_timer(end);
  }
  void on_timer(Timestamp end, KeyedOutput<std::string>& out) {
    out.emit(std::to_string(out.key<Index>()) + " had " +
             std::to_string(by_hundred.get_or(end, 0)) + " before " + std::to_string(end));
    by_hundred.remove(end);
  }
};

JobResult run_job(EnvironmentOptions options, PlannedFailures& failures) {
  StreamExecutionEnvironment env(std::move(options));
  const auto left = items(env, 1);
  const auto right = items(env, 3);
  const auto text = [](const Item& a, const Item& b) {
    return std::to_string(a.id) + "-" + std::to_string(b.id);
  };
  const auto fail = [&failures](std::string_view line) {
    failures.maybe_throw();
    return line;
  };
  left.key_by(&Item::key)
      .join(right.key_by(&Item::key))
      .window(SlidingWindows::of(40, 20))
      .apply(text)
      .map(fail)
      .write_file("/windows");
  left.key_by(&Item::key)
      .interval_join(right.key_by(&Item::key))
      .between(-10, 15)
      .apply(text)
      .write_file("/intervals");
  left.key_by(&Item::key).process(EveryHundred{}).write_file("/timers");
  right
      .async_map([](const Item& item, AsyncResult<std::string> result) {
        result.complete("asked for " + std::to_string(item.id));
      })
      .write_file("/answers");
  right.key_by(&Item::key)
      .deduplicate()
      .map([](const Item& item) { return item.key; })
      .write_file("/keys");
  return env.execute("keyed");
}

std::vector<std::string> everything(SimulatedPlatform& node) {
  return visible_lines_of(node.files(), {"/windows", "/intervals", "/timers", "/answers", "/keys"});
}

class KeyedCheckpoints : public testing::TestWithParam<std::uint64_t> {
 protected:
  EnvironmentOptions options(SimulatedPlatform& node, int parallelism) {
    EnvironmentOptions options;
    options.platform = &node;
    options.parallelism = parallelism;
    options.batch_records = GetParam() % 2 == 0 ? 256 : static_cast<std::uint32_t>(GetParam());
    options.channel_credits = 2;
    options.checkpoints.directory = "/checkpoints";
    options.checkpoints.interval_ms = 20;
    options.restart = RestartStrategy::fixed_delay(20, 5);
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, KeyedCheckpoints,
                         testing::Range<std::uint64_t>(1, drawn_cases(8) + 1));

TEST_P(KeyedCheckpoints, FailuresAndAnotherParallelismDoNotShow) {
  auto undisturbed = make_simulated_platform({.seed = GetParam()});
  PlannedFailures none;
  ASSERT_TRUE(run_job(options(*undisturbed, 2), none).ok());
  const auto expected = everything(*undisturbed);

  auto node = make_simulated_platform({.seed = 100 + GetParam()});
  PlannedFailures failures;
  failures.left = 2;
  failures.every = 500;
  const int parallelism = 1 + static_cast<int>(GetParam() % 3);
  const JobResult result = run_job(options(*node, parallelism), failures);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_LE(failures.left.load(), 0) << "a failure that was planned did not come";
  EXPECT_EQ(everything(*node), expected);

  auto other = make_simulated_platform({.seed = 200 + GetParam()});
  failures.left = 1;
  failures.seen = 0;
  failures.every = 700;
  EnvironmentOptions first = options(*other, parallelism);
  first.restart = RestartStrategy::no_restart();
  ASSERT_EQ(run_job(first, failures).status.code(), ErrorCode::user_function_failed);
  EnvironmentOptions second = options(*other, 1 + parallelism % 3);
  second.checkpoints.restore = "latest";
  const JobResult resumed = run_job(second, failures);
  ASSERT_TRUE(resumed.ok()) << resumed.status.to_string();
  EXPECT_EQ(everything(*other), expected);
}

}  // namespace
}  // namespace hummer::keyed_checkpoints_test
