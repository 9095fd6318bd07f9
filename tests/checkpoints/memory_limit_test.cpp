// Jobs with hardly any memory: their results are those of a run with all they want, also when they
// fail and start again from a checkpoint at another parallelism and with another limit. What
// can't do with so little fails by name.
#include <gtest/gtest.h>

#include <hummer/hummer.hpp>
#include <map>

#include "checkpoints/failing_jobs.hpp"
#include "platform/simulation.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::memory_limit_test {
namespace {

using Index = std::uint64_t;
constexpr Index record_count = 4000;
constexpr Index key_count = 900;
// Everything that can go to disk does so all the time. (What channels may hold is
// counted, too, and comes to less than this here.)
constexpr std::size_t hardly_any = 40'000;

struct Seen {
  ValueState<Index> count{"count"};
  ListState<std::string> names{"names"};
  void process(Index key, KeyedOutput<std::string>& out) {
    names.add("number " + std::to_string(count.update(0, [](Index& n) { ++n; })));
    out.emit(std::to_string(key) + ": " + names.get().back() + " of " +
             std::to_string(names.size()));
    if (names.size() < 4) return;
    names.clear();
    count.clear();
  }
};

// Each key's name, a while after each of its records.
struct Reminder {
  ValueState<std::string> name{"name"};
  void process(Index key, KeyedOutput<std::string>& out) {
    if (!name.has_value()) name.set("a name that has memory of its own, " + std::to_string(key));
    out.set_event_timer(out.time() + 300);
  }
  void on_timer(Timestamp time, KeyedOutput<std::string>& out) {
    out.emit(name.get_or("forgotten") + ": " + std::to_string(time));
  }
};

EnvironmentOptions options_of(SimulatedPlatform& node, int parallelism) {
  EnvironmentOptions options;
  options.platform = &node;
  options.parallelism = parallelism;
  options.batch_records = 64;
  options.channel_credits = 2;
  options.spill_directory = "/spill";
  options.checkpoints.directory = "/checkpoints";
  options.checkpoints.interval_ms = 30;
  options.restart = RestartStrategy::no_restart();
  return options;
}

JobResult run_job(EnvironmentOptions options, PlannedFailures& failures) {
  StreamExecutionEnvironment env(std::move(options));
  const auto keys = env.generate([](Index i) { return i * i % key_count; },
                                 {.count = record_count, .records_per_second = 10'000.0});
  const auto fail = [&failures](std::string_view line) {
    failures.maybe_throw();
    return std::string(line);
  };
  const auto to_text = [](const KeyValue<Index, Index>& total) {
    return std::to_string(total.key) + " " + std::to_string(total.value);
  };
  keys.key_by(identity).process(Seen{}).map(fail).write_file("/seen");
  keys.key_by(identity).count().map(to_text).write_file("/counts");
  keys.key_by(identity).count(Emit::every_record).map(to_text).write_file("/running");
  return env.execute("hardly any memory");
}

// Windows and timers: keys that wait for their time.
JobResult run_timed_job(EnvironmentOptions options, PlannedFailures& failures) {
  StreamExecutionEnvironment env(std::move(options));
  const auto keys = env.generate([](Index i) { return i * i % key_count; },
                                 {.count = record_count, .records_per_second = 10'000.0},
                                 [](Index i) { return static_cast<Timestamp>(i); });
  const auto fail = [&failures](std::string_view line) {
    failures.maybe_throw();
    return std::string(line);
  };
  const auto to_text = [](const Windowed<Index, Index>& one) {
    return std::to_string(one.key) + " " + std::to_string(one.window.start_ms) + " " +
           std::to_string(one.window.end_ms) + " " + std::to_string(one.value);
  };
  const auto sessions = keys.key_by(identity).window(SessionWindows::with_gap(400)).count();
  sessions.map(to_text).write_file("/sessions");
  keys.key_by(identity).process(Reminder{}).map(fail).write_file("/reminders");
  return env.execute("keys that wait");
}

// Tumbling and sliding windows, folded ahead of the exchange and behind it; and windows with
// records that are late within what is allowed.
JobResult run_windows_job(EnvironmentOptions options, PlannedFailures& failures) {
  StreamExecutionEnvironment env(std::move(options));
  const auto key_of_index = [](Index i) { return i * i % 1009; };  // about 500 keys
  const GeneratorOptions in_time{.count = record_count, .records_per_second = 10'000.0};
  const auto fail = [&failures](std::string_view line) {
    failures.maybe_throw();
    return std::string(line);
  };
  const auto to_text = [](const Windowed<Index, Index>& one) {
    return std::to_string(one.key) + " " + std::to_string(one.window.start_ms) + " " +
           std::to_string(one.window.end_ms) + " " + std::to_string(one.value);
  };
  const auto keys =
      env.generate(key_of_index, in_time, [](Index i) { return static_cast<Timestamp>(i); })
          .key_by(identity);
  keys.window(TumblingWindows::of(900))
      .strategy(WindowStrategy::repartition)
      .count()
      .map(to_text)
      .map(fail)
      .write_file("/tumbling");
  keys.window(SlidingWindows::of(600, 200))
      .strategy(WindowStrategy::late_merge)
      .count()
      .map(to_text)
      .write_file("/sliding");
  env.generate(key_of_index, in_time,
               [](Index i) { return static_cast<Timestamp>(i % 50 == 0 ? i - i % 300 : i); })
      .key_by(identity)
      .window(TumblingWindows::of(200))
      .allowed_lateness(500)
      .count()
      .map(to_text)
      .write_file("/refined");
  return env.execute("windows");
}

// The last result of each key and window, which is the largest count.
std::map<std::string, Index> refined_counts(SimulatedPlatform& node) {
  std::map<std::string, Index> last;
  for (const std::string& line : visible_lines(node.files(), "/refined")) {
    const std::size_t space = line.rfind(' ');
    Index& count = last[line.substr(0, space)];
    count = std::max<Index>(count, std::stoull(line.substr(space)));
  }
  return last;
}

std::vector<std::string> everything(SimulatedPlatform& node) {
  return visible_lines_of(node.files(), {"/seen", "/counts", "/running"});
}

class MemoryLimit : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, MemoryLimit, testing::Range<std::uint64_t>(1, drawn_cases(5) + 1));

TEST_P(MemoryLimit, ResultsAreThoseOfARunWithoutOne) {
  PlannedFailures none;
  auto free = make_simulated_platform({.seed = GetParam()});
  ASSERT_TRUE(run_job(options_of(*free, 2), none).ok());
  auto limited = make_simulated_platform({.seed = GetParam()});
  EnvironmentOptions options = options_of(*limited, 2);
  options.memory_limit_bytes = hardly_any;
  const JobResult result = run_job(options, none);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(everything(*limited), everything(*free));
  EXPECT_TRUE(limited->files().list_directory("/spill")->empty());
}

TEST_P(MemoryLimit, FailuresAndAnotherParallelismDoNotShow) {
  PlannedFailures none;
  auto free = make_simulated_platform({.seed = GetParam()});
  ASSERT_TRUE(run_job(options_of(*free, 2), none).ok());
  auto limited = make_simulated_platform({.seed = 100 + GetParam()});
  EnvironmentOptions options = options_of(*limited, 1);
  options.memory_limit_bytes = hardly_any;
  options.checkpoints.keep_at_end = true;
  PlannedFailures failures;
  failures.every = 1500;
  failures.left = 1;
  ASSERT_FALSE(run_job(options, failures).ok());
  // The second half of the run: more subtasks, another limit, and failures of its own.
  options.parallelism = 3;
  options.memory_limit_bytes = 3 * hardly_any;
  options.checkpoints.restore = "latest";
  options.restart = RestartStrategy::fixed_delay(20, 5);
  failures.every = 1300;
  failures.left = 2;
  const JobResult result = run_job(options, failures);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(everything(*limited), everything(*free));
}

TEST_P(MemoryLimit, WindowsAndTimersWaitOnDisk) {
  PlannedFailures none;
  const auto lines = [](SimulatedPlatform& node) {
    return visible_lines_of(node.files(), {"/sessions", "/reminders"});
  };
  auto free = make_simulated_platform({.seed = GetParam()});
  ASSERT_TRUE(run_timed_job(options_of(*free, 2), none).ok());
  auto limited = make_simulated_platform({.seed = 100 + GetParam()});
  EnvironmentOptions options = options_of(*limited, 2);
  options.memory_limit_bytes = hardly_any;
  options.restart = RestartStrategy::fixed_delay(20, 5);
  PlannedFailures failures;
  failures.every = 1300;
  failures.left = 2;
  const JobResult result = run_timed_job(options, failures);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(lines(*limited), lines(*free));
}

TEST_P(MemoryLimit, SlicesOfWindowsGoToDisk) {
  PlannedFailures none;
  const auto lines = [](SimulatedPlatform& node) {
    return visible_lines_of(node.files(), {"/tumbling", "/sliding"});
  };
  auto free = make_simulated_platform({.seed = GetParam()});
  ASSERT_TRUE(run_windows_job(options_of(*free, 2), none).ok());
  auto limited = make_simulated_platform({.seed = 100 + GetParam()});
  EnvironmentOptions options = options_of(*limited, 1);
  options.memory_limit_bytes = hardly_any;
  options.checkpoints.keep_at_end = true;
  PlannedFailures failures;
  failures.every = 700;
  failures.left = 1;
  ASSERT_FALSE(run_windows_job(options, failures).ok());
  // The second half of the run: more subtasks, another limit, and failures of its own.
  options.parallelism = 3;
  options.memory_limit_bytes = 3 * hardly_any;
  options.checkpoints.restore = "latest";
  options.restart = RestartStrategy::fixed_delay(20, 5);
  failures.every = 600;
  failures.left = 2;
  const JobResult result = run_windows_job(options, failures);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(lines(*limited), lines(*free));
  EXPECT_EQ(refined_counts(*limited), refined_counts(*free));
  EXPECT_GT(refined_counts(*free).size(), 1000u);
  EXPECT_TRUE(limited->files().list_directory("/spill")->empty());
}

// 8 MiB for the receiver of one channel; whether there is room is known before the job runs.
TEST(MemoryLimitFailures, NetworkBuffersNeedRoom) {
  for (const std::size_t limit : {std::size_t{4} << 20, std::size_t{64} << 20}) {
    auto node = make_simulated_platform({.seed = 1});
    EnvironmentOptions options = options_of(*node, 1);
    options.memory_limit_bytes = limit;
    StreamExecutionEnvironment env(options);
    env.generate([](Index i) { return i; }, {.count = 1000})
        .network({.transport = Transport::tcp, .buffer_size_bytes = 1 << 20, .credits = 8})
        .rebalance()
        .for_each([](Index) {});
    const JobResult result = env.execute("network");
    if (limit > 8 << 20) {
      EXPECT_TRUE(result.ok()) << result.status.to_string();
    } else {
      EXPECT_EQ(result.status.code(), ErrorCode::limit_exceeded) << result.status.to_string();
      EXPECT_NE(result.status.message().find("'channels'"), std::string::npos)
          << result.status.message();
    }
  }
}

TEST(MemoryLimitFailures, AFullDiskFailsTheJobByTheOperatorsName) {
  auto node = make_simulated_platform({.seed = 1});
  EnvironmentOptions options = options_of(*node, 1);
  options.memory_limit_bytes = hardly_any;
  node->simulation().options().disk_capacity_bytes = 100;
  StreamExecutionEnvironment env(options);
  env.generate([](Index i) { return i; }, {.count = 10'000})
      .key_by(identity)
      .count()
      .map([](const KeyValue<Index, Index>& one) { return one.value; })
      .for_each([](Index) {});
  const JobResult result = env.execute("count");
  EXPECT_EQ(result.status.code(), ErrorCode::disk_full) << result.status.to_string();
  EXPECT_NE(result.status.message().find("the state of operator 'count' on disk"),
            std::string::npos)
      << result.status.message();
}

// Totals of a job without barriers, whose halves begin with one table.
JobResult totals(SimulatedPlatform& node, int parallelism, std::size_t limit_bytes) {
  EnvironmentOptions options = options_of(node, parallelism);
  options.checkpoints = {};
  options.memory_limit_bytes = limit_bytes;
  StreamExecutionEnvironment env(options);
  env.generate([](Index i) { return i; }, {.count = 30'000})
      .map([](Index i) { return i * i % 7001; })
      .key_by(identity)
      .count()
      .write_file("/totals");
  return env.execute("totals");
}

TEST_P(MemoryLimit, ACommonTableThatOutgrowsItsRoomIsNoMore) {
  for (const int parallelism : {1, 2, 3}) {
    auto free = make_simulated_platform({.seed = GetParam()});
    ASSERT_TRUE(totals(*free, parallelism, 0).ok());
    const auto expected = visible_lines(free->files(), "/totals");
    for (const std::size_t limit : {hardly_any, 4 * hardly_any, 40 * hardly_any}) {
      auto node = make_simulated_platform({.seed = 100 + GetParam()});
      const JobResult result = totals(*node, parallelism, limit);
      ASSERT_TRUE(result.ok()) << result.status.to_string();
      EXPECT_EQ(visible_lines(node->files(), "/totals"), expected)
          << parallelism << " subtasks, " << limit << " bytes";
    }
  }
}

TEST(MemoryLimitFailures, WhatACommonTableHeldGoesToDisk) {
  auto node = make_simulated_platform({.seed = 1});
  node->simulation().options().disk_capacity_bytes = 100;
  const JobResult result = totals(*node, 2, hardly_any);
  EXPECT_EQ(result.status.code(), ErrorCode::disk_full) << result.status.to_string();
  EXPECT_NE(result.status.message().find("the state of operator 'count' on disk"),
            std::string::npos)
      << result.status.message();
}

TEST(MemoryLimitFailures, WithoutAnOptionTheMachineSetsTheLimit) {
  auto node = make_simulated_platform({.seed = 1, .memory_bytes = std::size_t{8} << 20});
  StreamExecutionEnvironment env(options_of(*node, 1));
  env.generate([](Index i) { return i; }, {.count = 1000})
      .network({.transport = Transport::tcp, .buffer_size_bytes = 1 << 20, .credits = 8})
      .rebalance()
      .for_each([](Index) {});
  const JobResult result = env.execute("network");
  EXPECT_EQ(result.status.code(), ErrorCode::limit_exceeded) << result.status.to_string();
  EXPECT_NE(result.status.message().find("the memory limit is 4096 KiB (half of 8 MiB, the "
                                         "simulated machine's memory), which --memory-limit sets"),
            std::string::npos)
      << result.status.message();
}

}  // namespace
}  // namespace hummer::memory_limit_test
