// The join functions under the harness: two inputs in any order between them.
#include <gtest/gtest.h>

#include <hummer/detail/operators/factory.hpp>
#include <hummer/detail/operators/interval_join.hpp>
#include <hummer/detail/operators/keyed_process.hpp>
#include <hummer/detail/operators/session_join.hpp>
#include <hummer/detail/operators/window_join.hpp>
#include <hummer/testing/operator_harness.hpp>

#include "operators/with_and_without_memory.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::joins_test {
namespace {

struct Order {
  std::uint32_t user;
  int id;
};
struct Click {
  std::uint32_t user;
  int page;
};
using Pair = std::pair<int, int>;

constexpr auto user_of = [](const auto& record) { return record.user; };
using Orders = KeyedInput<Order, decltype(user_of)>;
using Clicks = KeyedInput<Click, decltype(user_of)>;
constexpr auto both = [](const Order& order, const Click& click) {
  return Pair(order.id, click.page);
};

template <typename Out, typename User>
auto join_factory(User user) {
  return make_operator_factory([user] {
    return std::make_unique<KeyedProcessOperator<std::uint32_t, Out, User, Orders, Clicks>>(
        user, Orders{user_of}, Clicks{user_of});
  });
}
template <typename Out, bool co_group, typename Function>
auto grid_join(WindowGrid windows, Function function) {
  return make_operator_factory([=] {
    using Of = std::remove_const_t<decltype(user_of)>;
    return std::make_unique<
        WindowJoinOperator<std::uint32_t, Order, Click, Out, Function, Of, Of, co_group>>(
        windows, function, KeyedInput<Order, Of>{user_of}, KeyedInput<Click, Of>{user_of});
  });
}
auto window_join(WindowGrid windows) { return grid_join<Pair, false>(windows, both); }
auto window_join(SessionWindows windows) {
  using Join = SessionJoin<Order, Click, Pair, decltype(both), false>;
  return join_factory<Pair>(Join(windows, both));
}

using JoinHarness = TwoInputHarness<Order, Click>;

void expect_ok(JoinHarness& harness) {
  harness.options().any_interleaving = true;
  harness.options().positions_max = under_sanitizers ? 3 : 8;
  harness.options().expansion_max = 8;
  expect_ok_with_and_without_memory(harness);
}

TEST(WindowJoin, Tumbling) {
  JoinHarness harness(window_join(TumblingWindows::of(10)));
  harness.first({1, 100}, 1).first({1, 101}, 9).second({1, 7}, 5).second({2, 8}, 5);
  harness.first({1, 102}, 10).second({1, 9}, 19).watermark(10);
  harness.second({1, 999}, 9).first({2, 104}, 12).second({1, 10}, 11).watermark(15);
  harness.output<Pair>()
      .record({100, 7}, 9)
      .record({101, 7}, 9)
      .watermark(10)
      .watermark(15)
      .record({102, 9}, 19)
      .record({102, 10}, 19)
      .unordered();
  harness.output<Click>(2).record({1, 999}, 9);
  expect_ok(harness);
}

TEST(WindowJoin, SlidingGivesAPairInEachWindowThatHoldsBoth) {
  JoinHarness harness(window_join(SlidingWindows::of(10, 5)));
  harness.first({1, 1}, 7).second({1, 2}, 8).second({1, 3}, 13).watermark(4).watermark(16);
  harness.second({1, 4}, 16);
  harness.output<Pair>()
      .watermark(4)
      .record({1, 2}, 9)
      .record({1, 2}, 14)
      .record({1, 3}, 14)
      .watermark(16)
      .unordered();
  expect_ok(harness);
}

TEST(WindowJoin, WindowsWithPausesBetweenThem) {
  JoinHarness harness(window_join(SlidingWindows::of(4, 10)));
  harness.first({1, 1}, 3).second({1, 2}, 2).first({1, 3}, 5).second({1, 4}, 6);
  harness.first({1, 5}, 12).second({1, 6}, 10);
  harness.output<Pair>().record({1, 2}, 3).record({5, 6}, 13).unordered();
  expect_ok(harness);
}

TEST(WindowJoin, SessionsAreThoseOfBothSides) {
  JoinHarness harness(window_join(SessionWindows::with_gap(5)));
  // [10, 22) by 10, 14, 17; [30, 35); [40, 45) of one side only.
  harness.first({1, 1}, 10).first({1, 2}, 17).second({1, 3}, 14).second({1, 4}, 30);
  harness.first({1, 5}, 31).first({1, 6}, 40).watermark(20).watermark(23).first({1, 7}, 18);
  harness.output<Pair>()
      .watermark(20)
      .record({1, 3}, 21)
      .record({2, 3}, 21)
      .watermark(23)
      .record({5, 4}, 35)
      .unordered();
  harness.output<Order>(1).record({1, 7}, 18);
  expect_ok(harness);
}

TEST(WindowJoin, ARecordIsNotLateForASessionThatIsOpen) {
  JoinHarness harness(window_join(SessionWindows::with_gap(10)));
  harness.first({1, 1}, 0).second({1, 2}, 8).first({1, 3}, 16).watermark(15);
  harness.second({1, 4}, 4).second({1, 5}, -10).second({2, 6}, 4);
  auto expected = harness.output<Pair>();
  expected.watermark(15).record({1, 2}, 25).record({3, 2}, 25).record({1, 4}, 25);
  expected.record({3, 4}, 25).unordered();
  harness.output<Click>(2).record({1, 5}, -10).record({2, 6}, 4).unordered();
  expect_ok(harness);
}

TEST(WindowJoin, CoGroupSeesWindowsOfOneSideToo) {
  const auto count = [](TimeWindow window, std::span<const Order> orders,
                        std::span<const Click> clicks, KeyedOutput<std::vector<int>>& out) {
    out.emit(std::vector<int>{static_cast<int>(out.key<std::uint32_t>()),
                              static_cast<int>(window.start_ms), static_cast<int>(orders.size()),
                              static_cast<int>(clicks.size())});
  };
  using Out = std::vector<int>;
  JoinHarness harness(grid_join<Out, true>(TumblingWindows::of(10), count));
  harness.first({1, 1}, 3).first({1, 2}, 4).second({1, 3}, 5).second({2, 4}, 25).watermark(30);
  harness.output<Out>().records({{1, 0, 2, 1}, {2, 20, 0, 1}});
  expect_ok(harness);
}

// So many batches of a key without a partner have room, and 50 with one have none.
void expect_no_room(const std::shared_ptr<const OperatorFactory>& factory, int with_room,
                    const char* what) {
  const auto node = make_simulated_platform({.seed = 1});
  FakeOperatorContext context(
      {.name = "join", .platform = node.get(), .memory_limit_bytes = std::size_t{1} << 18});
  const std::unique_ptr<Operator> op = factory->make();
  Output out;
  op->set_context(context);
  op->declare(out);
  ASSERT_TRUE(op->open().ok());
  constexpr std::uint32_t records = 1000;
  const auto add = [&](int times, std::uint32_t user, Timestamp time) {
    for (int i = 0; i < times; ++i) {
      Batch in(type_of<Order>(), records);
      {
        Collector<Order> collector(in, records);
        for (std::uint32_t j = 0; j < records; ++j) collector(Order{user, static_cast<int>(j)});
      }
      // Not in order: records of a session that are need no room when it goes out.
      for (std::uint32_t j = 0; j < records; ++j) in.timestamps().push_back(time - j % 2);
      ASSERT_EQ(op->process_input(0, in, out), OperatorResult::done);
    }
  };
  const auto add_partner = [&](std::uint32_t user, Timestamp time) {
    Batch in(type_of<Click>(), 1);
    Collector<Click>(in, 1)(Click{user, 7});
    in.timestamps().assign(1, time);
    ASSERT_EQ(op->process_input(1, in, out), OperatorResult::done);
  };
  add(with_room, 1, 5);
  add_partner(2, 5);
  EXPECT_EQ(op->watermark(10, out), OperatorResult::done);
  add(50, 1, 15);
  add_partner(1, 15);
  EXPECT_EQ(op->watermark(1000, out), OperatorResult::failed);
  EXPECT_EQ(context.failure().code(), ErrorCode::limit_exceeded);
  EXPECT_NE(context.failure().message().find(std::string("'join: ") + what + "' holds"),
            std::string::npos)
      << context.failure().message();
}

TEST(WindowJoin, AKeyWhoseWindowHasNoRoomFailsByName) {
  expect_no_room(window_join(TumblingWindows::of(10)), 50, "the window that goes out");
  expect_no_room(window_join(SessionWindows::with_gap(5)), 5, "the session that goes out");
}

TEST(WindowJoin, AKeyOnDiskWithoutAPartnerNeedsNoRoom) {
  JoinHarness harness(window_join(SlidingWindows::of(20, 10)));
  for (int i = 0; i < 6; ++i) harness.first({1, i}, 5 + i);
  harness.second({2, 7}, 5).first({2, 8}, 15).watermark(40);
  harness.output<Pair>().record({8, 7}, 19).watermark(40);
  expect_ok(harness);
}

TEST(WindowJoin, RefusesWhatMakesNoSense) {
  JoinHarness harness(window_join(TumblingWindows::of(0)));
  harness.expect_failure("must be 1 or more");
  expect_ok(harness);
  JoinHarness timeless(window_join(TumblingWindows::of(10)));
  timeless.first({1, 1});
  timeless.expect_failure("needs event time");
  timeless.options().any_interleaving = false;
  const HarnessReport report = timeless.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

auto interval_join(std::int64_t lower, std::int64_t upper) {
  using Join = IntervalJoinFunction<Order, Click, Pair, decltype(both)>;
  return join_factory<Pair>(Join(lower, upper, both));
}

TEST(IntervalJoin, BothBoundsAreIncluded) {
  JoinHarness harness(interval_join(-5, 10));
  harness.first({1, 1}, 100).second({1, 2}, 94).second({1, 3}, 95).second({1, 4}, 110);
  harness.second({1, 5}, 111).second({2, 6}, 100).watermark(90).first({2, 7}, 90).watermark(105);
  harness.second({2, 8}, 105).first({1, 9}, 108).second({1, 10}, 104);
  harness.output<Pair>()
      .record({1, 3}, 100)
      .record({1, 4}, 110)
      .watermark(90)
      .record({7, 6}, 100)
      .watermark(105)
      .record({9, 4}, 110)
      .record({9, 5}, 111)
      .unordered();
  harness.output<Click>(2).record({1, 10}, 104);
  expect_ok(harness);
}

// A timer drops what has no partner any more: not what stays beside that, waiting for the next one.
TEST(IntervalJoin, ARecordWaitsForItsLastPartner) {
  JoinHarness harness(interval_join(0, 40));
  harness.first({1, 1}, 0).first({1, 2}, 15).watermark(51).second({1, 3}, 55).watermark(60);
  harness.second({1, 4}, 60).first({1, 5}, 61).watermark(101).second({1, 6}, 101);
  harness.output<Pair>().watermark(51).record({2, 3}, 55).watermark(60).watermark(101);
  harness.output<Pair>().record({5, 6}, 101);
  expect_ok(harness);
}

TEST(IntervalJoin, WhollyBeforeOrBehind) {
  for (const auto& [lower, upper] : {Pair(-20, -10), Pair(10, 20)}) {
    JoinHarness harness(interval_join(lower, upper));
    const Timestamp partner = lower < 0 ? 85 : 115;
    harness.first({1, 1}, 100).second({1, 2}, partner).second({1, 3}, 100).watermark(50);
    harness.output<Pair>().record({1, 2}, std::max<Timestamp>(100, partner));
    expect_ok(harness);
  }
}

}  // namespace
}  // namespace hummer::joins_test
