// Timestamps, watermarks, late records and partial windows, under every schedule.
#include <hummer/detail/operators/assign_timestamps.hpp>
#include <hummer/detail/operators/late_records.hpp>
#include <hummer/detail/operators/partial_window.hpp>

#include <stdexcept>

#include "operators/restored_subtask.hpp"
#include "operators/window_test_parts.hpp"
#include "support/expect_ok.hpp"

namespace hummer::event_time_test {
namespace {

template <typename T, typename TimestampOf, typename Generator>
auto assign(TimestampOf timestamp_of, WatermarkSettings<Generator> settings) {
  return make_operator_factory([=] {
    return std::make_unique<AssignTimestampsOperator<T, TimestampOf, Generator>>(timestamp_of,
                                                                                 settings);
  });
}
constexpr auto time_of = [](const Sale& sale) { return sale.amount; };

// Where batches end decides how many watermarks there are: only the times are compared here.
TEST(AssignTimestampsOperator, StampsEachRecord) {
  OperatorHarness<Sale> harness(assign<Sale>(time_of, WatermarkStrategy::bounded(100)));
  harness.options().expansion_max = 5;
  harness.record({1, 10}, 7).record({2, 5}).watermark(99).record({3, -20}).idle().record({4, 60});
  auto expected = harness.output<Sale>();
  expected.record({1, 10}, 10).record({2, 5}, 5).record({3, -20}, -20).record({4, 60}, 60);
  expect_ok(harness.run());
}

TEST(AssignTimestampsOperator, TextGoesOnWithItsBuffers) {
  const auto length = [](std::string_view text) { return static_cast<Timestamp>(text.size()); };
  OperatorHarness<std::string_view> harness(
      assign<std::string_view>(length, WatermarkStrategy::bounded(100)));
  harness.options().expansion_max = 3;
  harness.records({"a", "a text longer than a short string", ""});
  harness.output<std::string_view>()
      .record("a", 1)
      .record("a text longer than a short string", 33)
      .record("", 0);
  expect_ok(harness.run());
}

TEST(AssignTimestampsOperator, AThrownExceptionNamesTheRecord) {
  const auto unlucky = [](const Sale& sale) -> Timestamp {
    if (sale.amount == 13) throw std::runtime_error("unlucky");
    return sale.amount;
  };
  OperatorHarness<Sale> harness(assign<Sale>(unlucky, WatermarkStrategy::ascending()));
  harness.options().expansion_max = 3;
  harness.records({{1, 1}, {2, 2}, {3, 13}}).expect_failure("record 2: unlucky");
  harness.output<Sale>().normalise([](const auto&) { return std::vector<Sale>(); });
  expect_ok(harness.run());
}

// The watermark behind these times, when nothing more is at hand.
template <typename Generator>
class Watermarks {
 public:
  explicit Watermarks(WatermarkSettings<Generator> settings,
                      const FakeOperatorContext::Place& place = {})
      : operator_(time_of, settings), context_(place) {
    context_.set_now(0);
    operator_.set_context(context_);
    operator_.declare(out_);
    EXPECT_TRUE(operator_.open().ok());
  }
  Control behind(const std::vector<Timestamp>& times) {
    Batch in(type_of<Sale>(), static_cast<std::uint32_t>(times.size()));
    for (std::size_t i = 0; i < times.size(); ++i) in.mutable_values<Sale>()[i] = {0, times[i]};
    in.set_size(times.size());
    std::size_t records = 0;
    Control latest;
    const auto take = [&] {
      records += out_.batch().size();
      out_.batch().clear();
      if (const Control control = out_.take_control()) latest = control;
    };
    while (operator_.process(in, out_) == OperatorResult::more) take();
    take();
    EXPECT_EQ(records, times.size());
    EXPECT_EQ(operator_.idle(out_), OperatorResult::done);
    take();
    return latest;
  }
  Control after(std::int64_t milliseconds) {
    context_.advance(milliseconds * 1'000'000);
    if (context_.take_due_timer()) {
      EXPECT_EQ(operator_.timer(context_.now(), out_), OperatorResult::done);
    }
    return out_.take_control();
  }
  bool is_blocked() {
    Batch in(type_of<Sale>(), 1);
    in.mutable_values<Sale>()[0] = {0, 0};
    in.set_size(1);
    const OperatorResult answer = operator_.process(in, out_);
    EXPECT_TRUE(out_.batch().empty());
    return answer == OperatorResult::blocked;
  }
  std::string snapshot() {
    std::string bytes;
    ByteWriter out(bytes);
    EXPECT_TRUE(operator_.snapshot(out).ok());
    return std::string(out.view());
  }

  AssignTimestampsOperator<Sale, std::remove_const_t<decltype(time_of)>, Generator> operator_;

 private:
  FakeOperatorContext context_;
  Output out_;
};

using Kind = Control::Kind;

TEST(AssignTimestampsOperator, BoundedAndAscendingWatermarks) {
  Watermarks bounded(WatermarkStrategy::bounded(10));
  EXPECT_EQ(bounded.behind({5, 30, 20}).time, 20);
  EXPECT_EQ(bounded.behind({29}).kind, Kind::none) << "it has not moved";
  EXPECT_EQ(bounded.behind({31}).time, 21);
  Watermarks ascending(WatermarkStrategy::ascending());
  EXPECT_EQ(ascending.behind({5, 6}).time, 6);
  EXPECT_EQ(ascending.behind({6, 9}).time, 9);
}

TEST(AssignTimestampsOperator, PunctuatedAndOwnWatermarks) {
  Watermarks punctuated(
      WatermarkStrategy::punctuated([](const Sale&, Timestamp time) -> std::optional<Timestamp> {
        return time % 10 == 0 ? std::optional(time - 3) : std::nullopt;
      }));
  EXPECT_EQ(punctuated.behind({5, 7}).kind, Kind::none);
  EXPECT_EQ(punctuated.behind({20, 41}).time, 17);
  EXPECT_EQ(punctuated.behind({10}).kind, Kind::none);
  struct EveryThird {
    int seen = 0;
    Timestamp time = no_timestamp;
    void record(const Sale&, Timestamp latest) {
      if (++seen % 3 == 0) time = latest;
    }
    Timestamp watermark() const { return time; }
  };
  Watermarks own(WatermarkStrategy::generated(EveryThird()));
  EXPECT_EQ(own.behind({5, 7}).kind, Kind::none);
  EXPECT_EQ(own.behind({9, 11}).time, 9);
  EXPECT_EQ(own.behind({1, 2}).kind, Kind::none) << "watermarks never fall back";
}

// The clock, and never before the latest record.
struct ByTheClock {
  Timestamp latest = no_timestamp;
  void record(const Sale&, Timestamp time) { latest = std::max(latest, time); }
  Timestamp watermark() const { return latest; }
  Timestamp periodic(Timestamp now_ms) { return std::max(latest, now_ms); }
};

TEST(AssignTimestampsOperator, PeriodicWatermarksWithoutRecords) {
  Watermarks clock(WatermarkStrategy::generated(ByTheClock()).with_interval(50));
  EXPECT_EQ(clock.after(49).kind, Kind::none);
  EXPECT_EQ(clock.after(1).time, 50);
  EXPECT_EQ(clock.behind({120}).time, 120);
  EXPECT_EQ(clock.after(50).kind, Kind::none) << "it has not moved";
  EXPECT_EQ(clock.after(50).time, 150);
  Watermarks usual(WatermarkStrategy::generated(ByTheClock()));
  EXPECT_EQ(usual.after(199).kind, Kind::none);
  EXPECT_EQ(usual.after(1).time, 200);
}

TEST(AssignTimestampsOperator, AnInactiveInputIsNotAskedForWatermarks) {
  Watermarks idle(WatermarkStrategy::generated(ByTheClock()).with_interval(40).with_idleness(100));
  EXPECT_EQ(idle.after(40).time, 40);
  EXPECT_EQ(idle.after(40).time, 80);
  EXPECT_EQ(idle.after(20).kind, Kind::inactive);
  EXPECT_EQ(idle.after(100).kind, Kind::none);
  EXPECT_EQ(idle.behind({90}).time, 90) << "active again";
  EXPECT_EQ(idle.after(40).time, 240);
}

TEST(AssignTimestampsOperator, InactiveAfterItsIdleness) {
  Watermarks idle(WatermarkStrategy::ascending().with_idleness(100));
  EXPECT_EQ(idle.after(60).kind, Kind::none);
  EXPECT_EQ(idle.behind({1}).kind, Kind::watermark);
  EXPECT_EQ(idle.after(60).kind, Kind::none);
  EXPECT_EQ(idle.after(60).kind, Kind::inactive);
  EXPECT_EQ(idle.after(600).kind, Kind::none);
  EXPECT_EQ(idle.behind({2}).time, 2);
  EXPECT_EQ(idle.after(101).kind, Kind::inactive);
  EXPECT_EQ(idle.behind({2}).kind, Kind::active) << "its watermark has not moved";
}

TEST(AssignTimestampsOperator, AlignedInputsWaitForTheSlowest) {
  const WatermarkAlignment group;
  const auto settings = WatermarkStrategy::ascending().aligned(group, 100).with_idleness(50);
  Watermarks fast(settings);
  std::optional<Watermarks<BoundedWatermarks>> slow(settings);
  EXPECT_EQ(fast.behind({1000}).time, 1000);
  EXPECT_TRUE(fast.is_blocked()) << "nothing is known of the other";
  EXPECT_EQ(slow->behind({899}).time, 899);
  EXPECT_TRUE(fast.is_blocked());
  EXPECT_EQ(slow->behind({900}).time, 900);
  EXPECT_EQ(fast.behind({1010}).time, 1010);
  EXPECT_TRUE(fast.is_blocked());
  EXPECT_EQ(slow->after(51).kind, Kind::inactive);
  EXPECT_EQ(fast.behind({1020}).time, 1020);
  EXPECT_EQ(slow->behind({900}).kind, Kind::active);
  EXPECT_TRUE(fast.is_blocked());
  EXPECT_TRUE(slow->operator_.close().ok());
  EXPECT_EQ(fast.behind({5000}).time, 5000);
}

// Two subtasks were at 40 and 20.
TEST(AssignTimestampsOperator, RestoresItsOwnWatermarkOrTheLowest) {
  Watermarks first(WatermarkStrategy::bounded(10));
  first.behind({50});
  Watermarks second(WatermarkStrategy::bounded(10));
  second.behind({30});
  const auto next = [&](int subtask, int parallelism) {
    Watermarks restored(WatermarkStrategy::bounded(10),
                        {.subtask = subtask, .parallelism = parallelism});
    EXPECT_TRUE(restored.operator_.takes_all_pieces());
    for (const std::string& piece : {first.snapshot(), second.snapshot()}) {
      ByteReader in(piece);
      EXPECT_TRUE(restored.operator_.restore(in).ok());
    }
    EXPECT_TRUE(restored.operator_.open().ok());
    return restored.behind({35}).time;
  };
  EXPECT_EQ(next(0, 2), no_timestamp) << "35 is behind its own";
  EXPECT_EQ(next(1, 2), 25);
  for (int subtask = 0; subtask < 3; ++subtask) EXPECT_EQ(next(subtask, 3), 25);
}

TEST(AssignTimestampsOperator, RestoresTheLowestWatermark) {
  Watermarks first(WatermarkStrategy::bounded(10));
  first.behind({50});
  Watermarks second(WatermarkStrategy::bounded(10));
  second.behind({30});
  Watermarks restored(WatermarkStrategy::bounded(10));
  for (const std::string& piece : {first.snapshot(), second.snapshot()}) {
    ByteReader in(piece);
    ASSERT_TRUE(restored.operator_.restore(in).ok());
  }
  ASSERT_TRUE(restored.operator_.open().ok());
  EXPECT_EQ(restored.behind({29}).kind, Kind::none);
  EXPECT_EQ(restored.behind({31}).time, 21);
}

auto late(WindowGrid grid, std::int64_t lateness_ms, bool late_output, bool coalesces = false) {
  return make_operator_factory([=] {
    return std::make_unique<LateRecordsOperator<Sale>>(grid, lateness_ms, late_output, coalesces);
  });
}

TEST(LateRecordsOperator, TakesOutWhatIsTooLateForEveryWindow) {
  for (const bool late_output : {false, true}) {
    OperatorHarness<Sale> harness(late(SlidingWindows::of(10, 5), 3, late_output));
    harness.options().expansion_max = 5;
    harness.record({1, 1}, 3).watermark(12).record({1, 2}, 4).record({1, 3}, -1).watermark(13);
    harness.record({1, 4}, 4).record({1, 5}, 5).record({1, 6}, 4).watermark(17).record({1, 7}, 4);
    auto expected = harness.output<Sale>();
    expected.record({1, 1}, 3).watermark(12).record({1, 2}, 4).watermark(13);
    expected.record({1, 5}, 5).watermark(17);
    if (late_output) {
      auto too_late = harness.output<Sale>(1);
      too_late.watermark(12).record({1, 3}, -1).watermark(13).record({1, 4}, 4).record({1, 6}, 4);
      too_late.watermark(17).record({1, 7}, 4);
    }
    expect_ok(harness.run());
  }
}

// When a watermark goes that ends no slice depends on what is at hand; which records are late does
// not.
TEST(LateRecordsOperator, TakesOutTheSameWhereWatermarksGoTogether) {
  OperatorHarness<Sale> harness(late(SlidingWindows::of(10, 5), 3, false, true));
  harness.options().expansion_max = 5;
  harness.record({1, 1}, 3).watermark(12).record({1, 2}, 4).record({1, 3}, -1).watermark(13);
  harness.record({1, 4}, 4).record({1, 5}, 5).watermark(14).record({1, 6}, 4).watermark(17);
  harness.record({1, 7}, 4).record({1, 8}, 9);
  auto expected = harness.output<Sale>();
  expected.record({1, 1}, 3).record({1, 2}, 4).record({1, 5}, 5).record({1, 8}, 9);
  expect_ok(harness.run());
}

TEST(LateRecordsOperator, CountsThem) {
  LateRecordsOperator<Sale> op(SlidingWindows::of(10, 1), 0, false, false);
  FakeOperatorContext context;
  Output out;
  op.set_context(context);
  op.declare(out);
  ASSERT_EQ(op.watermark(20, out), OperatorResult::done);
  Batch in(type_of<Sale>(), 3);
  for (int i = 0; i < 3; ++i) {
    in.mutable_values<Sale>()[i] = {1, 1};
    in.timestamps().push_back(9 + i);
  }
  in.set_size(3);
  ASSERT_EQ(op.process(in, out), OperatorResult::done);
  EXPECT_EQ(context.late_records(), 2u);
  EXPECT_EQ(out.batch().size(), 1u);
}

TEST(LateRecordsOperator, AtAnotherParallelismBeginsWithTheLowestWatermarkOfAll) {
  const auto factory = late(TumblingWindows::of(10), 0, false);
  const auto takes = [&](Timestamp time, int subtask, int parallelism) {
    RestoredSubtask<Sale> restored(*factory, {20, 50}, subtask, parallelism);
    EXPECT_TRUE(restored.op().takes_all_pieces());
    restored.take({1, 1}, time);
    return restored.given(0) == 1;
  };
  EXPECT_FALSE(takes(49, 1, 2));
  EXPECT_TRUE(takes(50, 1, 2));
  EXPECT_FALSE(takes(19, 0, 2));
  EXPECT_TRUE(takes(20, 0, 2));
  for (const int parallelism : {1, 3}) {
    for (int subtask = 0; subtask < parallelism; ++subtask) {
      EXPECT_FALSE(takes(19, subtask, parallelism));
      EXPECT_TRUE(takes(20, subtask, parallelism));
    }
  }
}

TEST(LateRecordsOperator, RecordsWithoutTimeAreAMistake) {
  OperatorHarness<Sale> harness(late(TumblingWindows::of(10), 0, false));
  harness.record({1, 1}).expect_failure("assign_timestamps");
  expect_ok(harness.run());
}

using Part = SlicePartial<std::int64_t, std::int64_t>;

std::vector<Part> added_up(const std::vector<Part>& seen) {
  std::map<std::pair<Timestamp, std::int64_t>, std::int64_t> sums;
  for (const Part& part : seen) sums[{part.slice, part.key}] += part.value;
  std::vector<Part> result;
  for (const auto& [at, sum] : sums) result.push_back({at.second, at.first, sum});
  return result;
}

TEST(PartialWindowOperator, SlicesGoOutBeforeTheWatermarkBehindThem) {
  PartialWindowOperator<Sale, std::int64_t, ShopOf, SaleSum> op(shop_of, SlidingWindows::of(6, 4),
                                                                SaleSum{amount_of}, 1 << 20);
  FakeOperatorContext context;
  Output out;
  op.set_context(context);
  op.declare(out);
  Batch in(type_of<Sale>(), 3);
  in.mutable_values<Sale>()[0] = {1, 5};
  in.mutable_values<Sale>()[1] = {1, 7};
  in.mutable_values<Sale>()[2] = {1, 9};
  in.timestamps() = {1, 3, 0};
  in.set_size(3);
  ASSERT_EQ(op.process(in, out), OperatorResult::done);
  EXPECT_EQ(out.batch().size(), 0u);
  ASSERT_EQ(op.watermark(3, out), OperatorResult::done);
  ASSERT_EQ(out.batch().size(), 1u);
  EXPECT_EQ(out.batch().values<Part>()[0].slice, 0);
  EXPECT_EQ(out.batch().values<Part>()[0].value, 14);
  ASSERT_EQ(op.watermark(4, out), OperatorResult::done);
  EXPECT_EQ(out.batch().size(), 2u);
}

// A record that is late, within the allowed lateness, waits for no watermark: its slice is over.
TEST(PartialWindowOperator, LatePartsGoOutWhenNothingMoreIsAtHand) {
  PartialWindowOperator<Sale, std::int64_t, ShopOf, SaleSum> op(shop_of, TumblingWindows::of(10),
                                                                SaleSum{amount_of}, 1 << 20);
  FakeOperatorContext context;
  Output out;
  op.set_context(context);
  op.declare(out);
  ASSERT_TRUE(op.open().ok());
  const auto sell = [&](Timestamp time) {
    Batch in(type_of<Sale>(), 1);
    in.mutable_values<Sale>()[0] = {1, 5};
    in.timestamps() = {time};
    in.set_size(1);
    ASSERT_EQ(op.process(in, out), OperatorResult::done);
  };
  ASSERT_EQ(op.watermark(15, out), OperatorResult::done);
  sell(5);
  sell(15);
  ASSERT_EQ(op.idle(out), OperatorResult::done);
  ASSERT_EQ(out.batch().size(), 1u) << "of the slice that is over";
  EXPECT_EQ(out.batch().values<Part>()[0].slice, 0);
  out.batch().clear();
  // Restored, it knows of no watermark before the next one.
  context.set_restored(true);
  ASSERT_TRUE(op.open().ok());
  ASSERT_EQ(op.idle(out), OperatorResult::done);
  EXPECT_EQ(out.batch().size(), 1u);
}

// Larger than a part.
struct NotedSale {
  Sale sale;
  std::int64_t note;
};
constexpr auto shop_of_noted = [](const NotedSale& noted) { return noted.sale.shop; };
constexpr auto amount_of_noted = [](const NotedSale& noted) { return noted.sale.amount; };

template <typename Record, typename KeyOf, typename Aggregate>
auto partial(KeyOf key_of, Aggregate aggregate, std::size_t limit, Folding folding) {
  return make_operator_factory([=] {
    return std::make_unique<PartialWindowOperator<Record, std::int64_t, KeyOf, Aggregate>>(
        key_of, SlidingWindows::of(6, 4), aggregate, limit, folding);
  });
}

Timestamp time_of_sale(std::int64_t i) { return i * 5 % 13; }

template <typename Record, typename RecordOf>
void expect_sums(std::shared_ptr<const OperatorFactory> factory, RecordOf&& record_of) {
  OperatorHarness<Record> harness(std::move(factory));
  harness.options().state_only_by_flush = true;
  std::vector<Part> all;
  for (std::int64_t i = 0; i < 20; ++i) {
    const Timestamp time = time_of_sale(i);
    harness.record(record_of(Sale{i % 3, 1 << i}), time);
    all.push_back({i % 3, time - time % 2, 1 << i});
  }
  auto expected = harness.template output<Part>();
  expected.normalise(added_up).records(added_up(all));
  expect_ok(harness.run());
}

TEST(PartialWindowOperator, AddsUpToTheSums) {
  using Case = std::pair<std::size_t, Folding>;
  for (const auto& [limit, folding] :
       {Case{1 << 20, Folding::automatic}, Case{0, Folding::always}}) {
    expect_sums<Sale>(partial<Sale>(shop_of, SaleSum{amount_of}, limit, folding), identity);
  }
}

TEST(PartialWindowOperator, PassesLargeRecordsAsParts) {
  using Sum = SumAggregate<std::int64_t, std::remove_const_t<decltype(amount_of_noted)>>;
  expect_sums<NotedSale>(
      partial<NotedSale>(shop_of_noted, Sum{amount_of_noted}, 1 << 20, Folding::off),
      [](const Sale& sale) { return NotedSale{sale, 7}; });
}

TEST(PartialWindowOperator, PassesSmallRecordsAsTheyAre) {
  OperatorHarness<Sale> harness(partial<Sale>(shop_of, SaleSum{amount_of}, 1 << 20, Folding::off));
  harness.options().expansion_max = 20;  // a whole batch
  auto expected = harness.output<Sale>(1);
  for (std::int64_t i = 0; i < 20; ++i) {
    const Timestamp time = time_of_sale(i);
    harness.record({i % 3, i}, time);
    expected.record({i % 3, i}, time);
  }
  expect_ok(harness.run());
}

}  // namespace
}  // namespace hummer::event_time_test
