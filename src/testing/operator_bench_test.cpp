#include <hummer/testing/operator_bench.hpp>

#include <gtest/gtest.h>

#include <hummer/hummer.hpp>

namespace hummer::operator_bench_test {
namespace {

struct Reading {
  std::uint32_t sensor = 0;
  std::int64_t value = 0;
};
using Told = std::pair<std::uint32_t, std::int64_t>;

// The largest reading of a sensor, told when nothing has come for a minute.
struct Largest {
  ValueState<std::int64_t> best{"best"};
  void process(const Reading& reading, KeyedOutput<Told>& out) {
    if (reading.value < 0) throw std::runtime_error("below zero");
    best.set(std::max(best.get_or(reading.value), reading.value));
    out.set_event_timer(out.time() + 60'000);
    out.set_processing_timer(out.processing_time() + 10);
  }
  void on_timer(Timestamp, KeyedOutput<Told>& out) {
    if (best.has_value()) out.emit(Told(out.key<std::uint32_t>(), best.get_or(0)));
    best.clear();
  }
  void on_processing_timer(Timestamp, KeyedOutput<Told>& out) {
    out.emit(Told(out.key<std::uint32_t>(), -1));
  }
};
auto largest() { return keyed_operator<Reading, Told>(&Reading::sensor, Largest{}); }

TEST(OperatorBench, ElementsGoInAndRecordsComeOut) {
  OperatorBench<Reading> bench(largest());
  bench.record({7, 20}, 0);
  bench.record({7, 25}, 1'000);
  bench.record({8, 1}, 90'000);
  EXPECT_TRUE(bench.take<Told>().empty());
  bench.watermark(61'000);
  EXPECT_EQ(bench.take<Told>(), (std::vector<Told>{{7, 25}}));
  EXPECT_EQ(bench.watermarks(), (std::vector<Timestamp>{61'000}));
  bench.end();
  EXPECT_EQ(bench.take<Told>(), (std::vector<Told>{{8, 1}}));
  EXPECT_TRUE(bench.status().ok());
}

TEST(OperatorBench, ItKnowsWhatFunctionsHaveCounted) {
  auto function = [odd = Counter("odd")](std::int64_t value) {
    if (value % 2 != 0) odd.add();
    return value;
  };
  OperatorBench<std::int64_t> bench(make_operator_factory([function] {
    return std::make_unique<MapOperator<std::int64_t, std::int64_t, decltype(function)>>(function);
  }));
  EXPECT_EQ(bench.counter("odd"), 0u);
  bench.records({1, 2, 3});
  EXPECT_EQ(bench.counter("odd"), 2u);
}

TEST(OperatorBench, AMetricThatCantBeKeptIsAFailure) {
  auto function = [odd = Counter("odd numbers")](std::int64_t value) {
    odd.add();
    return value;
  };
  OperatorBench<std::int64_t> bench(make_operator_factory([function] {
    return std::make_unique<MapOperator<std::int64_t, std::int64_t, decltype(function)>>(function);
  }));
  bench.records({1, 2, 3});
  EXPECT_EQ(bench.status().code(), ErrorCode::invalid_argument);
}

TEST(OperatorBench, ItsClockIsMovedByHand) {
  OperatorBench<Reading> bench(largest());
  bench.record({7, 20}, 0);
  bench.advance_ms(9);
  EXPECT_TRUE(bench.take<Told>().empty());
  bench.advance_ms(1);
  EXPECT_EQ(bench.take<Told>(), (std::vector<Told>{{7, -1}}));
}

TEST(OperatorBench, ASnapshotGoesOnInAnotherOne) {
  OperatorBench<Reading> bench(largest());
  bench.record({7, 20}, 0);
  const std::string snapshot = bench.snapshot();
  OperatorBench<Reading> again(largest());
  ASSERT_TRUE(again.restore(snapshot).ok());
  again.record({7, 3}, 1);
  again.watermark(70'000);
  EXPECT_EQ(again.take<Told>(), (std::vector<Told>{{7, 20}}));
}

struct Text {
  ValueState<std::string> best{"best"};
  void process(const Reading&, KeyedOutput<Told>&) {}
};

TEST(OperatorBench, ASnapshotOfAnotherTypeIsRefusedWithBothTypes) {
  OperatorBench<Reading> bench(largest());
  bench.record({7, 20}, 0);
  OperatorBench<Reading> other(keyed_operator<Reading, Told>(&Reading::sensor, Text{}));
  const Status status = other.restore(bench.snapshot());
  EXPECT_EQ(status.code(), ErrorCode::invalid_argument);
  EXPECT_NE(status.message().find("state 'best' is value<i64> in the snapshot and value<string>"),
            std::string::npos)
      << status.message();
  EXPECT_EQ(other.restore("no snapshot").code(), ErrorCode::corrupt_record);
}

namespace first {
struct Account {
  static constexpr std::string_view evolving = "bank.Account";
  std::int64_t cents = 0;
};
}  // namespace first
namespace second {
struct Account {
  static constexpr std::string_view evolving = "bank.Account";
  std::int64_t cents = 0;
  std::int64_t limit = 500;
};
}  // namespace second

template <typename Account>
struct Keep {
  ValueState<Account> account{"account"};
  void process(const Reading& reading, KeyedOutput<Told>& out) {
    account.update({}, [&](Account& one) { one.cents += reading.value; });
    if constexpr (requires { Account::limit; }) {
      out.emit(Told(reading.sensor, account.get_or({}).limit));
    }
    out.emit(Told(reading.sensor, account.get_or({}).cents));
  }
};
template <typename Account>
auto keep() {
  return keyed_operator<Reading, Told>(&Reading::sensor, Keep<Account>{});
}

TEST(OperatorBench, AnEvolvedTypeReadsItsOlderSnapshotsButNoLaterOnes) {
  OperatorBench<Reading> before(keep<first::Account>());
  before.record({7, 20});
  OperatorBench<Reading> after(keep<second::Account>());
  ASSERT_TRUE(after.restore(before.snapshot()).ok());
  after.record({7, 3});
  EXPECT_EQ(after.take<Told>(), (std::vector<Told>{{7, 500}, {7, 23}}));

  OperatorBench<Reading> old(keep<first::Account>());
  const Status status = old.restore(after.snapshot());
  EXPECT_NE(status.message().find("state 'account' is value<bank.Account+{i64,i64}>"),
            std::string::npos)
      << status.message();
}

// An accumulator that gets a field: the table of a window or an aggregate.
template <typename Account>
struct Balance {
  using Accumulator = Account;
  using Result = std::int64_t;
  void add(Account& all, bool, const Reading& reading) const { all.cents += reading.value; }
  void merge(Account& all, bool, const Account& other) const { all.cents += other.cents; }
  Result result(const Account& all) const { return all.cents; }
};
template <typename Account>
auto balance() {
  using KeyOf = std::uint32_t Reading::*;
  return make_operator_factory([] {
    return std::make_unique<
        RunningAggregateOperator<Reading, std::uint32_t, KeyOf, Balance<Account>>>(
        &Reading::sensor, Balance<Account>{});
  });
}

TEST(OperatorBench, AnEvolvedAccumulatorGoesOn) {
  using Total = KeyValue<std::uint32_t, std::int64_t>;
  OperatorBench<Reading> before(balance<first::Account>());
  before.record({7, 20});
  OperatorBench<Reading> after(balance<second::Account>());
  ASSERT_TRUE(after.restore(before.snapshot()).ok());
  after.record({7, 3});
  const std::vector<Total> totals = after.take<Total>();
  ASSERT_EQ(totals.size(), 1u);
  EXPECT_EQ(totals[0].value, 23);
  OperatorBench<Reading> old(balance<first::Account>());
  EXPECT_EQ(old.restore(after.snapshot()).code(), ErrorCode::invalid_argument);
}

TEST(OperatorBench, WhatThrowsIsItsStatus) {
  OperatorBench<Reading> bench(largest());
  bench.record({7, -1}, 0);
  EXPECT_EQ(bench.status().code(), ErrorCode::user_function_failed);
  EXPECT_NE(bench.status().message().find("below zero"), std::string::npos);
}

}  // namespace
}  // namespace hummer::operator_bench_test
