#include <hummer/detail/operators/async_map.hpp>

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <thread>

#include <hummer/detail/operators/factory.hpp>
#include <hummer/testing/operator_harness.hpp>

#include "support/expect_ok.hpp"

namespace hummer::async_map_test {
namespace {

template <typename In, typename U, typename Function>
auto async_factory(Function function, AsyncOptions options) {
  return make_operator_factory([function, options] {
    return std::make_unique<AsyncMapOperator<In, U, Function>>(function, options);
  });
}

// Keeps results back and gives them in reversed order, three at a time or when it holds
// what the last record gave.
struct Backwards {
  struct Held {
    AsyncResult<int> result;
    int value;
  };
  std::shared_ptr<std::vector<Held>> held = std::make_shared<std::vector<Held>>();
  int last;

  void operator()(const int& value, AsyncResult<int> result) const {
    held->push_back({result, value * 10});
    if (held->size() < 3 && value != last) return;
    while (!held->empty()) {
      Held one = held->back();
      held->pop_back();
      one.result.complete(one.value);
      one.result.complete(-1);
    }
  }
};

TEST(AsyncMapOperator, OrderedGivesResultsInTheOrderOfTheRecords) {
  for (const std::size_t capacity : {3u, 100u}) {
    OperatorHarness<int> harness(async_factory<int, int>(Backwards{.last = 7}, {capacity}));
    harness.options().expansion_max = 100;  // results of earlier records come out together
    harness.options().with_snapshots = false;
    harness.record(1, 5).record(2, 6).record(3, 7).record(4, 8).record(5, 9).record(7, 10);
    harness.output<int>().record(10, 5).record(20, 6).record(30, 7).record(40, 8);
    harness.output<int>().record(50, 9).record(70, 10);
    expect_ok(harness.run());
  }
}

TEST(AsyncMapOperator, UnorderedGivesThemAsTheyCome) {
  OperatorHarness<int> harness(async_factory<int, int>(
      Backwards{.last = 7}, {.capacity = 3, .order = AsyncOrder::unordered}));
  harness.options().expansion_max = 100;
  harness.options().with_snapshots = false;
  harness.records({1, 2, 3, 4, 5, 7});
  harness.output<int>().records({30, 20, 10, 70, 50, 40});
  expect_ok(harness.run());
}

// Even numbers wait for the next odd one, unless they are asked for again. All results come from
// other threads.
struct FromThreads {
  struct Shared {
    std::set<int> seen;
    std::vector<std::pair<int, AsyncResult<std::string>>> held;
  };
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();

  void operator()(const int& value, AsyncResult<std::string> result) const {
    const bool again = !shared->seen.insert(value).second;
    shared->held.emplace_back(value, std::move(result));
    if (value % 2 == 0 && !again) return;
    std::thread([this] {
      for (auto& [number, one] : shared->held) one.complete("answer " + std::to_string(number));
    }).join();
    shared->held.clear();
  }
};

TEST(AsyncMapOperator, RecordsUnderWayAreState) {
  for (const auto order : {AsyncOrder::ordered, AsyncOrder::unordered}) {
    const FromThreads function;
    OperatorHarness<int> harness(
        async_factory<int, std::string>(function, {.capacity = 2, .order = order}));
    harness.effects([function] { *function.shared = {}; }, {}, {});
    harness.options().expansion_max = 100;
    harness.options().positions_max = 4;
    harness.record(1, 1).record(2, 2).record(3, 3).watermark(4).record(4, 4).record(5, 5);
    auto expected = harness.output<std::string_view>();
    expected.record("answer 1", 1).record("answer 2", 2).record("answer 3", 3).watermark(4);
    expected.record("answer 4", 4).record("answer 5", 5);
    if (order == AsyncOrder::unordered) expected.unordered();
    expect_ok(harness.run());
  }
}

// The answer for 2 comes with that for 3, which comes behind the watermark.
TEST(AsyncMapOperator, AWatermarkWaitsForTheRecordsBeforeItAndLetsLaterOnesIn) {
  for (const auto order : {AsyncOrder::ordered, AsyncOrder::unordered}) {
    const FromThreads function;
    OperatorHarness<int> harness(
        async_factory<int, std::string>(function, {.capacity = 3, .order = order}));
    harness.effects([function] { *function.shared = {}; }, {}, {});
    harness.options().expansion_max = 100;
    harness.options().with_snapshots = false;  // after a restore 2 would have its answer at once
    harness.record(1, 1).record(2, 2).watermark(1).watermark(2).record(3, 3);
    auto expected = harness.output<std::string_view>();
    expected.record("answer 1", 1).record("answer 2", 2).record("answer 3", 3).watermark(2);
    if (order == AsyncOrder::unordered) expected.unordered();
    expect_ok(harness.run());
  }
}

TEST(AsyncMapOperator, FailuresSayWhy) {
  OperatorHarness<int> failing(async_factory<int, int>(
      [](const int&, AsyncResult<int> result) { result.fail("no such price"); }, {}));
  failing.record(1);
  failing.expect_failure("no such price");
  expect_ok(failing.run());
  OperatorHarness<int> dropping(async_factory<int, int>([](const int&, AsyncResult<int>) {}, {}));
  dropping.record(1);
  dropping.expect_failure("dropped without a result");
  expect_ok(dropping.run());
  OperatorHarness<int> throwing(async_factory<int, int>(
      [](const int&, AsyncResult<int>) { throw std::runtime_error("thrown"); }, {}));
  throwing.record(1);
  throwing.expect_failure("record 0: thrown");
  expect_ok(throwing.run());
}

TEST(AsyncMapOperator, RecordsUnderWayAreCountedAndHaveALimit) {
  std::vector<AsyncResult<std::string>> asked;
  const auto ask = [&](const std::string&, AsyncResult<std::string> result) {
    asked.push_back(std::move(result));
  };
  FakeOperatorContext context({.name = "prices", .memory_limit_bytes = std::size_t{8} << 20});
  Output out;
  AsyncMapOperator<std::string, std::string, decltype(ask)> op(ask, {.capacity = 1000});
  op.set_context(context);
  op.declare(out);
  ASSERT_TRUE(op.open().ok());
  const auto process = [&](std::size_t records) {
    Batch in(type_of<std::string>(), static_cast<std::uint32_t>(records));
    {
      Collector<std::string> collector(in, static_cast<std::uint32_t>(records));
      for (std::size_t i = 0; i < records; ++i) collector(std::string(100'000, 'x'));
    }
    return op.process(in, out);
  };
  ASSERT_EQ(process(10), OperatorResult::done);
  EXPECT_GT(context.memory()->used_bytes(), 1'000'000u);
  for (const auto& result : asked) result.complete(std::string(200'000, 'y'));
  // Results that wait count too, and nothing does any more when they have gone.
  ASSERT_EQ(op.idle(out), OperatorResult::done);
  EXPECT_LT(context.memory()->used_bytes(), 100'000u);
  ASSERT_EQ(process(100), OperatorResult::failed);
  EXPECT_EQ(context.failure().code(), ErrorCode::limit_exceeded);
  EXPECT_NE(context.failure().message().find("'prices' holds"), std::string::npos)
      << context.failure().message();
}

// Whoever is inactive holds no watermark, so its results would be late if that overtook them.
TEST(AsyncMapOperator, ThatTheInputIsInactiveWaitsForTheRecordsBeforeIt) {
  std::vector<AsyncResult<int>> asked;
  const auto ask = [&](const int&, AsyncResult<int> result) { asked.push_back(std::move(result)); };
  FakeOperatorContext context;
  Output out;
  AsyncMapOperator<int, int, decltype(ask)> op(ask, {});
  op.set_context(context);
  op.declare(out);
  ASSERT_TRUE(op.open().ok());
  using Kind = Control::Kind;
  const auto control = [&](OperatorResult answer) {
    EXPECT_EQ(answer, OperatorResult::done);
    return out.take_control();
  };
  const auto record = [&](int value) {
    Batch in(type_of<int>(), 1);
    in.mutable_values<int>()[0] = value;
    in.set_size(1);
    return control(op.process(in, out));
  };
  EXPECT_EQ(control(op.inactive(out)).kind, Kind::inactive) << "nothing is under way";
  EXPECT_EQ(control(op.active(out)).kind, Kind::active);
  EXPECT_EQ(record(1).kind, Kind::none);
  EXPECT_EQ(control(op.watermark(5, out)).kind, Kind::none);
  EXPECT_EQ(control(op.inactive(out)).kind, Kind::none);
  asked[0].complete(10);
  const int wakes = context.wakes();
  EXPECT_EQ(control(op.idle(out)).time, 5);
  EXPECT_EQ(out.batch().size(), 1u);
  EXPECT_GT(context.wakes(), wakes);
  EXPECT_EQ(control(op.idle(out)).kind, Kind::inactive);
  EXPECT_EQ(control(op.idle(out)).kind, Kind::none);
  // Active again, and inactive, behind the same record: nobody need hear of it.
  EXPECT_EQ(record(2).kind, Kind::none);
  EXPECT_EQ(control(op.active(out)).kind, Kind::none);
  EXPECT_EQ(control(op.inactive(out)).kind, Kind::none);
  asked[1].complete(20);
  EXPECT_EQ(control(op.idle(out)).kind, Kind::none);
  EXPECT_EQ(control(op.watermark(7, out)).time, 7);
}

struct Silent {
  std::shared_ptr<std::vector<AsyncResult<int>>> kept =
      std::make_shared<std::vector<AsyncResult<int>>>();
  void operator()(const int& value, AsyncResult<int> result) const {
    if (value == 2) return kept->push_back(result);
    result.complete(value);
  }
};
struct SilentWithDefault : Silent {
  int on_timeout(const int& value) { return -value; }
};

TEST(AsyncMapOperator, ATimeoutFailsOrGivesADefault) {
  OperatorHarness<int> failing(async_factory<int, int>(Silent{}, {.timeout_ms = 5}));
  failing.records({2});
  failing.expect_failure("no result after 5 ms");
  expect_ok(failing.run());
  OperatorHarness<int> defaulting(async_factory<int, int>(SilentWithDefault{}, {.timeout_ms = 5}));
  defaulting.options().expansion_max = 100;
  defaulting.records({1, 2, 3});
  defaulting.output<int>().records({1, -2, 3});
  expect_ok(defaulting.run());
}

// Restored by one subtask: the watermark that waits in one of two pieces goes on behind its record,
// unless the other subtask had not come so far.
TEST(AsyncMapOperator, AWatermarkThatWaitsIsState) {
  const Silent silent;
  const auto piece = [&silent](int value, Timestamp time) {
    FakeOperatorContext context;
    AsyncMapOperator<int, int, Silent> op(silent, {});
    op.set_context(context);
    Output out;
    op.declare(out);
    EXPECT_TRUE(op.open().ok());
    Batch in(type_of<int>(), 1);
    Collector<int>(in, 1)(value);
    EXPECT_EQ(op.process(in, out), OperatorResult::done);
    EXPECT_EQ(op.watermark(time, out), OperatorResult::done);
    std::string bytes;
    ByteWriter writer(bytes);
    EXPECT_TRUE(op.snapshot(writer).ok());
    return std::string(writer.view());
  };
  struct Case {
    std::vector<std::string> pieces;
    Timestamp watermark;  // behind the restored records; no_timestamp: none
  };
  const Case cases[] = {
      {{piece(2, 70)}, 70},            // 2 waits, and with it the watermark
      {{piece(1, 70)}, no_timestamp},  // 1 had its result: the watermark had gone on
      {{piece(2, 70), piece(2, 90)}, 70},
      {{piece(2, 70), piece(1, 50)}, 50},  // what stands behind had not seen it from both
  };
  for (const Case& each : cases) {
    FakeOperatorContext context;
    const auto echo = [](const int& value, AsyncResult<int> result) { result.complete(value); };
    AsyncMapOperator<int, int, decltype(echo)> op(echo, {});
    op.set_context(context);
    Output out;
    op.declare(out);
    for (const std::string& bytes : each.pieces) {
      ByteReader in(bytes);
      ASSERT_TRUE(op.restore(in).ok());
    }
    ASSERT_TRUE(op.open().ok());
    ASSERT_EQ(op.idle(out), OperatorResult::done);
    const Control own = out.take_control();
    EXPECT_EQ(own.kind,
              each.watermark == no_timestamp ? Control::Kind::none : Control::Kind::watermark);
    if (own) {
      EXPECT_EQ(own.time, each.watermark);
    }
    // Later ones go on at once.
    ASSERT_EQ(op.watermark(100, out), OperatorResult::done);
    EXPECT_EQ(out.take_control().time, 100);
  }
}

// What two subtasks had under way and how far each was, restored at another parallelism.
struct TwoSubtasks {
  struct After {
    std::vector<int> called;
    Timestamp at_once = no_timestamp;  // the watermark before any result
    Timestamp behind = no_timestamp;   // and the one behind the last
  };
  // The first got the watermark 100 and then 105, 106; the second 1000, and then 1001 and the
  // watermark 2000, which waits.
  std::vector<std::string> pieces{piece(0, {100}, {105, 106}, {}),
                                  piece(1, {1000}, {1001}, {2000})};

  static std::string piece(int subtask, std::vector<Timestamp> before, std::vector<int> records,
                           std::vector<Timestamp> after) {
    const Silent silent;
    const auto never = [silent](const int&, AsyncResult<int> result) {
      silent.kept->push_back(result);
    };
    FakeOperatorContext context({.subtask = subtask, .parallelism = 2});
    AsyncMapOperator<int, int, decltype(never)> op(never, {});
    op.set_context(context);
    Output out;
    op.declare(out);
    EXPECT_TRUE(op.open().ok());
    for (const Timestamp time : before) EXPECT_EQ(op.watermark(time, out), OperatorResult::done);
    Batch in(type_of<int>(), 4);
    {
      Collector<int> collector(in, 4);
      for (const int record : records) collector(record);
    }
    EXPECT_EQ(op.process(in, out), OperatorResult::done);
    for (const Timestamp time : after) EXPECT_EQ(op.watermark(time, out), OperatorResult::done);
    std::string bytes;
    ByteWriter writer(bytes);
    EXPECT_TRUE(op.snapshot(writer).ok());
    return std::string(writer.view());
  }
  After restored(int subtask, int parallelism) const {
    After after;
    std::vector<AsyncResult<int>> held;
    const auto hold = [&](const int& value, AsyncResult<int> result) {
      after.called.push_back(value);
      held.push_back(std::move(result));
    };
    FakeOperatorContext context({.subtask = subtask, .parallelism = parallelism});
    AsyncMapOperator<int, int, decltype(hold)> op(hold, {});
    op.set_context(context);
    Output out;
    op.declare(out);
    for (const std::string& piece : pieces) {
      ByteReader in(piece);
      EXPECT_TRUE(op.restore(in).ok());
    }
    EXPECT_TRUE(op.open().ok());
    EXPECT_EQ(op.idle(out), OperatorResult::done);
    if (const Control own = out.take_control()) after.at_once = own.time;
    for (const AsyncResult<int>& result : held) result.complete(1);
    EXPECT_EQ(op.idle(out), OperatorResult::done);
    if (const Control own = out.take_control()) after.behind = own.time;
    EXPECT_EQ(out.batch().size(), after.called.size());
    return after;
  }
};

TEST(AsyncMapOperator, AtTheSameParallelismEachSubtaskGoesOnWithItsOwn) {
  const TwoSubtasks before;
  const TwoSubtasks::After first = before.restored(0, 2);
  EXPECT_EQ(first.called, (std::vector<int>{105, 106}));
  EXPECT_EQ(first.at_once, no_timestamp);
  EXPECT_EQ(first.behind, no_timestamp) << "all that it got had gone on";
  const TwoSubtasks::After second = before.restored(1, 2);
  EXPECT_EQ(second.called, (std::vector<int>{1001}));
  EXPECT_EQ(second.at_once, no_timestamp);
  EXPECT_EQ(second.behind, 2000);
}

// Records stay together; the watermark is one that all had passed, since records of any of them may
// follow.
TEST(AsyncMapOperator, AtAnotherParallelismTheWatermarkIsTheLeastOfAll) {
  const TwoSubtasks before;
  for (const int parallelism : {1, 3}) {
    std::vector<std::vector<int>> called;
    for (int subtask = 0; subtask < parallelism; ++subtask) {
      const TwoSubtasks::After after = before.restored(subtask, parallelism);
      called.push_back(after.called);
      EXPECT_LE(std::max(after.at_once, after.behind), 100);
    }
    if (parallelism == 1) {
      EXPECT_EQ(called, (std::vector<std::vector<int>>{{105, 106, 1001}}));
    } else {
      EXPECT_EQ(called, (std::vector<std::vector<int>>{{105, 106}, {1001}, {}}));
    }
  }
}

}  // namespace
}  // namespace hummer::async_map_test
