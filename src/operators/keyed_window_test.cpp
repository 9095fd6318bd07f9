// Sessions, global and count windows, and triggers, under every schedule, in memory and on disk.
#include <hummer/detail/operators/keyed_window.hpp>

#include <hummer/detail/operators/count_window.hpp>

#include "operators/restored_subtask.hpp"
#include "operators/window_test_parts.hpp"
#include "operators/with_and_without_memory.hpp"

namespace hummer::keyed_window_test {
namespace {

template <typename Windows, typename Trigger = DefaultTrigger>
auto sums(Windows windows, Trigger trigger = {}, std::int64_t lateness_ms = 0,
          bool late_output = false) {
  const auto chosen = trigger_for(windows, trigger);
  return make_operator_factory([=] {
    return std::make_unique<
        KeyedWindowOperator<Sale, std::int64_t, ShopOf, Windows,
                            std::remove_const_t<decltype(chosen)>, SaleSum, SumValue>>(
        shop_of, windows, chosen, lateness_ms, SaleSum{amount_of}, SumValue{{amount_of}},
        late_output);
  });
}

TEST(KeyedWindowOperator, SessionsGrowAndBecomeOne) {
  OperatorHarness<Sale> harness(sums(SessionWindows::with_gap(10)));
  harness.record({1, 1}, 0).record({2, 2}, 3).record({1, 4}, 18).watermark(5);
  harness.record({1, 8}, 9).record({1, 16}, 28).watermark(28).record({1, 32}, 40).watermark(49);
  auto expected = harness.output<SumWindow>();
  expected.watermark(5).record({2, {3, 13}, 2}, 12).record({1, {0, 28}, 13}, 27).watermark(28);
  expected.record({1, {28, 38}, 16}, 37).watermark(49).record({1, {40, 50}, 32}, 49);
  expect_ok_with_and_without_memory(harness);
}

TEST(KeyedWindowOperator, LateRecordsOfSessions) {
  OperatorHarness<Sale> harness(sums(SessionWindows::with_gap(10), DefaultTrigger(), 5));
  harness.record({1, 1}, 0).watermark(12).record({1, 2}, 8).record({2, 1}, -4).watermark(17);
  harness.record({1, 4}, 16).watermark(18).record({1, 8}, 20).watermark(26);
  harness.record({3, 9}, 12).record({4, 1}, 11);
  auto expected = harness.output<SumWindow>();
  // A late record that is still open joins the session that has gone out; then it goes on growing.
  expected.record({1, {0, 10}, 1}).watermark(12).watermark(17);
  expected.watermark(18).watermark(26);
  expected.record({3, {12, 22}, 9});
  expected.record({1, {0, 30}, 15});
  expect_ok_with_and_without_memory(harness);
}

TEST(KeyedWindowOperator, GridWindowsAtTheEndOfTime) {
  OperatorHarness<Sale> harness(sums(SlidingWindows::of(10, 5), EventTimeTrigger()));
  const Timestamp start = end_of_time / 5 * 5;  // of the last window
  harness.record({1, 1}, start).record({1, 2}, start + 1);
  harness.output<SumWindow>()
      .record({1, {start - 5, end_of_time}, 3}, end_of_time - 1)
      .record({1, {start, end_of_time}, 3}, end_of_time - 1);
  expect_ok_with_and_without_memory(harness);
}

// A record is late when the session that it would be part of is over, not by its own time.
TEST(KeyedWindowOperator, ARecordIsNotLateForASessionThatIsOpen) {
  for (const bool late_output : {false, true}) {
    OperatorHarness<Sale> harness(
        sums(SessionWindows::with_gap(10), DefaultTrigger(), 0, late_output));
    harness.record({1, 1}, 0).record({1, 2}, 8).record({1, 4}, 16).record({2, 1}, 0).watermark(15);
    harness.record({1, 8}, 4).record({2, 2}, 4).record({1, 16}, -5).record({1, 32}, -15);
    auto expected = harness.output<SumWindow>();
    expected.record({2, {0, 10}, 1}).watermark(15).record({1, {-5, 26}, 31});
    if (late_output) {
      harness.output<Sale>(1).watermark(15).record({2, 2}, 4).record({1, 32}, -15);
    }
    expect_ok_with_and_without_memory(harness);
  }
}

// With lateness one that has gone out is open as well.
TEST(KeyedWindowOperator, ALateRecordRefinesTheSessionThatItJoins) {
  OperatorHarness<Sale> harness(sums(SessionWindows::with_gap(10), DefaultTrigger(), 5));
  harness.record({1, 1}, 0).record({1, 2}, 9).watermark(20).record({1, 4}, 3).watermark(24);
  harness.record({1, 8}, 3);
  auto expected = harness.output<SumWindow>().normalise(last_of_each);
  expected.record({1, {0, 19}, 3}).watermark(20).record({1, {0, 19}, 7}).watermark(24);
  expect_ok_with_and_without_memory(harness);
}

TEST(KeyedWindowOperator, GlobalWindowsGoOutAtTheEnd) {
  OperatorHarness<Sale> harness(sums(GlobalWindows{}));
  harness.record({1, 1}).record({2, 2}).watermark(5).record({1, 4});
  harness.output<SumWindow>().watermark(5).record({1, all_time, 5}).record({2, all_time, 2});
  expect_ok_with_and_without_memory(harness);
}

TEST(KeyedWindowOperator, CountTriggerAndPurging) {
  OperatorHarness<Sale> kept(sums(GlobalWindows{}, CountTrigger::of(2)));
  OperatorHarness<Sale> purged(sums(GlobalWindows{}, PurgingTrigger(CountTrigger::of(2))));
  for (auto* harness : {&kept, &purged}) {
    harness->record({1, 1}, 1).record({2, 2}, 2).record({1, 4}, 3).watermark(3);
    harness->record({1, 8}, 4).record({1, 16}, 5).record({2, 32}, 6);
  }
  kept.output<SumWindow>()
      .record({1, all_time, 5}, 3)
      .watermark(3)
      .record({1, all_time, 29}, 5)
      .record({2, all_time, 34}, 6);
  purged.output<SumWindow>()
      .record({1, all_time, 5}, 3)
      .watermark(3)
      .record({1, all_time, 24}, 5)
      .record({2, all_time, 34}, 6);
  expect_ok_with_and_without_memory(kept);
  expect_ok_with_and_without_memory(purged);
}

TEST(KeyedWindowOperator, ContinuousTriggerShowsWhatThereIsMeanwhile) {
  OperatorHarness<Sale> harness(sums(TumblingWindows::of(100), ContinuousTrigger::every(30)));
  harness.record({1, 1}, 10).watermark(29).record({1, 2}, 29).watermark(31).watermark(50);
  harness.record({1, 4}, 55).watermark(95).record({1, 8}, 97).watermark(100).record({1, 16}, 100);
  auto expected = harness.output<SumWindow>();
  expected.watermark(29).record({1, {0, 100}, 3}).watermark(31).watermark(50);
  expected.record({1, {0, 100}, 7}).watermark(95).record({1, {0, 100}, 15}).watermark(100);
  expected.record({1, {100, 200}, 16});
  expect_ok_with_and_without_memory(harness);
}

// One of the author's own: as soon as the sum's first record is there, and never again.
struct FirstRecord {
  struct State {
    bool seen = false;
  };
  TriggerResult record(TriggerContext&, State& state) const {
    return std::exchange(state.seen, true) ? TriggerResult::purge : TriggerResult::fire;
  }
  TriggerResult event_time(TriggerContext&, State&) const { return TriggerResult::go_on; }
  TriggerResult processing_time(TriggerContext&, State&) const { return TriggerResult::go_on; }
  void merge(State& state, const State& other) const { state.seen |= other.seen; }
};

TEST(KeyedWindowOperator, ATriggerOfOnesOwn) {
  OperatorHarness<Sale> harness(sums(SlidingWindows::of(20, 10), FirstRecord()));
  harness.record({1, 1}, 5).record({1, 2}, 15).record({1, 4}, 16).watermark(20).record({1, 8}, 25);
  auto expected = harness.output<SumWindow>();
  expected.record({1, {-10, 10}, 1}).record({1, {0, 20}, 1}).record({1, {10, 30}, 2});
  expected.watermark(20).record({1, {20, 40}, 8});
  expect_ok_with_and_without_memory(harness);
}

TEST(KeyedWindowOperator, ProcessingTimeSessions) {
  OperatorHarness<Sale> harness(sums(SessionWindows::with_gap(1'000'000).in_processing_time()));
  harness.options().with_snapshots = true;
  harness.records({{1, 1}, {2, 2}, {1, 4}});
  // The clock moves between schedules: only the sums are the same.
  harness.output<SumWindow>()
      .normalise([](std::vector<SumWindow> seen) {
        for (SumWindow& one : seen) one.window = {};
        return last_of_each(seen);
      })
      .record({1, {}, 5})
      .record({2, {}, 2});
  expect_ok_with_and_without_memory(harness);
}

struct Place {
  std::string name;
  double number;
};

// Text inside of a composite key, records kept, and a function that sees them all.
TEST(KeyedWindowOperator, CompositeKeysAndKeptRecords) {
  using Bag = BagAggregate<Place>;
  const auto describe = [](const Place& key, const TimeWindow& window,
                           std::span<const Place> records, Collector<std::string>& out) {
    out(key.name + " " + std::to_string(records.size()) + " until " +
        std::to_string(window.end_ms));
  };
  const auto itself = [](const Place& place) { return place; };
  using KeyOf = decltype(itself);
  using Finish = WindowFunction<Place, Bag, std::string, decltype(describe)>;
  OperatorHarness<Place> harness(make_operator_factory([=] {
    return std::make_unique<
        KeyedWindowOperator<Place, Place, KeyOf, SessionWindows, WindowEndTrigger, Bag, Finish>>(
        itself, SessionWindows::with_gap(5), WindowEndTrigger{TimeDomain::event}, 0, Bag(),
        Finish{Bag(), describe});
  }));
  harness.record({"a name longer than a short string", 0.0}, 1);
  harness.record({"a name longer than a short string", -0.0}, 4).record({"b", 1}, 2).watermark(8);
  auto expected = harness.output<std::string>();
  expected.record("b 1 until 7").watermark(8).record("a name longer than a short string 2 until 9");
  expect_ok_with_and_without_memory(harness);
}

// All windows of all keys in one go, and timers by window.
TEST(KeyedWindowOperator, StateOfAnotherVersionIsRefusedByNumber) {
  const std::string piece(64, '\1');
  FakeOperatorContext context;
  const auto op = sums(SessionWindows::with_gap(10))->make();
  op->set_context(context);
  ByteReader in(piece);
  const Status refused = op->restore(in);
  EXPECT_EQ(refused.code(), ErrorCode::corrupt_record);
  EXPECT_NE(refused.message().find("has version 1, not 2"), std::string::npos) << refused.message();
}

auto count_sums(CountWindows windows) {
  return make_operator_factory([=] {
    return std::make_unique<CountWindowOperator<Sale, std::int64_t, ShopOf, SaleSum, SumValue>>(
        shop_of, windows, SaleSum{amount_of}, SumValue{{amount_of}});
  });
}

TEST(CountWindowOperator, EveryNRecordsOfAKey) {
  OperatorHarness<Sale> harness(count_sums(CountWindows::of(2)));
  harness.record({1, 1}, 10).record({2, 2}, 11).record({1, 4}, 12).watermark(12);
  harness.record({1, 8}, 13).record({2, 16}, 14).record({2, 32}, 15).record({1, 64}, 16);
  auto expected = harness.output<SumWindow>();
  expected.record({1, all_time, 5}, 12).watermark(12).record({2, all_time, 18}, 14);
  expected.record({1, all_time, 72}, 16);
  expect_ok_with_and_without_memory(harness);
}

TEST(CountWindowOperator, SlidingByRecords) {
  OperatorHarness<Sale> harness(count_sums(CountWindows::of(6, 4)));
  std::vector<std::int64_t> sums;
  for (std::int64_t i = 0; i < 17; ++i) harness.record({1, 1 << i});
  auto expected = harness.output<SumWindow>();
  for (std::int64_t end = 4; end <= 16; end += 4) {
    const std::int64_t first = std::max<std::int64_t>(0, end - 6);
    expected.record({1, all_time, (1 << end) - (1 << first)});
  }
  expect_ok_with_and_without_memory(harness);
  OperatorHarness<Sale> sparse(count_sums(CountWindows::of(1, 3)));
  for (std::int64_t i = 0; i < 7; ++i) sparse.record({1, i});
  sparse.output<SumWindow>().record({1, all_time, 2}).record({1, all_time, 5});
  expect_ok_with_and_without_memory(sparse);
}

TEST(KeyedWindowOperator, RestoredAtTheSameParallelismOpensNoWindowAgain) {
  const auto is_late = [&](Timestamp time, int subtask, int parallelism) {
    RestoredSubtask<Sale> restored(*sums(SessionWindows::with_gap(10)), {1'000, 500}, subtask,
                                   parallelism);
    restored.take({1, 1}, time);
    return restored.late() == 1;
  };
  EXPECT_TRUE(is_late(950, 0, 2));
  EXPECT_FALSE(is_late(950, 1, 2));
  EXPECT_FALSE(is_late(950, 0, 1));
  EXPECT_TRUE(is_late(450, 0, 1));
}

}  // namespace
}  // namespace hummer::keyed_window_test
