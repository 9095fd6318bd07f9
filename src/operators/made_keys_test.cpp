// Operators with a key function that makes each key's text: a std::string that is gone as soon as
// its caller has looked at it. And keys that are a std::string of the record, which goes with it.
#include <map>
#include <set>

#include <hummer/deduplicate.hpp>
#include <hummer/detail/operators/count_window.hpp>
#include <hummer/detail/operators/hash_partitioner.hpp>
#include <hummer/detail/operators/interval_join.hpp>
#include <hummer/detail/operators/keyed_process.hpp>
#include <hummer/detail/operators/keyed_window.hpp>
#include <hummer/detail/operators/merge_aggregate.hpp>
#include <hummer/detail/operators/partial_aggregate.hpp>
#include <hummer/detail/operators/partial_window.hpp>
#include <hummer/detail/operators/slice_window.hpp>
#include <hummer/detail/operators/window_join.hpp>
#include <hummer/top_n.hpp>

#include "operators/window_test_parts.hpp"
#include "operators/with_and_without_memory.hpp"
#include "support/expect_ok.hpp"

namespace hummer::made_keys_test {
namespace {

struct Trip {
  std::string from;
  std::string to;
  std::int64_t km;
};
constexpr auto route_of = [](const Trip& trip) { return trip.from + ":" + trip.to; };
constexpr auto origin_of = &Trip::from;
constexpr auto km_of = [](const Trip& trip) { return trip.km; };
using RouteOf = std::remove_const_t<decltype(route_of)>;
using OriginOf = std::remove_const_t<decltype(origin_of)>;
using KmSum = SumAggregate<std::int64_t, std::remove_const_t<decltype(km_of)>>;
using KmValue = WindowValue<std::string_view, KmSum>;
using KmWindow = Windowed<std::string_view, std::int64_t>;
using Km = KeyValue<std::string_view, std::int64_t>;

// Keys of every length that a table tells apart; some come again.
const std::vector<Trip> trips = {
    {"a", "b", 1},
    {"a", "c", 2},
    {"Rotterdam", "Wien", 3},
    {"a", "b", 4},
    {"Berlin Ostkreuz", "Hamburg-Altona", 5},
    {"Llanfairpwllgwyngyll", "Sankt Peter am Kammersberg", 6},
    {"Llanfairpwllgwyngyll", "Sankt Peter am Wimberg, Wirtshaus", 7},
    {"Rotterdam", "Wien", 8},
    {"Llanfairpwllgwyngyll", "Sankt Peter am Kammersberg", 9},
    {"Berlin Ostkreuz", "Hamburg-Altona", 10},
};

// The text, for as long as the program runs.
std::string_view kept(const std::string& text) {
  static std::set<std::string> texts;
  return *texts.insert(text).first;
}

std::vector<Km> added_up(const std::vector<Km>& seen) {
  std::map<std::string_view, std::int64_t> sums;
  for (const Km& one : seen) sums[one.key] += one.value;
  std::vector<Km> result;
  for (const auto& [key, sum] : sums) result.push_back({key, sum});
  return result;
}
// The total after each trip, of its key.
template <typename KeyOf>
std::vector<Km> totals_by(KeyOf key_of) {
  std::map<std::string_view, std::int64_t> sums;
  std::vector<Km> all;
  for (const Trip& trip : trips) {
    const std::string_view key = kept(std::invoke(key_of, trip));
    all.push_back({key, sums[key] += trip.km});
  }
  return all;
}
std::vector<Km> sums_by_route() {
  std::vector<Km> all;
  for (const Trip& trip : trips) all.push_back({kept(route_of(trip)), trip.km});
  return added_up(all);
}
std::vector<Km> sorted_by_key(std::vector<Km> seen) {
  std::stable_sort(seen.begin(), seen.end(),
                   [](const Km& a, const Km& b) { return a.key < b.key; });
  return seen;
}

TEST(MadeKeys, PartialAggregate) {
  OperatorHarness<Trip> harness(make_operator_factory([] {
    using Operator = PartialAggregateOperator<Trip, std::string_view, RouteOf, KmSum>;
    return std::make_unique<Operator>(route_of, KmSum{km_of}, PartialAggregateOptions{});
  }));
  harness.options().state_only_by_flush = true;
  harness.records(trips);
  harness.output<Km>().normalise(added_up).records(sums_by_route());
  expect_ok(harness.run());
}

template <typename KeyOf>
auto running(KeyOf key_of) {
  return make_operator_factory([=] {
    using Operator = RunningAggregateOperator<Trip, std::string_view, KeyOf, KmSum>;
    return std::make_unique<Operator>(key_of, KmSum{km_of});
  });
}
TEST(MadeKeys, RunningAggregate) {
  OperatorHarness<Trip> harness(running(route_of));
  harness.records(trips);
  harness.output<Km>().normalise(sorted_by_key).records(sorted_by_key(totals_by(route_of)));
  expect_ok_with_and_without_memory(harness);
}
TEST(KeysInRecords, RunningAggregate) {
  OperatorHarness<Trip> harness(running(origin_of));
  harness.records(trips);
  harness.output<Km>().normalise(sorted_by_key).records(sorted_by_key(totals_by(origin_of)));
  expect_ok_with_and_without_memory(harness);
}

// In one slice, and in two that alternate.
TEST(MadeKeys, SliceWindow) {
  using Input = RecordInput<Trip, std::string_view, RouteOf>;
  for (const std::int64_t step : {0, 10}) {
    OperatorHarness<Trip> harness(make_operator_factory([] {
      using Operator = SliceWindowOperator<Input, std::string_view, KmSum, KmValue>;
      return std::make_unique<Operator>(Input{route_of}, TumblingWindows::of(10), 0, KmSum{km_of},
                                        KmValue{KmSum{km_of}});
    }));
    std::map<std::pair<Timestamp, std::string>, std::int64_t> sums;
    for (std::size_t i = 0; i < trips.size(); ++i) {
      const Timestamp time = step * static_cast<Timestamp>(i % 2);
      harness.record(trips[i], time);
      sums[{time, route_of(trips[i])}] += trips[i].km;
    }
    auto expected = harness.output<KmWindow>().unordered();
    for (const auto& [at, sum] : sums) {
      expected.record({at.second, {at.first, at.first + 10}, sum});
    }
    expect_ok_with_and_without_memory(harness);
  }
}

// Late records change a window that has gone out: its keys are looked up again.
TEST(MadeKeys, LateRecordsOfASliceWindow) {
  using Input = RecordInput<Trip, std::string_view, RouteOf>;
  OperatorHarness<Trip> harness(make_operator_factory([] {
    using Operator = SliceWindowOperator<Input, std::string_view, KmSum, KmValue>;
    return std::make_unique<Operator>(Input{route_of}, TumblingWindows::of(10), 100, KmSum{km_of},
                                      KmValue{KmSum{km_of}});
  }));
  harness.watermark(10);
  std::map<std::string, std::int64_t> sums;
  for (const Trip& trip : trips) {
    harness.record(trip, 1);
    sums[route_of(trip)] += trip.km;
  }
  const auto greatest = [](const std::vector<KmWindow>& seen) {
    std::map<std::string_view, std::int64_t> last;
    for (const KmWindow& one : seen) last[one.key] = std::max(last[one.key], one.value);
    std::vector<KmWindow> result;
    for (const auto& [key, value] : last) result.push_back({key, {0, 10}, value});
    return result;
  };
  std::vector<KmWindow> expected;
  for (const auto& [key, sum] : sums) expected.push_back({key, {0, 10}, sum});
  harness.options().expansion_max = trips.size();
  harness.output<KmWindow>().normalise(greatest).records(expected);
  expect_ok(harness.run());
}

TEST(MadeKeys, PartialWindow) {
  using Part = SlicePartial<std::string_view, std::int64_t>;
  OperatorHarness<Trip> harness(make_operator_factory([] {
    using Operator = PartialWindowOperator<Trip, std::string_view, RouteOf, KmSum>;
    return std::make_unique<Operator>(route_of, TumblingWindows::of(10), KmSum{km_of}, 1 << 20);
  }));
  harness.options().state_only_by_flush = true;
  for (const Trip& trip : trips) harness.record(trip, 5);
  const auto added = [](const std::vector<Part>& seen) {
    std::map<std::string_view, std::int64_t> sums;
    for (const Part& one : seen) sums[one.key] += one.value;
    std::vector<Part> result;
    for (const auto& [key, value] : sums) result.push_back({key, 0, value});
    return result;
  };
  std::vector<Part> expected;
  for (const Km& one : sums_by_route()) expected.push_back({one.key, 0, one.value});
  harness.output<Part>().normalise(added).records(expected);
  expect_ok(harness.run());
}

// Every second record of a key gives a result.
TEST(MadeKeys, CountWindow) {
  OperatorHarness<Trip> harness(make_operator_factory([] {
    using Operator = CountWindowOperator<Trip, std::string_view, RouteOf, KmSum, KmValue>;
    return std::make_unique<Operator>(route_of, CountWindows::of(2), KmSum{km_of},
                                      KmValue{KmSum{km_of}});
  }));
  harness.records(trips);
  harness.output<KmWindow>()
      .unordered()
      .record({"a:b", all_time, 5})
      .record({"Rotterdam:Wien", all_time, 11})
      .record({"Llanfairpwllgwyngyll:Sankt Peter am Kammersberg", all_time, 15})
      .record({"Berlin Ostkreuz:Hamburg-Altona", all_time, 15});
  expect_ok_with_and_without_memory(harness);
}

TEST(MadeKeys, KeyedWindow) {
  const SessionWindows sessions = SessionWindows::with_gap(10);
  OperatorHarness<Trip> harness(make_operator_factory([=] {
    using Operator = KeyedWindowOperator<Trip, std::string_view, RouteOf, SessionWindows,
                                         EventTimeTrigger, KmSum, KmValue>;
    return std::make_unique<Operator>(route_of, sessions, EventTimeTrigger(), 0, KmSum{km_of},
                                      KmValue{KmSum{km_of}});
  }));
  for (const Trip& trip : trips) harness.record(trip, 1);
  auto expected = harness.output<KmWindow>().unordered();
  for (const Km& one : sums_by_route()) expected.record({one.key, {1, 11}, one.value});
  expect_ok(harness.run());
}

template <typename User, typename Out>
auto keyed(User user) {
  return make_operator_factory([=] {
    using Input = KeyedInput<Trip, RouteOf>;
    return std::make_unique<KeyedProcessOperator<std::string_view, Out, User, Input>>(
        user, Input{route_of});
  });
}
TEST(MadeKeys, Deduplicate) {
  OperatorHarness<Trip> harness(keyed<Deduplicate<Trip>, Trip>(Deduplicate<Trip>(0)));
  harness.records(trips);
  auto expected = harness.output<Trip>();
  for (const int i : {0, 1, 2, 4, 5, 6}) expected.record(trips[static_cast<std::size_t>(i)]);
  expect_ok(harness.run());
}
TEST(MadeKeys, TopN) {
  using Best = TopN<Trip, std::remove_const_t<decltype(km_of)>>;
  OperatorHarness<Trip> harness(keyed<Best, Ranked<Trip>>(Best(1, km_of, 10)));
  for (const Trip& trip : trips) harness.record(trip, 1);
  auto expected = harness.output<Ranked<Trip>>().unordered();
  for (const int i : {1, 3, 6, 7, 8, 9}) {
    expected.record({0, 1, trips[static_cast<std::size_t>(i)]}, 9);
  }
  expect_ok(harness.run());
}

// Each pair of a key once, of both sides' records of one window.
TEST(MadeKeys, Joins) {
  using Sum = std::int64_t;
  const auto both = [](const Trip& a, const Trip& b) -> Sum { return 100 * a.km + b.km; };
  using Both = decltype(both);
  using Input = KeyedInput<Trip, RouteOf>;
  const auto interval = make_operator_factory([=] {
    using Join = IntervalJoinFunction<Trip, Trip, Sum, Both>;
    return std::make_unique<KeyedProcessOperator<std::string_view, Sum, Join, Input, Input>>(
        Join(-5, 5, both), Input{route_of}, Input{route_of});
  });
  const auto windowed = make_operator_factory([=] {
    return std::make_unique<
        WindowJoinOperator<std::string_view, Trip, Trip, Sum, Both, RouteOf, RouteOf, false>>(
        TumblingWindows::of(10), both, Input{route_of}, Input{route_of});
  });
  for (const auto& factory : {interval, windowed}) {
    TwoInputHarness<Trip, Trip> harness(factory);
    for (const Trip& trip : trips) harness.first(trip, 1);
    for (const Trip& trip : trips) harness.second(trip, 1);
    harness.options().expansion_max = trips.size();
    auto expected = harness.output<Sum>().unordered();
    for (const Trip& a : trips) {
      for (const Trip& b : trips) {
        if (route_of(a) == route_of(b)) expected.record(both(a, b), factory == interval ? 1 : 9);
      }
    }
    expect_ok(harness.run());
  }
}

TEST(MadeKeys, HashPartitioner) {
  HashPartitioner<Trip, RouteOf> partitioner(route_of, 2, 128);
  Batch in(type_of<Trip>(), 16);
  for (const Trip& trip : trips) {
    new (in.mutable_values<Trip>() + in.size()) Trip(trip);
    in.set_size(in.size() + 1);
  }
  std::vector<Batch> targets;
  for (int i = 0; i < 2; ++i) targets.emplace_back(type_of<Trip>(), 16);
  ASSERT_EQ(partitioner.scatter(in, targets, 16), OperatorResult::done);
  for (std::uint32_t target = 0; target < 2; ++target) {
    for (const Trip& trip : targets[target].values<Trip>()) {
      EXPECT_EQ(group_owner(key_group(key_hash(route_of(trip)), 128), 2, 128), target);
    }
  }
}

}  // namespace
}  // namespace hummer::made_keys_test
