#include <gtest/gtest.h>

#include <stdexcept>

#include <hummer/detail/operators/blackhole_sink.hpp>
#include <hummer/detail/operators/factory.hpp>
#include <hummer/detail/operators/for_each_sink.hpp>
#include <hummer/detail/operators/sink_function_operator.hpp>
#include <hummer/testing/operator_harness.hpp>

namespace hummer::sinks_test {
namespace {

using Lines = std::vector<std::string>;

TEST(ForEachSinkOperator, EveryRecordInOrder) {
  Lines seen;
  const auto function = [&seen](std::string_view text) { seen.emplace_back(text); };
  OperatorHarness<std::string_view> harness(make_operator_factory([function] {
    return std::make_unique<ForEachSinkOperator<std::string_view, decltype(function)>>(function);
  }));
  harness.records({"a", "b"}).watermark(1).records({"c", "d"}).idle().record("e");
  harness.effects([&] { seen.clear(); }, [&] { return seen; }, {"a", "b", "c", "d", "e"});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(ForEachSinkOperator, AThrownExceptionNamesTheRecord) {
  Lines seen;
  const auto function = [&seen](int value) {
    if (value == 13) throw std::runtime_error("unlucky");
    seen.push_back(std::to_string(value));
  };
  OperatorHarness<int> harness(make_operator_factory([function] {
    return std::make_unique<ForEachSinkOperator<int, decltype(function)>>(function);
  }));
  harness.records({1, 2, 13, 4});
  harness.effects([&] { seen.clear(); }, [&] { return seen; }, {"1", "2"});
  harness.expect_failure("record 2: unlucky");
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(BlackholeSinkOperator, TakesAnyType) {
  OperatorHarness<std::vector<int>> harness(
      make_operator_factory([] { return std::make_unique<BlackholeSinkOperator>(); }));
  harness.records({{1, 2}, {}, {3}}).watermark(3).record({4});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

// Answers `blocked` two times out of three, at the end too.
class StubbornSink final : public SinkFunction<int> {
 public:
  explicit StubbornSink(Lines& seen) : seen_(seen) {}
  OperatorResult write(std::span<const int> records) override {
    if (++calls_ % 3 != 0) return OperatorResult::blocked;
    for (const int record : records) seen_.push_back(std::to_string(record));
    return OperatorResult::done;
  }
  OperatorResult end() override {
    if (++calls_ % 3 != 0) return OperatorResult::blocked;
    seen_.push_back("end");
    return OperatorResult::done;
  }

 private:
  Lines& seen_;
  int calls_ = 0;
};

TEST(SinkFunctionOperator, ABlockedSinkSeesTheSameRecordsAgain) {
  Lines seen;
  OperatorHarness<int> harness(make_operator_factory([&seen] {
    return std::make_unique<SinkFunctionOperator<int>>(std::make_unique<StubbornSink>(seen));
  }));
  harness.records({1, 2, 3}).idle().records({4, 5});
  harness.effects([&] { seen.clear(); }, [&] { return seen; }, {"1", "2", "3", "4", "5", "end"});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

// What it has taken is lost with it until it is flushed. Answers `blocked` to every other flush.
class BufferingSink final : public SinkFunction<int> {
 public:
  explicit BufferingSink(Lines& durable) : durable_(durable) {}
  OperatorResult write(std::span<const int> records) override {
    for (const int record : records) taken_.push_back(std::to_string(record));
    return OperatorResult::done;
  }
  OperatorResult flush(std::uint64_t epoch) override {
    EXPECT_GT(epoch, last_epoch_);
    if (++calls_ % 2 == 1) return OperatorResult::blocked;
    last_epoch_ = epoch;
    durable_.insert(durable_.end(), taken_.begin(), taken_.end());
    taken_.clear();
    return OperatorResult::done;
  }
  // Nothing of its own: the flush ahead of it has done it all.
  OperatorResult end() override { return OperatorResult::done; }

 private:
  Lines& durable_;
  Lines taken_;
  int calls_ = 0;
  std::uint64_t last_epoch_ = 0;
};

TEST(SinkFunctionOperator, ASinkIsFlushedAtBarriersAndAtTheEnd) {
  Lines durable;
  OperatorHarness<int> harness(make_operator_factory([&durable] {
    return std::make_unique<SinkFunctionOperator<int>>(std::make_unique<BufferingSink>(durable));
  }));
  harness.options().state_only_by_flush = true;
  harness.records({1, 2, 3}).idle().inactive().records({4, 5});
  harness.effects([&] { durable.clear(); }, [&] { return durable; }, {"1", "2", "3", "4", "5"});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

class FullDisk final : public SinkFunction<int> {
 public:
  Status open(OperatorContext& context) override {
    context_ = &context;
    return {};
  }
  OperatorResult write(std::span<const int>) override {
    return context_->fail({ErrorCode::disk_full, "the disk is full"});
  }

 private:
  OperatorContext* context_ = nullptr;
};

TEST(SinkFunctionOperator, AFailureFailsTheJob) {
  OperatorHarness<int> harness(make_operator_factory(
      [] { return std::make_unique<SinkFunctionOperator<int>>(std::make_unique<FullDisk>()); }));
  harness.record(1).expect_failure("the disk is full");
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

}  // namespace
}  // namespace hummer::sinks_test
