// Functions that throw: where the record was, and what the policies make of it.
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>
#include <tuple>

#include "pipelines/collected.hpp"
#include "platform/simulation.hpp"

namespace hummer::failure_policy_test {
namespace {

using Number = std::int64_t;
// Owned text: what a side output has shown is kept beyond its batch.
using Failed = std::tuple<std::string, std::string, std::string, std::uint32_t>;

constexpr SideOutput<FailedRecord<std::string_view>> bad_lines{"bad lines"};
constexpr SideOutput<FailedRecord<Number>> bad_numbers{"bad numbers"};

Number parse(std::string_view line) {
  if (line.starts_with('x')) throw std::runtime_error("no number: " + std::string(line));
  return std::stoll(std::string(line));
}
constexpr auto not_13 = [](const Number& number) {
  if (number == 13) throw std::runtime_error("unlucky");
  return number;
};
constexpr auto failed = [](const auto& each) {
  if constexpr (requires { std::to_string(each.record); }) {
    return Failed(std::to_string(each.record), each.position, each.reason, each.attempt);
  } else {
    return Failed(std::string(each.record), each.position, each.reason, each.attempt);
  }
};

class Failures : public testing::TestWithParam<std::uint32_t> {
 protected:
  EnvironmentOptions options() {
    EnvironmentOptions options;
    options.platform = node_.get();
    options.parallelism = 1;
    options.batch_records = GetParam();
    return options;
  }
  // 0 … 29 by line, in two files; each `bad` of them stands there as x.
  void write_lines(const std::vector<int>& bad) {
    std::array<std::string, 2> texts;
    for (int i = 0; i < 30; ++i) {
      const bool is_bad = std::find(bad.begin(), bad.end(), i) != bad.end();
      texts[i < 10 ? 0 : 1] += (is_bad ? "x" : "") + std::to_string(i) + "\n";
    }
    write("/logs/a.txt", texts[0]);
    write("/logs/b.txt", texts[1]);
  }
  void write(const std::string& path, const std::string& text) {
    ASSERT_TRUE(node_->files().create_directories("/logs").ok());
    auto file = node_->files().open_for_writing(path, WriteMode::truncate);
    ASSERT_TRUE(file.ok()) << file.status().to_string();
    ASSERT_TRUE((*file)->append(text).ok());
    ASSERT_TRUE((*file)->close().ok());
  }
  static std::vector<Number> numbers(Number count, std::initializer_list<Number> without) {
    std::vector<Number> all;
    for (Number i = 0; i < count; ++i) {
      if (std::find(without.begin(), without.end(), i) == without.end()) all.push_back(i);
    }
    return all;
  }
  std::unique_ptr<SimulatedPlatform> node_ = make_simulated_platform({.seed = 1});
};
INSTANTIATE_TEST_SUITE_P(BatchRecords, Failures, testing::Values(1u, 2u, 7u, 1024u));

TEST_P(Failures, NameFileAndLineThroughMaps) {
  write_lines({});
  StreamExecutionEnvironment env(options());
  env.from_file("/logs")
      .map(parse)
      .map([](const Number& number) { return number; })
      .assign_timestamps([](Number number) { return number; }, WatermarkStrategy::ascending())
      .map(not_13)
      .for_each([](const Number&) {});
  const JobResult result = env.execute("lines");
  EXPECT_EQ(result.status.code(), ErrorCode::user_function_failed);
  EXPECT_NE(result.status.message().find("failed at /logs/b.txt, line 4 (byte 9): unlucky"),
            std::string::npos)
      << result.status.message();
}

TEST_P(Failures, BehindAFilterOnlyTheLineBeforeIsKnown) {
  write_lines({});
  StreamExecutionEnvironment env(options());
  env.from_file("/logs")
      .map(parse)
      .filter([](const Number& number) { return number != 12; })
      .map(not_13)
      .for_each([](const Number&) {});
  const JobResult result = env.execute("lines");
  EXPECT_NE(result.status.message().find("failed at a record made behind /logs/"),
            std::string::npos)
      << result.status.message();
}

TEST_P(Failures, NameSplitAndIndexOfAGenerator) {
  StreamExecutionEnvironment env(options());
  env.generate([](std::uint64_t i) { return static_cast<Number>(i); }, {.count = 50, .splits = 4})
      .map([](const Number& number) { return number; })
      .map(not_13)
      .for_each([](const Number&) {});
  const JobResult result = env.execute("splits");
  EXPECT_NE(result.status.message().find("failed at split 1, index 13: unlucky"), std::string::npos)
      << result.status.message();
}

TEST_P(Failures, SkippedRecordsAreLeftOutAndCounted) {
  write_lines({0, 9, 17, 29});
  StreamExecutionEnvironment env(options());
  Collected<Number> collected;
  env.from_file("/logs")
      .map(parse)
      .on_failure(skip_failures())
      .map(not_13)
      .on_failure(skip_failures())
      .for_each(collected.sink());
  const JobResult result = env.execute("skip");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(collected.in_order(), numbers(30, {0, 9, 13, 17, 29}));
  EXPECT_EQ(result.records_skipped, 5u);
}

TEST_P(Failures, TheSideOutputHasRecordPositionReasonAndAttempt) {
  write_lines({2, 13});
  StreamExecutionEnvironment env(options());
  Collected<Number> good;
  Collected<Failed> bad;
  const auto parsed = env.from_file("/logs").map(parse).on_failure(failures_to(bad_lines));
  parsed.for_each(good.sink());
  parsed.side_output(bad_lines).for_each(
      [&bad, sink = bad.sink()](const auto& each) { sink(failed(each)); });
  const JobResult result = env.execute("side");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(good.in_order(), numbers(30, {2, 13}));
  EXPECT_EQ(bad.in_order(),
            (std::vector<Failed>{{"x2", "/logs/a.txt, line 3 (byte 4)", "no number: x2", 0},
                                 {"x13", "/logs/b.txt, line 4 (byte 9)", "no number: x13", 0}}));
}

TEST_P(Failures, LinesOfABlockAreSkippedByThemselves) {
  write_lines({2, 13});
  StreamExecutionEnvironment env(options());
  Collected<Number> good;
  Collected<Failed> bad;
  const auto parsed =
      env.from_file("/logs")
          .flat_map([](std::string_view line, Collector<Number>& out) { out(parse(line)); })
          .on_failure(failures_to(bad_lines));
  parsed.for_each(good.sink());
  parsed.side_output(bad_lines).for_each(
      [&bad, sink = bad.sink()](const auto& each) { sink(failed(each)); });
  const JobResult result = env.execute("lines of blocks");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(good.in_order(), numbers(30, {2, 13}));
  EXPECT_EQ(bad.in_order(),
            (std::vector<Failed>{{"x2", "/logs/a.txt, line 3 (byte 4)", "no number: x2", 0},
                                 {"x13", "/logs/b.txt, line 4 (byte 9)", "no number: x13", 0}}));
}

struct KeepsAll {
  using Output = Number;
  ValueState<Number> seen{"seen"};
  void process(const Number& number, KeyedOutput<Number>& out) {
    out.emit(not_13(number));
    out.set_event_timer(number + 1);
  }
  void on_timer(Timestamp time, KeyedOutput<Number>& out) { out.emit(1000 + time); }
};
struct Passes {
  using Output = Number;
  void process(const Number& number, ProcessOutput<Number>& out) { out.emit(not_13(number)); }
};

TEST_P(Failures, EveryOperatorThatTakesOneRecordAtATimeGoesOn) {
  const auto run = [&](const auto& through) {
    StreamExecutionEnvironment env(options());
    Collected<Number> good;
    Collected<Failed> bad;
    const auto all =
        env.generate([](std::uint64_t i) { return static_cast<Number>(i); }, {.count = 30});
    const auto kept = through(all).on_failure(failures_to(bad_numbers));
    kept.for_each(good.sink());
    kept.side_output(bad_numbers).for_each([sink = bad.sink()](const auto& each) {
      sink(failed(each));
    });
    const JobResult result = env.execute("one at a time");
    EXPECT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_EQ(result.records_skipped, 1u);
    EXPECT_EQ(bad.in_order().size(), 1u);
    if (!bad.in_order().empty()) {
      EXPECT_EQ(std::get<0>(bad.in_order()[0]), "13");
      EXPECT_EQ(std::get<2>(bad.in_order()[0]), "unlucky");
    }
    return good.sorted();
  };
  const std::vector<Number> expected = numbers(30, {13});
  EXPECT_EQ(run([](const auto& all) { return all.map(not_13); }), expected);
  EXPECT_EQ(run([](const auto& all) {
              return all.filter([](const Number& number) { return not_13(number) >= 0; });
            }),
            expected);
  EXPECT_EQ(run([](const auto& all) {
              return all.flat_map(
                  [](const Number& number, Collector<Number>& out) { out(not_13(number)); });
            }),
            expected);
  EXPECT_EQ(run([](const auto& all) { return all.process(Passes{}); }), expected);
  EXPECT_EQ(run([](const auto& all) {
              return all.assign_timestamps(not_13, WatermarkStrategy::ascending());
            }),
            expected);
  std::vector<Number> with_timers = expected;
  for (const Number number : expected) with_timers.push_back(1000 + number + 1);
  EXPECT_EQ(
      run([](const auto& all) {
        return all.key_by([](const Number& number) { return number % 3; }).process(KeepsAll{});
      }),
      with_timers);
}

TEST_P(Failures, ASinkHasASideOutputToo) {
  StreamExecutionEnvironment env(options());
  Collected<Number> good;
  Collected<Failed> bad;
  env.generate([](std::uint64_t i) { return static_cast<Number>(i); }, {.count = 30})
      .for_each([sink = good.sink()](const Number& number) { sink(not_13(number)); })
      .on_failure(failures_to(bad_numbers))
      .side_output(bad_numbers)
      .for_each([sink = bad.sink()](const auto& each) { sink(failed(each)); });
  const JobResult result = env.execute("a sink");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(good.sorted(), numbers(30, {13}));
  ASSERT_EQ(bad.in_order().size(), 1u);
}

TEST_P(Failures, TextOfRecordsThatOwnItSurvivesASkip) {
  struct Named {
    std::string name;
  };
  StreamExecutionEnvironment env(options());
  Collected<std::string> good;
  env.generate([](std::uint64_t i) { return static_cast<Number>(i); }, {.count = 30})
      .map([](const Number& number) {
        return Named{"a name that owns memory of its own, " + std::to_string(number)};
      })
      .map([](const Named& named) {
        if (named.name.ends_with("13")) throw std::runtime_error("unlucky");
        return std::string_view(named.name);
      })
      .on_failure(skip_failures())
      .for_each([sink = good.sink()](std::string_view name) { sink(std::string(name)); });
  ASSERT_TRUE(env.execute("owned text").ok());
  ASSERT_EQ(good.in_order().size(), 29u);
  EXPECT_EQ(good.in_order()[12], "a name that owns memory of its own, 12");
}

TEST_P(Failures, WhatCanNotGoOnRefusesAPolicy) {
  StreamExecutionEnvironment env(options());
  env.generate([](std::uint64_t i) { return static_cast<Number>(i); }, {.count = 30})
      .key_by([](const Number& number) { return number % 3; })
      .count()
      .on_failure(skip_failures())
      .for_each([](const auto&) {});
  const JobResult result = env.execute("refused");
  EXPECT_EQ(result.status.code(), ErrorCode::invalid_graph);
  EXPECT_NE(result.status.message().find("on_failure(...) of 'count'"), std::string::npos)
      << result.status.message();
}

TEST_P(Failures, ATagOfAnotherTypeIsRefused) {
  StreamExecutionEnvironment env(options());
  env.generate([](std::uint64_t i) { return static_cast<Number>(i); }, {.count = 30})
      .map(not_13)
      .on_failure(failures_to(bad_lines))
      .for_each([](const auto&) {});
  const JobResult result = env.execute("refused");
  EXPECT_EQ(result.status.code(), ErrorCode::invalid_graph);
  EXPECT_NE(result.status.message().find("failures_to(\"bad lines\") of 'map'"), std::string::npos)
      << result.status.message();
}

}  // namespace
}  // namespace hummer::failure_policy_test
