#include <gtest/gtest.h>

#include <stdexcept>

#include <hummer/detail/operators/collection_source.hpp>
#include <hummer/detail/operators/factory.hpp>
#include <hummer/detail/operators/generator_source.hpp>
#include <hummer/detail/operators/source_function_operator.hpp>
#include <hummer/testing/operator_harness.hpp>

namespace hummer::sources_test {
namespace {

template <typename Value>
auto collection_factory(std::vector<Value> values) {
  return make_operator_factory([collection = make_collection(std::move(values))] {
    return std::make_unique<CollectionSource<Stored<Value>>>(collection);
  });
}
template <typename T, typename Function, typename Times = NoTimestamps>
auto generator_factory(Function function, GeneratorOptions options, Times times = {}) {
  return make_operator_factory([=] {
    return std::make_unique<GeneratorSource<T, Function, Times>>(function, options, times);
  });
}

TEST(CollectionSource, AllValuesInOrder) {
  SourceHarness harness(collection_factory<int>({1, 2, 3, 4, 5}));
  harness.output<int>().records({1, 2, 3, 4, 5});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(CollectionSource, EmptyCollection) {
  SourceHarness harness(collection_factory<int>({}));
  harness.output<int>();
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(CollectionSource, TheAuthorsTextMayGo) {
  std::shared_ptr<const OperatorFactory> factory;
  std::shared_ptr<const OperatorFactory> pairs;
  {
    std::vector<std::string> texts{"short", "a text longer than a short string", ""};
    pairs = collection_factory<std::pair<std::string_view, int>>({{texts[0], 1}, {texts[1], 2}});
    factory = collection_factory(std::move(texts));
  }
  SourceHarness harness(factory);
  harness.output<std::string_view>().records({"short", "a text longer than a short string", ""});
  HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();

  SourceHarness pair_harness(pairs);
  pair_harness.output<std::pair<std::string_view, int>>().records(
      {{"short", 1}, {"a text longer than a short string", 2}});
  report = pair_harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(CollectionSource, SubtasksShareTheValues) {
  const std::vector<std::vector<int>> parts{{1}, {2, 3}, {4, 5}};
  for (int subtask = 0; subtask < 3; ++subtask) {
    SourceHarness harness(collection_factory<int>({1, 2, 3, 4, 5}));
    harness.options().place.subtask = subtask;
    harness.options().place.parallelism = 3;
    harness.output<int>().records(parts[static_cast<std::size_t>(subtask)]);
    const HarnessReport report = harness.run();
    EXPECT_TRUE(report.ok()) << report.text();
  }
}

constexpr auto square = [](std::uint64_t index) { return static_cast<long>(index * index); };

TEST(GeneratorSource, RecordsOfTheirIndex) {
  SourceHarness harness(generator_factory<long>(square, {.count = 6}));
  harness.output<long>().records({0, 1, 4, 9, 16, 25});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(GeneratorSource, SubtasksTakeTurns) {
  SourceHarness harness(generator_factory<long>(square, {.count = 6}));
  harness.options().place.subtask = 1;
  harness.options().place.parallelism = 4;
  harness.output<long>().records({1, 25});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(GeneratorSource, WithoutCountItNeverEnds) {
  SourceHarness harness(generator_factory<std::string_view>(
      [](std::uint64_t index) { return "number " + std::to_string(index); }, {}));
  harness.options().records_max = 4;
  harness.output<std::string_view>().records({"number 0", "number 1", "number 2", "number 3"});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(GeneratorSource, WatermarksFollowTheirRecords) {
  const auto time = [](std::uint64_t index) { return static_cast<Timestamp>(100 + 10 * index); };
  SourceHarness harness(generator_factory<long>(
      square, {.count = 7, .watermark_interval = 3, .out_of_order_ms = 5}, time));
  auto expected = harness.output<long>();
  expected.record(0, 100).record(1, 110).record(4, 120).watermark(125);
  expected.record(9, 130).record(16, 140).record(25, 150).watermark(155).record(36, 160);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(GeneratorSource, WatermarksWithoutTimestamps) {
  const auto time = [](std::uint64_t index) { return static_cast<Timestamp>(100 + 10 * index); };
  SourceHarness harness(generator_factory<long>(
      square, {.count = 4, .watermark_interval = 3, .timestamps = false}, time));
  harness.output<long>().record(0).record(1).record(4).watermark(130).record(9);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(GeneratorSource, RestoreFromTwoSubtasksKeepsEventTimeInStep) {
  const auto time = [](std::uint64_t index) { return static_cast<Timestamp>(index); };
  const auto factory =
      generator_factory<long>(square, {.count = 10, .watermark_interval = 2}, time);
  std::vector<std::string> states;
  for (int subtask = 0; subtask < 2; ++subtask) {
    FakeOperatorContext context({"generate", subtask, 2, true});
    const auto source = factory->make();
    Output out(1);
    source->set_context(context);
    source->declare(out);
    ASSERT_TRUE(source->open().ok());
    ASSERT_EQ(static_cast<SourceOperator&>(*source).produce(out), OperatorResult::more);
    std::string bytes;
    ByteWriter writer(bytes);
    ASSERT_TRUE(source->snapshot(writer).ok());
    states.emplace_back(writer.view());
  }
  FakeOperatorContext context;
  const auto source = factory->make();
  Output out(1);
  source->set_context(context);
  source->declare(out);
  for (const std::string& state : states) {
    ByteReader reader(state);
    ASSERT_TRUE(source->restore(reader).ok());
  }
  ASSERT_TRUE(source->open().ok());
  std::vector<Timestamp> times;
  Timestamp watermark = no_timestamp;
  OperatorResult answer = OperatorResult::more;
  while (answer == OperatorResult::more) {
    answer = static_cast<SourceOperator&>(*source).produce(out);
    for (const Timestamp one : out.batch().timestamps()) {
      EXPECT_GE(one, watermark);
      times.push_back(one);
    }
    out.batch().clear();
    const Control control = out.take_control();
    if (control) watermark = control.time;
  }
  EXPECT_EQ(times, (std::vector<Timestamp>{2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_GT(watermark, 5);
}

TEST(GeneratorSource, RateLimitHandsOnWhatIsDue) {
  FakeOperatorContext context({"generate", 1, 2, false});
  GeneratorSource<long, decltype(square)> source(square, {.records_per_second = 2000});
  Output out;
  source.set_context(context);
  source.declare(out);
  ASSERT_TRUE(source.open().ok());
  EXPECT_EQ(source.produce(out), OperatorResult::blocked);
  EXPECT_EQ(out.batch().size(), 1u) << "the first at once";
  ASSERT_TRUE(context.timer());
  EXPECT_NEAR(static_cast<double>(*context.timer() - context.now()), 1e6, 2);
  EXPECT_EQ(source.produce(out), OperatorResult::blocked) << "and no second one before its time";
  EXPECT_EQ(out.batch().size(), 1u);
  context.advance(10'000'001);
  EXPECT_EQ(source.produce(out), OperatorResult::blocked);
  EXPECT_EQ(out.batch().size(), 11u) << "1000 per second and subtask";
}

TEST(GeneratorSource, RateLimitLosesNothing) {
  SourceHarness harness(generator_factory<long>(square, {.count = 5, .records_per_second = 100}));
  harness.output<long>().records({0, 1, 4, 9, 16});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(GeneratorSource, RefusesSenselessOptions) {
  SourceHarness harness(generator_factory<long>(square, {.records_per_second = 0.0}));
  harness.expect_failure("records_per_second must be above 0");
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(GeneratorSource, AThrownExceptionFailsIt) {
  SourceHarness harness(generator_factory<long>(
      [](std::uint64_t index) -> long {
        if (index == 3) throw std::runtime_error("no third");
        return static_cast<long>(index);
      },
      {.count = 5}));
  harness.output<long>().records({0, 1, 2});
  harness.expect_failure("no third");
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

// Counts down, one pause between any two.
class CountDown final : public SourceFunction<int> {
 public:
  OperatorResult produce(SourceOutput<int>& out) override {
    if (left_ == 0) return OperatorResult::done;
    pause_ = !pause_;
    if (pause_) return OperatorResult::blocked;
    out.emit(left_, 100 - left_);
    --left_;
    if (left_ == 1) out.watermark(99);
    return OperatorResult::more;
  }
  Status snapshot(ByteWriter& out) override {
    out.put_value(left_);
    return {};
  }
  Status restore(ByteReader& in) override {
    return in.get_value(left_) ? Status() : Status(ErrorCode::corrupt_record, "cut short");
  }

 private:
  int left_ = 3;
  bool pause_ = true;
};

TEST(SourceFunctionOperator, TheUsersOwnSource) {
  SourceHarness harness(make_operator_factory(
      [] { return std::make_unique<SourceFunctionOperator<int>>(std::make_unique<CountDown>()); }));
  harness.output<int>().record(3, 97).record(2, 98).watermark(99).record(1, 99);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

// The even ones by one, with a time; the odd ones where there is room, without.
class AtOnceSource final : public SourceFunction<int> {
 public:
  OperatorResult produce(SourceOutput<int>& out) override {
    while (next_ < end && !out.full()) {
      if (next_ % 2 == 0) {
        out.emit(next_, 50);
        ++next_;
      } else {
        out.room().front() = next_++;
        out.wrote(1);
      }
    }
    return next_ < end ? OperatorResult::more : OperatorResult::done;
  }
  Status snapshot(ByteWriter& out) override {
    out.put_value(next_);
    return {};
  }
  Status restore(ByteReader& in) override {
    return in.get_value(next_) ? Status() : Status(ErrorCode::corrupt_record, "cut short");
  }

 private:
  static constexpr int end = 4;

  int next_ = 0;
};

TEST(SourceFunctionOperator, RecordsWrittenToTheirPlacesStandBetweenOthers) {
  SourceHarness harness(make_operator_factory([] {
    return std::make_unique<SourceFunctionOperator<int>>(std::make_unique<AtOnceSource>());
  }));
  harness.output<int>().record(0, 50).record(1).record(2, 50).record(3);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

class CommitsSource final : public SourceFunction<int> {
 public:
  explicit CommitsSource(std::vector<std::uint64_t>& epochs) : epochs_(epochs) {}
  OperatorResult produce(SourceOutput<int>&) override { return OperatorResult::done; }
  Status commit(std::uint64_t epoch) override {
    epochs_.push_back(epoch);
    return {};
  }

 private:
  std::vector<std::uint64_t>& epochs_;
};

TEST(SourceFunctionOperator, TellsItsSourceOfCompleteCheckpoints) {
  std::vector<std::uint64_t> epochs;
  SourceFunctionOperator<int> source(std::make_unique<CommitsSource>(epochs));
  ASSERT_TRUE(source.commit(3).ok());
  ASSERT_TRUE(source.commit(7).ok());
  EXPECT_EQ(epochs, (std::vector<std::uint64_t>{3, 7}));
}

}  // namespace
}  // namespace hummer::sources_test
