// A chain in which functions throw: what is said of the record, and what a policy makes of it; and
// watermarks between the records of a batch.
#include <gtest/gtest.h>

#include <stdexcept>

#include <hummer/detail/operators/assign_timestamps.hpp>
#include <hummer/detail/operators/filter.hpp>
#include <hummer/detail/operators/for_each_sink.hpp>
#include <hummer/detail/operators/lines.hpp>
#include <hummer/detail/operators/map.hpp>
#include <hummer/failure_policy.hpp>

#include "platform/simulation.hpp"
#include "runtime/stream_task.hpp"

namespace hummer::chain_failures_test {
namespace {

using Number = std::int64_t;

Number parse(std::string_view line) {
  if (line.starts_with('x')) throw std::runtime_error("no number");
  return std::stoll(std::string(line));
}
constexpr auto same = [](const Number& number) { return number; };
constexpr auto not_13 = [](const Number& number) {
  if (number == 13) throw std::runtime_error("unlucky");
  return number;
};

// A file of the node, in blocks of some lines.
class Blocks final : public SourceOperator {
 public:
  Blocks(std::string text, std::size_t lines) : text_(std::move(text)), lines_(lines) {}
  void declare(Output& out) const override { out.add_port(type_of<TextBlock>()); }
  OperatorResult produce(Output& out) override {
    if (at_ == text_.size()) return OperatorResult::done;
    std::size_t end = at_;
    for (std::size_t i = 0; i < lines_ && end < text_.size(); ++i) end = text_.find('\n', end) + 1;
    out.collector<TextBlock>()(TextBlock{text_.data() + at_, end - at_, at_, &path_});
    at_ = end;
    return OperatorResult::more;
  }

 private:
  const std::string path_ = "/lines.txt";
  const std::string text_;
  const std::size_t lines_;
  std::size_t at_ = 0;
};

class ChainFailures : public testing::TestWithParam<std::uint32_t> {
 protected:
  ChainFailures() {
    for (int i = 0; i < 40; ++i) text_ += (i == 7 || i == 33 ? "x" : "") + std::to_string(i) + "\n";
    auto file = platform_->files().open_for_writing("/lines.txt", WriteMode::truncate);
    EXPECT_TRUE(file.ok() && (*file)->append(text_).ok() && (*file)->close().ok());
  }
  ~ChainFailures() override { executor_->stop(); }

  StageOptions stage(const std::string& name, FailurePolicy policy = {}) const {
    StageOptions options{.name = name, .attempt = 2, .batch_records = GetParam()};
    if (policy.skips) options.failures = std::make_shared<const FailurePolicy>(policy);
    return options;
  }
  void add_lines() {
    task_.chain().add_stage(std::make_unique<Blocks>(text_, GetParam() % 5 + 1), stage("source"));
    task_.chain().add_stage(std::make_unique<LinesOperator>(), stage("lines"));
  }
  template <typename In, typename Function>
  void add_map(Function function, FailurePolicy policy = {}) {
    task_.chain().add_stage(std::make_unique<MapOperator<In, Number, Function>>(function),
                            stage("map", policy));
  }
  void add_sink() {
    const auto see = [this](const Number& number) { seen_.push_back(number); };
    task_.chain().add_stage(std::make_unique<ForEachSinkOperator<Number, decltype(see)>>(see),
                            stage("sink"));
  }
  Status run() {
    executor_->spawn(task_.invoke());
    EXPECT_EQ(platform_->run_until([&] { return task_.metrics().state == TaskState::finished; },
                                   seconds(60)),
              RunEnd::satisfied);
    return task_.result();
  }
  std::uint64_t skipped() const {
    std::uint64_t all = 0;
    for (const OperatorMetrics& op : task_.metrics().operators) all += op.records_skipped.get();
    return all;
  }

  std::string text_;
  std::unique_ptr<SimulatedPlatform> platform_ = make_simulated_platform({.seed = 1});
  std::unique_ptr<Executor> executor_ = platform_->make_executor({.name = "slot"});
  StreamTask task_{*platform_, "task", "slot 0"};
  std::vector<Number> seen_;
};
INSTANTIATE_TEST_SUITE_P(BatchRecords, ChainFailures, testing::Values(1u, 2u, 7u, 1024u));

TEST_P(ChainFailures, NameFileAndLineThroughMaps) {
  add_lines();
  add_map<std::string_view>(parse, skip_failures());
  add_map<Number>(same);
  add_map<Number>(not_13);
  add_sink();
  const Status failed = run();
  EXPECT_EQ(failed.code(), ErrorCode::user_function_failed);
  EXPECT_NE(failed.message().find("failed at /lines.txt, line 14 (byte 30): unlucky"),
            std::string::npos)
      << failed.message();
}

TEST_P(ChainFailures, GoOnBehindTheRecordAndCountIt) {
  add_lines();
  add_map<std::string_view>(parse, skip_failures());
  add_map<Number>(not_13, skip_failures());
  add_sink();
  ASSERT_TRUE(run().ok()) << task_.result().to_string();
  std::vector<Number> expected;
  for (Number i = 0; i < 40; ++i) {
    if (i != 7 && i != 13 && i != 33) expected.push_back(i);
  }
  EXPECT_EQ(seen_, expected);
  EXPECT_EQ(skipped(), 3u);
}

// What an operator is told, in order.
class Listens final : public Operator {
 public:
  explicit Listens(std::vector<std::string>& told) : told_(told) {}
  void declare(Output&) const override {}
  OperatorResult process(Batch& in, Output&) override {
    for (const Number& number : in.values<Number>()) told_.push_back(std::to_string(number));
    in.advance_to(in.size());
    return OperatorResult::done;
  }
  OperatorResult watermark(Timestamp time, Output&) override {
    told_.push_back("w" + std::to_string(time));
    return OperatorResult::done;
  }

 private:
  std::vector<std::string>& told_;
};

class WatermarksBetweenRecords : public ChainFailures {
 protected:
  std::vector<std::string> told(std::uint32_t every) {
    std::vector<std::string> told;
    add_lines();
    add_map<std::string_view>([](std::string_view line) {
      return std::stoll(std::string(line.substr(line.starts_with('x') ? 1 : 0)));
    });
    const auto time_of = [](const Number& number) { return number / 2 * 2; };
    task_.chain().add_stage(
        std::make_unique<AssignTimestampsOperator<Number, decltype(time_of), BoundedWatermarks>>(
            time_of, WatermarkStrategy::bounded(1).every(every)),
        stage("assign"));
    task_.chain().add_stage(std::make_unique<Listens>(told), stage("listens"));
    EXPECT_TRUE(run().ok()) << task_.result().to_string();
    return told;
  }
};
INSTANTIATE_TEST_SUITE_P(BatchRecords, WatermarksBetweenRecords,
                         testing::Values(1u, 2u, 7u, 1024u));

TEST_P(WatermarksBetweenRecords, FollowTheRecordThatMovesThem) {
  std::vector<std::string> expected;
  for (Number i = 0; i < 40; ++i) {
    expected.push_back(std::to_string(i));
    if (i % 2 == 0) expected.push_back("w" + std::to_string(i - 1));
  }
  EXPECT_EQ(told(1), expected);
}

TEST_P(WatermarksBetweenRecords, FollowEveryNthRecordAndTheLast) {
  std::vector<std::string> expected;
  for (Number i = 0; i < 40; ++i) {
    expected.push_back(std::to_string(i));
    if ((i + 1) % 6 == 0 || i == 39) expected.push_back("w" + std::to_string(i / 2 * 2 - 1));
  }
  EXPECT_EQ(told(6), expected);
}

}  // namespace
}  // namespace hummer::chain_failures_test
