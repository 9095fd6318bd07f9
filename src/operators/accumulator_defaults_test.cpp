// An aggregate whose accumulator begins with values of its own, and which does not look at is_new,
// gives the same everywhere: in tables by integer (0 is a key, too) and by text, in windows of
// every kind, with and without partial results.
#include <algorithm>
#include <map>

#include <hummer/detail/operators/count_window.hpp>
#include <hummer/detail/operators/keyed_window.hpp>
#include <hummer/detail/operators/merge_aggregate.hpp>
#include <hummer/detail/operators/partial_aggregate.hpp>
#include <hummer/detail/operators/partial_window.hpp>
#include <hummer/detail/operators/slice_window.hpp>

#include "operators/window_test_parts.hpp"
#include "operators/with_and_without_memory.hpp"
#include "support/expect_ok.hpp"

namespace hummer::accumulator_defaults_test {
namespace {

struct Range {
  std::int64_t least = INT64_MAX;
  std::int64_t greatest = INT64_MIN;
};
struct Reading {
  std::int64_t number;
  std::string name;
  std::int64_t value;
};
struct RangeAggregate {
  using Accumulator = Range;
  using Result = std::int64_t;
  void add(Range& range, bool is_new, const Reading& reading) const {
    merge(range, is_new, {reading.value, reading.value});
  }
  void merge(Range& range, bool, const Range& other) const {
    range.least = std::min(range.least, other.least);
    range.greatest = std::max(range.greatest, other.greatest);
  }
  Result result(const Range& range) const { return 1000 * range.least + range.greatest; }
};

const std::vector<Reading> readings = {{0, "zero", 5}, {1, "one", -7},
                                       {0, "zero", 9}, {2, "a name of more than sixteen", 3},
                                       {1, "one", -2}, {2, "a name of more than sixteen", 4}};

struct ByNumber {
  using Key = std::int64_t;
  Key operator()(const Reading& reading) const { return reading.number; }
};
struct ByName {
  using Key = std::string_view;
  Key operator()(const Reading& reading) const { return reading.name; }
};
struct ByBoth {
  using Key = std::pair<std::int64_t, std::string>;
  Key operator()(const Reading& reading) const { return {reading.number, reading.name}; }
};

template <typename KeyOf>
class AccumulatorDefaults : public testing::Test {
 protected:
  using K = typename KeyOf::Key;
  using Value = WindowValue<K, RangeAggregate>;
  using Result = Windowed<K, std::int64_t>;
  using Input = RecordInput<Reading, K, KeyOf>;

  // The range of all readings of each key.
  static std::map<K, Range> ranges() {
    std::map<K, Range> all;
    for (const Reading& reading : readings) {
      RangeAggregate().add(all[KeyOf()(reading)], false, reading);
    }
    return all;
  }
  // What make() makes gives the range of each key in the window.
  template <typename Make>
  static void expect_ranges(Make make, const TimeWindow& window, bool with_memory_only = false) {
    OperatorHarness<Reading> harness(make_operator_factory(make));
    for (const Reading& reading : readings) harness.record(reading, 1);
    std::vector<Result> expected;
    for (const auto& [key, range] : ranges()) {
      expected.push_back({key, window, RangeAggregate().result(range)});
    }
    // With a trigger or sliding windows there are more results: the last one counts.
    harness.template output<Result>()
        .normalise([window](const std::vector<Result>& seen) {
          std::map<K, std::int64_t> last;
          for (const Result& one : seen) {
            if (one.window == window) last[one.key] = one.value;
          }
          std::vector<Result> all;
          for (const auto& [key, value] : last) all.push_back({key, window, value});
          return all;
        })
        .records(expected);
    harness.options().control_expansion_max = 4;
    harness.options().expansion_max = 16;
    if (with_memory_only) return expect_ok(harness.run());
    expect_ok_with_and_without_memory(harness);
  }
};
using KeyFunctions = testing::Types<ByNumber, ByName, ByBoth>;
TYPED_TEST_SUITE(AccumulatorDefaults, KeyFunctions);

TYPED_TEST(AccumulatorDefaults, Aggregates) {
  using Key = typename TypeParam::Key;
  using Partial = KeyValue<Key, Range>;
  using Total = KeyValue<Key, std::int64_t>;
  OperatorHarness<Reading> partial(make_operator_factory([] {
    using Operator = PartialAggregateOperator<Reading, Key, TypeParam, RangeAggregate>;
    return std::make_unique<Operator>(TypeParam(), RangeAggregate(), PartialAggregateOptions{});
  }));
  partial.options().state_only_by_flush = true;
  OperatorHarness<Partial> merge(make_operator_factory([] {
    return std::make_unique<MergeAggregateOperator<Key, RangeAggregate>>(RangeAggregate(), false);
  }));
  OperatorHarness<Reading> running(make_operator_factory([] {
    using Operator = RunningAggregateOperator<Reading, Key, TypeParam, RangeAggregate>;
    return std::make_unique<Operator>(TypeParam(), RangeAggregate());
  }));
  std::vector<Partial> parts;
  std::vector<Total> totals;
  for (const auto& [key, range] : this->ranges()) {
    parts.push_back({key, range});
    totals.push_back({key, RangeAggregate().result(range)});
  }
  for (const Reading& reading : readings) {
    partial.record(reading);
    running.record(reading);
    merge.record({TypeParam()(reading), {reading.value, reading.value}});
  }
  partial.output<Partial>()
      .normalise([](const std::vector<Partial>& seen) {
        std::map<Key, Range> all;
        for (const Partial& one : seen) RangeAggregate().merge(all[one.key], false, one.value);
        std::vector<Partial> result;
        for (const auto& [key, range] : all) result.push_back({key, range});
        return result;
      })
      .records(parts);
  merge.template output<Total>().unordered().records(totals);
  running.output<Total>()
      .normalise([](const std::vector<Total>& seen) {
        std::map<Key, std::int64_t> last;
        for (const Total& one : seen) last[one.key] = one.value;
        std::vector<Total> result;
        for (const auto& [key, value] : last) result.push_back({key, value});
        return result;
      })
      .records(totals);
  expect_ok(partial.run());
  expect_ok_with_and_without_memory(merge);
  expect_ok_with_and_without_memory(running);
}

TYPED_TEST(AccumulatorDefaults, WindowsOnAGrid) {
  using Own = AccumulatorDefaults<TypeParam>;
  using Key = typename TypeParam::Key;
  using Operator =
      SliceWindowOperator<typename Own::Input, Key, RangeAggregate, typename Own::Value>;
  for (const WindowGrid grid :
       {WindowGrid(TumblingWindows::of(10)), WindowGrid(SlidingWindows::of(10, 5))}) {
    this->expect_ranges(
        [=] {
          return std::make_unique<Operator>(typename Own::Input{TypeParam()}, grid, 0,
                                            RangeAggregate(), typename Own::Value{});
        },
        {0, 10});
  }
}

TYPED_TEST(AccumulatorDefaults, PartialWindows) {
  using Key = typename TypeParam::Key;
  using Part = SlicePartial<Key, Range>;
  OperatorHarness<Reading> harness(make_operator_factory([] {
    using Operator = PartialWindowOperator<Reading, Key, TypeParam, RangeAggregate>;
    return std::make_unique<Operator>(TypeParam(), TumblingWindows::of(10), RangeAggregate(),
                                      1 << 20);
  }));
  harness.options().state_only_by_flush = true;
  for (const Reading& reading : readings) harness.record(reading, 1);
  std::vector<Part> expected;
  for (const auto& [key, range] : this->ranges()) expected.push_back({key, 0, range});
  harness.output<Part>()
      .normalise([](const std::vector<Part>& seen) {
        std::map<Key, Range> all;
        for (const Part& one : seen) RangeAggregate().merge(all[one.key], false, one.value);
        std::vector<Part> result;
        for (const auto& [key, range] : all) result.push_back({key, 0, range});
        return result;
      })
      .records(expected);
  expect_ok(harness.run());
}

TYPED_TEST(AccumulatorDefaults, SessionsTriggersAndCounts) {
  using Own = AccumulatorDefaults<TypeParam>;
  using Key = typename TypeParam::Key;
  using Finish = typename Own::Value;
  this->expect_ranges(
      [] {
        using Operator = KeyedWindowOperator<Reading, Key, TypeParam, SessionWindows,
                                             EventTimeTrigger, RangeAggregate, Finish>;
        return std::make_unique<Operator>(TypeParam(), SessionWindows::with_gap(10),
                                          EventTimeTrigger(), 0, RangeAggregate(), Finish{});
      },
      {1, 11});
  this->expect_ranges(
      [] {
        using Operator = KeyedWindowOperator<Reading, Key, TypeParam, TumblingWindows, CountTrigger,
                                             RangeAggregate, Finish>;
        return std::make_unique<Operator>(TypeParam(), TumblingWindows::of(10), CountTrigger::of(2),
                                          0, RangeAggregate(), Finish{});
      },
      {0, 10});
  this->expect_ranges(
      [] {
        using Operator = CountWindowOperator<Reading, Key, TypeParam, RangeAggregate, Finish>;
        return std::make_unique<Operator>(TypeParam(), CountWindows::of(2), RangeAggregate(),
                                          Finish{});
      },
      all_time);
}

}  // namespace
}  // namespace hummer::accumulator_defaults_test
