// Sources with splits through whole pipelines: splits that are out of step within a subtask, idle
// ones, aligned ones, and a restart at another parallelism.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>

#include "checkpoints/failing_jobs.hpp"
#include "pipelines/collected.hpp"
#include "platform/simulation.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::splits_test {
namespace {

struct Reading {
  std::uint64_t split;
  Timestamp time_ms;
};
using Row = std::tuple<std::uint64_t, Timestamp, std::uint64_t>;  // split, start, count
constexpr auto row = [](const auto& result) {
  return Row(result.key, result.window.start_ms, result.value);
};

constexpr std::uint64_t records_per_split = 400;
constexpr std::int64_t step_ms = 10;
constexpr std::int64_t window_ms = 1'000;
constexpr std::int64_t apart_ms = 100'000;  // from one split to the next

// Splits of one length that are far apart in event time, eight records of each in turn.
class OutOfStep final : public SourceFunction<Reading> {
 public:
  OutOfStep(std::uint64_t splits, bool names_them) : splits_(splits), names_them_(names_them) {}

  bool has_splits() const override { return names_them_; }
  Status open(OperatorContext& context) override {
    for (SplitId id = 0; id < splits_; ++id) {
      const bool ours = names_them_ ? context.splits()->begin(id)
                                    : id % static_cast<SplitId>(context.parallelism()) ==
                                          static_cast<SplitId>(context.subtask());
      if (ours) positions_.push_back({id, 0});
    }
    return {};
  }
  OperatorResult produce(SourceOutput<Reading>& out) override {
    if (positions_.empty()) return OperatorResult::done;
    auto [id, next] = positions_.front();
    if (names_them_ && !out.split(id)) return OperatorResult::more;
    positions_.erase(positions_.begin());
    for (int i = 0; i < 8 && next < records_per_split && !out.full(); ++i, ++next) {
      out.emit(Reading{
          id, static_cast<Timestamp>(id) * apart_ms + static_cast<Timestamp>(next) * step_ms});
    }
    if (next < records_per_split) {
      positions_.push_back({id, next});
    } else if (names_them_) {
      out.finish_split(id);
    }
    return OperatorResult::more;
  }

 private:
  const std::uint64_t splits_;
  const bool names_them_;
  std::vector<std::pair<SplitId, std::uint64_t>> positions_;
};

template <typename Source, typename... Arguments>
DataStream<Reading> readings(StreamExecutionEnvironment& env, Arguments... arguments) {
  return env.from_source<Reading>("readings", make_operator_factory([=] {
                                    return std::make_unique<SourceFunctionOperator<Reading>>(
                                        std::make_unique<Source>(arguments...));
                                  }),
                                  true);
}

std::vector<Row> all_rows(std::uint64_t splits) {
  std::vector<Row> rows;
  for (std::uint64_t split = 0; split < splits; ++split) {
    for (Timestamp time = 0; time < static_cast<Timestamp>(records_per_split) * step_ms;
         time += window_ms) {
      rows.emplace_back(split, static_cast<Timestamp>(split) * apart_ms + time,
                        window_ms / step_ms);
    }
  }
  return rows;
}

std::uint64_t late_records(const JobResult& result) {
  std::uint64_t late = 0;
  for (const VertexSummary& vertex : result.vertices) {
    for (const OperatorSummary& one : vertex.operators) late += one.records_late;
  }
  return late;
}

class Splits : public testing::TestWithParam<std::uint64_t> {
 protected:
  EnvironmentOptions options(int parallelism) {
    EnvironmentOptions options;
    options.platform = node_.get();
    options.parallelism = parallelism;
    options.batch_records = GetParam() % 2 == 0 ? 1024 : 5;
    return options;
  }
  std::unique_ptr<SimulatedPlatform> node_ = make_simulated_platform({.seed = GetParam()});
};
INSTANTIATE_TEST_SUITE_P(Seeds, Splits, testing::Range<std::uint64_t>(1, 5));

// Between source and assign_timestamps stand operators that keep splits.
JobResult count_by_split(StreamExecutionEnvironment& env, const DataStream<Reading>& readings,
                         const Collected<Row>& rows) {
  readings.filter([](const Reading&) { return true; })
      .map([](const Reading& reading) { return reading; })
      .assign_timestamps(&Reading::time_ms, WatermarkStrategy::ascending())
      .key_by(&Reading::split)
      .window(TumblingWindows::of(window_ms))
      .count()
      .map(row)
      .for_each(rows.sink());
  return env.execute("readings by split");
}

TEST_P(Splits, OutOfStepWithinASubtaskLoseNothing) {
  for (const int parallelism : {1, 2}) {
    Collected<Row> rows;
    StreamExecutionEnvironment env(options(parallelism));
    const JobResult result = count_by_split(env, readings<OutOfStep>(env, 4, true), rows);
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_EQ(rows.sorted(), all_rows(4));
    EXPECT_EQ(late_records(result), 0u);
  }
}

TEST_P(Splits, WithoutTheirNamesTheSlowerOnesAreLate) {
  Collected<Row> rows;
  StreamExecutionEnvironment env(options(1));
  const JobResult result = count_by_split(env, readings<OutOfStep>(env, 4, false), rows);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_NE(rows.sorted(), all_rows(4));
  EXPECT_GT(late_records(result), 0u);
}

TEST_P(Splits, BehindACutChainASubtasksInputIsOneSplit) {
  Collected<Row> rows;
  EnvironmentOptions cut = options(1);
  cut.chaining = false;
  StreamExecutionEnvironment env(cut);
  const JobResult result = count_by_split(env, readings<OutOfStep>(env, 4, true), rows);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_GT(late_records(result), 0u);
}

struct Waiting {
  std::atomic<bool> seen{false};
  std::atomic<bool> gave_up{false};
};

// Gives one record of split 1, and no more until somebody has seen a window of split 0.
class WaitsForAWindow final : public SourceFunction<Reading> {
 public:
  WaitsForAWindow(bool says_idle, std::shared_ptr<Waiting> waiting)
      : says_idle_(says_idle), waiting_(std::move(waiting)) {}

  bool has_splits() const override { return true; }
  Status open(OperatorContext& context) override {
    context_ = &context;
    for (const SplitId id : {0, 1}) (void)context.splits()->begin(id);
    return {};
  }
  OperatorResult produce(SourceOutput<Reading>& out) override {
    if (waiting_->seen) return OperatorResult::done;
    if (next_ == 0 && out.split(1)) {
      out.emit(Reading{1, 0});
      ++next_;
      return OperatorResult::more;
    }
    if (says_idle_) out.idle_split(1);
    if (next_ <= 200) {
      if (out.split(0)) out.emit(Reading{0, next_++ * step_ms});
    } else if (++calls_ == 500) {
      waiting_->gave_up = true;
      return OperatorResult::done;
    }
    context_->call_at(context_->now() + 10'000'000);
    return OperatorResult::blocked;
  }

 private:
  const bool says_idle_;
  const std::shared_ptr<Waiting> waiting_;
  OperatorContext* context_ = nullptr;
  Timestamp next_ = 0;
  int calls_ = 0;
};

TEST_P(Splits, AnIdleOneHoldsNoWindowBack) {
  for (const bool says_idle : {true, false}) {
    for (const std::int64_t idle_ms : {0, 200}) {
      const auto waiting = std::make_shared<Waiting>();
      StreamExecutionEnvironment env(options(1));
      readings<WaitsForAWindow>(env, says_idle, waiting)
          .assign_timestamps(&Reading::time_ms,
                             WatermarkStrategy::ascending().with_idleness(idle_ms))
          .key_by(&Reading::split)
          .window(TumblingWindows::of(window_ms))
          .count()
          .for_each([waiting](const auto& result) {
            if (result.key == 0) waiting->seen = true;
          });
      const JobResult result = env.execute("an idle split");
      ASSERT_TRUE(result.ok()) << result.status.to_string();
      EXPECT_EQ(waiting->gave_up, !says_idle && idle_ms == 0);
    }
  }
}

// The second of two splits goes ten times as fast.
constexpr std::uint64_t paced_records = 20'000;
constexpr auto paced_time = [](const std::uint64_t& index) {
  return static_cast<Timestamp>(index % 2 == 0 ? index : 10 * index);
};

struct Drift {
  Timestamp latest[2] = {0, 0};
  Timestamp most = 0;
  std::uint64_t records = 0;

  void see(std::uint64_t index) {
    ++records;
    latest[index % 2] = paced_time(index);
    // Nobody waits for the slow one when it has ended.
    if (latest[0] < paced_time(paced_records - 5'000)) {
      most = std::max(most, latest[1] - latest[0]);
    }
  }
};

TEST_P(Splits, AlignedOnesStayTogether) {
  constexpr std::int64_t most_ahead_ms = 500;
  for (const int parallelism : {1, 2}) {
    for (const bool aligned : {false, true}) {
      auto watermarks = WatermarkStrategy::ascending();
      if (aligned) watermarks = watermarks.aligned(WatermarkAlignment(), most_ahead_ms);
      const auto drift = std::make_shared<Drift>();
      const EnvironmentOptions settings = options(parallelism);
      StreamExecutionEnvironment env(settings);
      env.generate([](std::uint64_t index) { return index; },
                   {.count = paced_records, .records_per_second = 20'000, .splits = 2})
          .assign_timestamps(paced_time, watermarks)
          .for_each([drift](const std::uint64_t& index) { drift->see(index); });
      const JobResult result = env.execute("two paces");
      ASSERT_TRUE(result.ok()) << result.status.to_string();
      EXPECT_EQ(drift->records, paced_records);
      if (aligned) {
        // A batch goes out whole.
        EXPECT_LE(drift->most, most_ahead_ms + 20 * static_cast<Timestamp>(settings.batch_records));
      } else {
        EXPECT_GT(drift->most, 100'000);
      }
    }
  }
}

// Splits that are far apart, the last one furthest behind, each with a pace of its own.
void build_windows(StreamExecutionEnvironment& env) {
  env.generate([](std::uint64_t index) { return index; },
               {.count = 3'000, .records_per_second = 5'000, .splits = 5})
      .assign_timestamps(
          [](const std::uint64_t& index) {
            const std::uint64_t split = index % 5;
            return static_cast<Timestamp>(4 - split) * apart_ms +
                   static_cast<Timestamp>(index * (split + 1));
          },
          WatermarkStrategy::ascending())
      .key_by([](const std::uint64_t& index) { return index % 5; })
      .window(TumblingWindows::of(window_ms))
      .count()
      .map(row)
      .write_file("/out");
}

TEST_P(Splits, ARestartAtAnotherParallelismGoesOnWithEach) {
  const int saved_at = 1 + static_cast<int>(GetParam() % 3);
  const auto settings = [&](SimulatedPlatform& node, int parallelism) {
    EnvironmentOptions made = options(parallelism);
    made.platform = &node;
    made.checkpoints.directory = "/checkpoints";
    return made;
  };
  std::vector<std::string> expected;
  {
    StreamExecutionEnvironment env(settings(*node_, saved_at));
    build_windows(env);
    const JobResult result = env.execute("windows");
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    ASSERT_EQ(late_records(result), 0u);
    expected = visible_lines(node_->files(), "/out");
  }
  ASSERT_FALSE(expected.empty());

  for (const int next : {1, 2, 3, 6}) {  // also more than there are splits
    if (next == saved_at) continue;
    SCOPED_TRACE("parallelism " + std::to_string(next));
    const auto node = make_simulated_platform({.seed = GetParam()});
    EnvironmentOptions resumed = settings(*node, next);
    {
      StreamExecutionEnvironment env(settings(*node, saved_at));
      build_windows(env);
      JobHandle job = env.execute_async("windows");
      (void)node->run_until([] { return false; }, node->now() + milliseconds(250));
      const Result<std::string> savepoint = job.stop_with_savepoint();
      ASSERT_TRUE(savepoint.ok()) << savepoint.status().to_string();
      resumed.checkpoints.restore = *savepoint;
      ASSERT_TRUE(job.wait().ok());
      ASSERT_LT(visible_lines(node->files(), "/out").size(), expected.size());
    }
    StreamExecutionEnvironment env(resumed);
    build_windows(env);
    const JobResult result = env.execute("windows");
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_EQ(late_records(result), 0u);
    EXPECT_EQ(visible_lines(node->files(), "/out"), expected);
  }
}

// Answers records at once, but for every 7th, which it keeps until somebody gives up.
struct SilentNowAndThen {
  struct Shared {
    std::atomic<bool> silent{false};
    std::atomic<std::uint64_t> kept{0};
  };
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();
  std::shared_ptr<std::vector<AsyncResult<std::uint64_t>>> held =
      std::make_shared<std::vector<AsyncResult<std::uint64_t>>>();

  void operator()(const std::uint64_t& index, AsyncResult<std::uint64_t> result) const {
    if (shared->silent && index % 7 == 0) {
      ++shared->kept;
      return held->push_back(std::move(result));
    }
    result.complete(index);
  }
};

constexpr std::uint64_t called_records = 3'000;
constexpr std::uint64_t called_splits = 5;

// The last split is furthest behind, as in build_windows.
Timestamp called_time(std::uint64_t index) {
  const std::uint64_t split = index % called_splits;
  return static_cast<Timestamp>(called_splits - 1 - split) * apart_ms +
         static_cast<Timestamp>(index * (split + 1));
}

// Counts the records of each split in windows, and notes where one comes behind a later one.
struct NotesOrder {
  ValueState<std::uint64_t> last{"last"};
  void process(const std::uint64_t& index, KeyedOutput<std::string>& out) {
    const std::uint64_t before = last.get_or(0);
    if (index < before) {
      out.emit(std::to_string(index) + " behind " + std::to_string(before));
    }
    last.set(std::max(before, index));
  }
};

JobResult run_calls(EnvironmentOptions options, const SilentNowAndThen& call,
                    PlannedFailures& failures) {
  StreamExecutionEnvironment env(std::move(options));
  const auto answers =
      env.generate([](std::uint64_t index) { return index; },
                   {.count = called_records, .records_per_second = 5'000, .splits = called_splits})
          .map([&failures](const std::uint64_t& index) {
            failures.maybe_throw();
            return index;
          })
          .assign_timestamps([](const std::uint64_t& index) { return called_time(index); },
                             WatermarkStrategy::ascending())
          .async_map(call, {.capacity = 200});
  const auto by_split =
      answers.key_by([](const std::uint64_t& index) { return index % called_splits; });
  by_split.window(TumblingWindows::of(window_ms)).count().map(row).write_file("/out");
  by_split.process(NotesOrder{}).write_file("/order");
  return env.execute("calls");
}

class FarApart : public Splits {
 protected:
  EnvironmentOptions settings(SimulatedPlatform& node, int parallelism) {
    EnvironmentOptions all = options(parallelism);
    all.platform = &node;
    all.checkpoints.directory = "/checkpoints";
    all.checkpoints.interval_ms = 20;
    return all;
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, FarApart, testing::Range<std::uint64_t>(1, drawn_cases(8) + 1));

// The calls of splits that are far apart, a failure while some have no answer.
TEST_P(FarApart, CallsUnderWayAtAFailureMakeNothingLate) {
  PlannedFailures none;
  ASSERT_TRUE(run_calls(settings(*node_, 2), {}, none).ok());
  const std::vector<std::string> expected = visible_lines(node_->files(), "/out");
  ASSERT_FALSE(expected.empty());

  for (const auto& [before, after] : {std::pair{2, 2}, {2, 3}, {3, 2}, {2, 1}}) {
    SCOPED_TRACE(std::to_string(before) + " to " + std::to_string(after));
    const auto node = make_simulated_platform({.seed = 100 + GetParam()});
    PlannedFailures failures;
    failures.left = 1;
    failures.every = 250 + 10 * GetParam();
    SilentNowAndThen call;
    call.shared->silent = true;
    EnvironmentOptions first = settings(*node, before);
    first.restart = RestartStrategy::no_restart();
    ASSERT_EQ(run_calls(first, call, failures).status.code(), ErrorCode::user_function_failed);
    ASSERT_GT(call.shared->kept, 0u);

    call.shared->silent = false;
    EnvironmentOptions second = settings(*node, after);
    second.checkpoints.restore = "latest";
    const JobResult result = run_calls(second, call, failures);
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_EQ(late_records(result), 0u);
    EXPECT_EQ(visible_lines(node->files(), "/out"), expected);
    if (before % after == 0) {
      EXPECT_EQ(visible_lines(node->files(), "/order"), std::vector<std::string>());
    }
  }
}

// On-time records, and those behind the watermark, as the function itself sees them.
constexpr SideOutput<std::uint64_t> behind_watermark{"late"};
struct SplitLate {
  SideOutputPorts side_outputs() const { return hummer::side_outputs(behind_watermark); }
  void process(const std::uint64_t& index, ProcessOutput<std::uint64_t>& out) {
    if (out.time() < out.watermark()) {
      out.side(behind_watermark, index);
    } else {
      out.emit(index);
    }
  }
};

JobResult run_split_late(EnvironmentOptions options, PlannedFailures& failures) {
  StreamExecutionEnvironment env(std::move(options));
  const auto seen =
      env.generate([](std::uint64_t index) { return index; },
                   {.count = called_records, .records_per_second = 5'000, .splits = called_splits})
          .map([&failures](const std::uint64_t& index) {
            failures.maybe_throw();
            return index;
          })
          .assign_timestamps([](const std::uint64_t& index) { return called_time(index); },
                             WatermarkStrategy::ascending())
          .process<std::uint64_t>(SplitLate{});
  seen.side_output(behind_watermark).write_file("/late");
  seen.write_file("/out");
  return env.execute("late by the function");
}

TEST_P(FarApart, AFunctionSeesNoRecordBehindTheWatermarkForARestart) {
  std::vector<std::string> expected;
  for (std::uint64_t i = 0; i < called_records; ++i) expected.push_back(std::to_string(i));
  std::sort(expected.begin(), expected.end());
  for (const auto& [before, after] : {std::pair{2, 2}, {2, 3}, {3, 2}, {3, 1}}) {
    SCOPED_TRACE(std::to_string(before) + " to " + std::to_string(after));
    const auto node = make_simulated_platform({.seed = 100 + GetParam()});
    PlannedFailures failures;
    failures.left = 1;
    failures.every = 900 + 40 * GetParam();
    EnvironmentOptions first = settings(*node, before);
    first.restart = RestartStrategy::no_restart();
    ASSERT_EQ(run_split_late(first, failures).status.code(), ErrorCode::user_function_failed);
    EnvironmentOptions second = settings(*node, after);
    second.checkpoints.restore = "latest";
    const JobResult result = run_split_late(second, failures);
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_EQ(visible_lines(node->files(), "/late"), std::vector<std::string>());
    EXPECT_EQ(visible_lines(node->files(), "/out"), expected);
  }
}

}  // namespace
}  // namespace hummer::splits_test
